"""Our CRF and python-crfsuite on the same convex problem: same attributes, same objective, so the same optimum.

    python benchmarks/crf_agreement.py                    # conll2002-es, S3, train -> testa; takes some minutes
    python benchmarks/crf_agreement.py --sentences 300    # a quick look

Objective: the sum of -log p(y|x) over training sentences + (l2/2) times the squared norm of all weights, transitions
included; every attribute has a weight with every label, and every pair of labels has one. python-crfsuite calls that
c2 = l2/2 with feature.possible_states and feature.possible_transitions.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import pycrfsuite

from labseq_core import CRF, FeatureTemplate, load_dataset
from labseq_core._jit import warm_up
from labseq_core.evaluation import segment_scores, token_accuracy

Labels = list[list[str]]
Attributes = list[list[list[str]]]


def train_ours(encoded, labels: Labels, options: argparse.Namespace) -> CRF:
    return CRF(l2=options.l2, tol=options.tol, max_iter=options.max_iter).fit(encoded, labels)


def train_crfsuite(
    attributes: Attributes, labels: Labels, options: argparse.Namespace, path: Path
) -> pycrfsuite.Trainer:
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for sentence, sentence_labels in zip(attributes, labels, strict=True):
        trainer.append(pycrfsuite.ItemSequence(sentence), sentence_labels)
    trainer.set_params({
        "c1": 0.0, "c2": options.l2 / 2, "feature.possible_states": 1, "feature.possible_transitions": 1,
        "epsilon": 1e-7, "delta": 1e-10, "period": 20, "max_iterations": options.max_iter,
    })  # fmt: skip
    trainer.train(str(path))
    return trainer


def tag(path: Path, attributes: Attributes) -> Labels:
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return [tagger.tag(pycrfsuite.ItemSequence(sentence)) for sentence in attributes]


def row(name: str, seconds: float, iterations: int, objective: float, truth: Labels, predicted: Labels) -> str:
    f1, accuracy = segment_scores(truth, predicted).f1, token_accuracy(truth, predicted)
    return f"{name:16} {seconds:8.1f} {iterations:10d} {objective:14.4f} {100 * f1:8.2f} {100 * accuracy:8.2f}"


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Our CRF beside python-crfsuite on the same convex problem.")
    parser.add_argument("--dataset", default="conll2002-es")
    parser.add_argument("--features", default="S3")
    parser.add_argument("--sentences", type=int, help="use only this many training sentences")
    parser.add_argument("--l2", type=float, default=2.0)
    parser.add_argument("--tol", type=float, default=1e-6, help="ours stops at this relative size of the gradient")
    parser.add_argument("--max-iter", type=int, default=1000)
    return parser.parse_args()


def main() -> None:
    options = parse_options()
    dataset = load_dataset(options.dataset)
    train, test = dataset.train, dataset.test
    if options.sentences is not None:
        train = train.select(range(min(options.sentences, len(train))))
    template = FeatureTemplate(options.features)
    encoded = template.encode(train)
    test_encoded = template.encode(test, encoded.vocabulary)
    print(f"{len(train)} sentences, {train.n_tokens} tokens, {encoded.n_attributes} attributes, l2 = {options.l2:g}")
    warm_up()

    started = time.perf_counter()
    ours = train_ours(encoded, train.labels, options)
    our_seconds = time.perf_counter() - started
    attributes, test_attributes = encoded.attributes(), test_encoded.attributes()
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "model"
        started = time.perf_counter()
        trainer = train_crfsuite(attributes, train.labels, options, path)
        their_seconds = time.perf_counter() - started
        theirs = tag(path, test_attributes)
    predicted = ours.predict(test_encoded)
    last = trainer.logparser.last_iteration

    print(f"{'':16} {'seconds':>8} {'iterations':>10} {'objective':>14} {'span F1':>8} {'accuracy':>8}")
    print(row("labseq", our_seconds, ours.n_iter_, ours.objective_, test.labels, predicted))
    print(row("python-crfsuite", their_seconds, last["num"], last["loss"], test.labels, theirs))
    print(f"relative difference of the objectives: {abs(ours.objective_ / last['loss'] - 1):.1e}")
    differing = sum(
        a != b for one, other in zip(predicted, theirs, strict=True) for a, b in zip(one, other, strict=True)
    )
    print(f"test tokens labelled differently: {differing} of {test.n_tokens}")


if __name__ == "__main__":
    main()
