"""Training and tagging speed of our CRF beside python-crfsuite: same attributes, same objective, one after the other.

    python benchmarks/crf.py                     # conll2002-es, S3, l2 = 2
    python benchmarks/crf.py --sentences 1000

Prints the time until each is within 0.01 % of the best objective that either found, the time per iteration, and tokens
per second when tagging. Ratios are what counts: machines differ, and both run on this one, in this process.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numba
import pycrfsuite
from crf_agreement import train_crfsuite

from labseq_core import CRF, FeatureTemplate, load_dataset
from labseq_core._jit import warm_up

WITHIN = 1.0001


def our_curve(encoded, labels, l2: float, max_iter: int) -> tuple[CRF, list[tuple[float, float]]]:
    """(seconds, objective) after each iteration."""
    model = CRF(l2=l2, tol=1e-6, max_iter=max_iter).fit(encoded, labels)
    history = model.history_
    return model, list(zip(history["seconds"], history["objective"]))


def their_curve(trainer: pycrfsuite.Trainer) -> list[tuple[float, float]]:
    seconds, curve = 0.0, []
    for iteration in trainer.logparser.iterations:
        seconds += iteration["time"]
        curve.append((seconds, iteration["loss"]))
    return curve


def crossing(curve: list[tuple[float, float]], threshold: float) -> tuple[float, int] | None:
    """When, and at which iteration, the objective first falls to the threshold."""
    return next(((seconds, place) for place, (seconds, value) in enumerate(curve) if value <= threshold), None)


def tagging(model: CRF, test, path: Path) -> dict[str, float]:
    """Tokens per second from raw tokens and from encoded features, ours and theirs."""
    template, n_tokens = model.template_, test.n_tokens
    encoded = template.encode(test, model.vocabulary_)
    items = [pycrfsuite.ItemSequence(sentence) for sentence in template.encode(test).attributes()]
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))

    def speed(run) -> float:
        begin = time.perf_counter()
        run()
        return n_tokens / (time.perf_counter() - begin)

    ways = {
        "labseq, from raw tokens": lambda: model.predict(test),
        "labseq, from encoded features": lambda: model.predict(encoded),
        "python-crfsuite, from encoded items": lambda: [tagger.tag(item) for item in items],
    }
    return {name: max(speed(run) for _ in range(3)) for name, run in ways.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Our CRF beside python-crfsuite, in one run.")
    parser.add_argument("--sentences", type=int)
    parser.add_argument("--l2", type=float, default=2.0)
    parser.add_argument("--max-iter", type=int, default=400)
    options = parser.parse_args()
    dataset = load_dataset("conll2002-es")
    train = dataset.train if options.sentences is None else dataset.train.select(range(options.sentences))
    encoded = FeatureTemplate("S3").encode(train)
    warm_up()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        curves = {}
        for threads in (1, numba.config.NUMBA_NUM_THREADS):
            numba.set_num_threads(threads)
            model, curves[f"labseq, {threads} thread(s)"] = our_curve(
                encoded, train.labels, options.l2, options.max_iter
            )
        attributes = encoded.attributes()
        curves["python-crfsuite"] = their_curve(train_crfsuite(attributes, train.labels, options, path))
        threshold = WITHIN * min(curve[-1][1] for curve in curves.values())
        reference = crossing(curves["python-crfsuite"], threshold)
        print(f"{len(train)} sentences, l2 = {options.l2:g}; time to an objective of {threshold:.2f}")
        for name, curve in curves.items():
            found = crossing(curve, threshold)
            each = curve[-1][0] / max(1, len(curve) - 1)
            text = "not reached" if found is None else f"{found[0]:7.1f} s, {found[1]:4d} iterations"
            ratio = f"{found[0] / reference[0]:.2f} of theirs" if found and reference else ""
            print(f"{name:24} {text:28} {1000 * each:6.0f} ms/iteration  {ratio}")
        for name, speed in tagging(model, dataset.test, path).items():
            print(f"{name:36} {speed:12,.0f} tokens/s")


if __name__ == "__main__":
    main()
