"""What kernels buy: hidden Markov SVMs of degree 1, 2 and 3 beside other methods, and the results quoted for them.

    labseq bench kernels --part ocr --folds 3        # handwritten words: train on one fold as given, test on the others
    labseq bench kernels --part spanish --folds 5    # 3 000 sentences of conll2002-es in folds (thesis, Table 4.1)
    labseq bench kernels --part prosody              # prominence of words, train -> test

C = 1 and slack "l1" throughout, as in the thesis; nothing is tuned. A line is printed as soon as it is known.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from benchmarks.measuring import at_least_one, peak_megabytes
from labseq_core import CRF, HMM, HMSVM, DualPerceptron, FeatureTemplate, Linear, Polynomial, load_dataset
from labseq_core.cli import OneLineParser
from labseq_core.data.catalogue import dataset_info
from labseq_core.data.sequences import Sequences
from labseq_core.data.splitting import k_folds
from labseq_core.evaluation import evaluate
from labseq_core.features import EncodedSequences, encode_attributes
from labseq_core.learners.base import SequenceLearner

GAP = 0.01
SPANISH_SENTENCES = 3000
Split = tuple[EncodedSequences, list, EncodedSequences, list]
# Quoted, not ours: T Table 4.1 and Fig. 4.1; L and the literature on structured SVMs for the letters.
QUOTED = {
    "ocr": "structured SVMs of the literature: about 80 to 87 % of letters right, linear to cubic",
    "spanish": "T F1: HMM 69.11, CRF 72.62, dual perceptron degree 2 72.15, HM-SVM degree 2 72.77, degree 3 73.15",
    "prosody": "T accuracy (Switchboard, another corpus): HMM 68.62, CRF 76.62",
}


def svm(degree: int) -> Callable[[], SequenceLearner]:
    return lambda: HMSVM(kernel=Linear() if degree == 1 else Polynomial(degree), tol=GAP, memory=6.0)


SVMS = {f"HM-SVM degree {degree}": svm(degree) for degree in (1, 2, 3)}
METHODS: dict[str, dict[str, Callable[[], SequenceLearner]]] = {
    "ocr": {"CRF": lambda: CRF(l2=1.0), **SVMS},
    "spanish": {
        "HMM": lambda: HMM(smoothing=0.01), "CRF": lambda: CRF(l2=0.1),
        "dual perceptron degree 2": lambda: DualPerceptron(kernel=Polynomial(2)), **SVMS,
    },
    "prosody": {"HMM": HMM, "CRF": lambda: CRF(l2=10.0), **SVMS},
}  # fmt: skip


def ocr(folds: int) -> Iterator[Split]:
    """Train on one fold as the file gives it, test on all others; attributes are the pixels that are black."""
    dataset = load_dataset("ocr-letters")
    X, Y, of = [], [], []
    for part in (dataset.train, dataset.dev, dataset.test):
        names = [name for name in part.flat_columns if name.startswith("p")]
        pixels = np.stack([part.flat_columns[name] for name in names], axis=1) > 0
        flat = [[names[place] for place in np.flatnonzero(row)] for row in pixels]
        fold = part.flat_columns["fold"]
        for begin, end, labels in zip(part.offsets[:-1], part.offsets[1:], part.labels):
            X.append(flat[begin:end])
            Y.append(labels)
            of.append(int(fold[begin]))
    encoded, of = encode_attributes(X), np.array(of)
    for number in range(folds):
        inside, outside = np.flatnonzero(of == number), np.flatnonzero(of != number)
        yield encoded.select(inside), [Y[i] for i in inside], encoded.select(outside), [Y[i] for i in outside]


def spanish(folds: int) -> Iterator[Split]:
    part = load_dataset("conll2002-es").train.select(range(SPANISH_SENTENCES))
    for inside, outside in k_folds(len(part), max(2, folds), 0):
        yield split(part.select(inside), part.select(outside), "S3")


def prosody(folds: int) -> Iterator[Split]:
    """One split, as the corpus comes."""
    dataset, answers = load_dataset("prosody"), dataset_info("prosody").answer_columns
    yield split(dataset.train.without_columns(answers), dataset.test.without_columns(answers), "prosody")


def split(train: Sequences, test: Sequences, features: str) -> Split:
    template = FeatureTemplate(features)
    encoded = template.encode(train)
    return encoded, train.labels, template.encode(test, encoded.vocabulary), test.labels


PARTS = {"ocr": ocr, "spanish": spanish, "prosody": prosody}


def run(part: str, folds: int) -> dict[str, list[dict]]:
    """Rows by method, printed as they come."""
    splits = list(PARTS[part](folds))
    found: dict[str, list[dict]] = {}
    for name, make in METHODS[part].items():
        for number, (train, labels, test, truth) in enumerate(splits):
            started = time.perf_counter()
            model = make().fit(train, labels)
            seconds = time.perf_counter() - started
            scores = evaluate(truth, model.predict(test))
            row = {"accuracy": scores.accuracy, "f1": scores.span_f1, "seconds": seconds, "megabytes": peak_megabytes()}
            if isinstance(model, HMSVM):
                row |= {"support": model.n_support_sequences_, "satisfied": model.satisfied_share_,
                        "per_example": model.support_per_example_}  # fmt: skip
            found.setdefault(name, []).append(row)
            f1 = "" if scores.span_f1 is None else f", F1 {100 * scores.span_f1:.2f}"
            print(f"{name}, split {number + 1}: accuracy {100 * scores.accuracy:.2f}{f1}, {seconds:.1f} s", flush=True)
    return found


def show(part: str, found: dict[str, list[dict]]) -> None:
    columns = (
        "method",
        "splits",
        "accuracy %",
        "F1 %",
        "seconds",
        "support sequences",
        "satisfied",
        "per example",
        "peak MB",
    )
    print(f"\n{part}: mean ± standard error over splits\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for name, rows in found.items():
        cells = [name, str(len(rows)), mean(rows, "accuracy", 100), mean(rows, "f1", 100), mean(rows, "seconds")]
        cells += [mean(rows, "support"), mean(rows, "satisfied"), mean(rows, "per_example")]
        print(f"| {' | '.join(cells)} | {max(row['megabytes'] or 0 for row in rows):.0f} |")
    print(f"\nquoted: {QUOTED[part]}")


def mean(rows: list[dict], key: str, factor: float = 1.0) -> str:
    values = [factor * row[key] for row in rows if row.get(key) is not None]
    if not values:
        return ""
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{np.mean(values):.2f}" + (f" ± {error:.2f}" if len(values) > 1 else "")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = OneLineParser(prog="labseq bench kernels", description="HM-SVMs of degree 1 to 3 beside other methods.")
    parser.add_argument("--part", choices=PARTS, required=True, help="which corpus")
    parser.add_argument("--folds", type=at_least_one, default=5, help="splits (default 5)")
    options = parser.parse_args(arguments)
    show(options.part, run(options.part, options.folds))


if __name__ == "__main__":
    main()
