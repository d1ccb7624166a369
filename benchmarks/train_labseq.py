"""A process that trains our CRF on the files of a benchmark, and tags. Called by `crf.py`: FOLDER NAME L2 MAX_ITER."""

from __future__ import annotations

import pickle
import sys
import time
from pathlib import Path

import numba

from benchmarks.measuring import best_seconds, peak_megabytes, resident_megabytes, say, write_result
from labseq_core import CRF, FeatureTemplate
from labseq_core.compiling.routines import parallel_from


def load_compiled_code() -> None:
    """From the cache, by a tiny problem, so that neither time nor memory of that falls on the training."""
    words, labels = [["Ana", "lives"], ["It"]], [["B", "O"], ["O"]]
    with parallel_from(0 if numba.get_num_threads() > 1 else sys.maxsize):
        CRF(max_iter=3).fit(FeatureTemplate("S3").encode(words), labels).predict(words)


def tagging(model: CRF, folder: Path) -> tuple[dict[str, float], list[list[str]]]:
    """Tokens per second, and the labels. Each repeat gets objects of its own: nothing may be kept from the one before."""
    pickled = (folder / "test.pickle").read_bytes()
    test = pickle.loads(pickled)
    raw = iter([pickle.loads(pickled) for _ in range(3)])
    encoded = iter([model.template_.encode(pickle.loads(pickled), model.vocabulary_) for _ in range(3)])
    ways = {"raw": lambda: model.predict(next(raw)), "encoded": lambda: model.predict(next(encoded))}
    seconds = best_seconds(ways, repeats=3)
    return {way: test.n_tokens / taken for way, taken in seconds.items()}, model.predict(test)


def main(folder: Path, name: str, l2: float, max_iter: int) -> None:
    load_compiled_code()
    before = resident_megabytes()
    with (folder / "train.pickle").open("rb") as file:
        encoded, labels = pickle.load(file)

    def tell(progress) -> None:
        if progress.iteration % 50 == 0:
            say(f"{name}: iteration {progress.iteration}, objective {progress.objective:.2f}")

    started = time.perf_counter()
    model = CRF(l2=l2, tol=1e-6, max_iter=max_iter).fit(encoded, labels, callback=tell)
    seconds = time.perf_counter() - started
    peak = peak_megabytes()
    model.save(folder / "model.npz")
    history = model.history_.iloc[1:]  # without the start
    speeds, predicted = tagging(model, folder)
    result = {
        "curve": list(zip(history["seconds"], history["objective"], history["evaluations"])),
        "set_up_seconds": seconds - history["seconds"].iloc[-1],
        "megabytes_before": before,
        "megabytes": peak,
        "tokens_per_second": speeds,
        "predicted": predicted,
    }
    write_result(folder / f"{name}.json", result)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]), int(sys.argv[4]))
