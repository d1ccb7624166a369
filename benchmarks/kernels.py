"""What kernels buy: hidden Markov SVMs and Gaussian processes beside other methods, and the results quoted for them.

    labseq bench kernels --part ocr --folds 10       # handwritten words: train on one fold as given, test on the others;
                                                     # margin rescaling; normalized: observations of length 1
    labseq bench kernels --part spanish --folds 5    # 3 000 sentences of conll2002-es in folds (thesis, Table 4.1)
    labseq bench kernels --part prosody --folds 5    # prominence of words, 1 824 sentences in folds
    labseq bench kernels --part gp-spanish           # Gaussian processes on 1 000 sentences in folds (thesis, Table 5.1)
    labseq bench kernels --part gp-prosody           # 500 sentences: sparseness and abstention (thesis, Fig. 5.2, 5.3)

Slack "l1" as in the thesis. What is varied of a method (C, l2, ...) is chosen once, on every fifth training sequence of the
first split while the others train (`--fixed`: nothing is chosen, C = 1). A line is printed as soon as it is known.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.measuring import at_least_one, peak_megabytes
from labseq_core import (
    CRF,
    GPSC,
    HMM,
    HMSVM,
    DualPerceptron,
    FeatureTemplate,
    Linear,
    Normalized,
    Polynomial,
    SparseGPSC,
    load_dataset,
)
from labseq_core.cli import OneLineParser
from labseq_core.data.catalogue import dataset_info
from labseq_core.data.sequences import Sequences
from labseq_core.data.splitting import k_folds
from labseq_core.evaluation import abstention_curve, evaluate, top_labels
from labseq_core.features import EncodedSequences, encode_attributes
from labseq_core.kernels import Kernel
from labseq_core.learners.base import SequenceLearner

GAP = 0.01
SPANISH_SENTENCES = 3000
PROSODY_SENTENCES = 1824
GP_SPANISH_SENTENCES, GP_PROSODY_SENTENCES = 1000, 500
ANSWERED = 0.85  # share of tokens: the thesis abstains on 14.93 %
Split = tuple[EncodedSequences, list, EncodedSequences, list]
# Quoted, not ours: T Table 4.1 and Fig. 4.1; L and the literature on structured SVMs for the letters.
QUOTED = {
    "ocr": "structured SVMs of the literature: about 80 to 87 % of letters right, linear to cubic",
    "spanish": "T F1: HMM 69.11, CRF 72.62, dual perceptron degree 2 72.15, HM-SVM degree 2 72.77, degree 3 73.15",
    "prosody": "T accuracy (Switchboard, another corpus): HMM 68.62, CRF 76.62",
    "gp-spanish": "T token error %: DGPS1 4.58, DGPS2 4.39, SGPS2 at 25 % 4.48 (19 % of observations, 1.32 label pairs), "
    "CRF unregularised 4.92, regularised 4.56",
    "gp-prosody": "G, R (Switchboard, another corpus): DGPS 76.48, SGPS 75 at 1 % and 76.18 at 7.8 % of parameters (6.2 % of "
    "observations); DGPS's error falls by 8.54 % when it abstains on 14.93 %",
}


class Method(NamedTuple):
    make: Callable[[float], SequenceLearner]
    varied: str
    usual: float
    tried: tuple[float, ...]


def svm(degree: int, tried: tuple[float, ...], rescale: str | None = None, normalized: bool = False) -> Method:
    kernel = Linear() if degree == 1 else Polynomial(degree)
    kernel = Normalized(kernel) if normalized else kernel
    return Method(lambda C: HMSVM(C, rescale=rescale, kernel=kernel, tol=GAP, memory=6.0), "C", 1.0, tried)


def gp(kernel: Kernel, tried: tuple[float, ...], fraction: float | None = None) -> Method:
    if fraction is None:
        return Method(lambda l2: GPSC(kernel, l2, memory=6.0), "l2", 1.0, tried)
    return Method(lambda l2: SparseGPSC(kernel, l2, fraction=fraction, memory=6.0), "l2", 1.0, tried)


LENGTHS = (10.0, 3.0, 1.0)  # C for observations of length 1
METHODS: dict[str, dict[str, Method]] = {
    "ocr": {
        "CRF": Method(lambda l2: CRF(l2=l2), "l2", 1.0, (3.0, 1.0, 0.3)),
        "HM-SVM degree 1": svm(1, (0.3, 0.1, 0.03), "margin"),
        **{f"HM-SVM degree {degree}, normalized": svm(degree, LENGTHS, "margin", True) for degree in (1, 2, 3)},
    },
    "spanish": {
        "HMM": Method(lambda smoothing: HMM(smoothing=smoothing), "smoothing", 0.01, (0.1, 0.01, 0.001)),
        "CRF": Method(lambda l2: CRF(l2=l2), "l2", 0.1, (0.3, 0.1, 0.03)),
        "dual perceptron degree 2": Method(
            lambda epochs: DualPerceptron(kernel=Polynomial(2), epochs=int(epochs)), "epochs", 10, (5, 10, 20)
        ),
        "HM-SVM degree 1": svm(1, (1.0, 0.3, 0.1)),
        "HM-SVM degree 2": svm(2, (1.0, 0.1, 0.03)),
        "HM-SVM degree 3": svm(3, (1.0, 0.1, 0.01)),
        "HM-SVM degree 2, normalized, margin rescaling": svm(2, (10.0, 3.0, 1.0), "margin", True),
    },
    "prosody": {
        "HMM": Method(lambda smoothing: HMM(smoothing=smoothing), "smoothing", 1.0, (10.0, 1.0, 0.1)),
        "CRF": Method(lambda l2: CRF(l2=l2), "l2", 10.0, (30.0, 10.0, 3.0)),
        "HM-SVM degree 1, no rescaling": svm(1, (1.0, 0.1, 0.01)),
        "HM-SVM degree 1": svm(1, (0.3, 0.1, 0.03), "margin"),
        **{f"HM-SVM degree {degree}, normalized": svm(degree, (0.3, 0.1, 0.03), "margin", True) for degree in (2, 3)},
    },
    "gp-spanish": {
        "CRF": Method(lambda l2: CRF(l2=l2), "l2", 0.1, (1.0, 0.3, 0.1, 0.03)),
        "CRF unregularised": Method(lambda l2: CRF(l2=l2, tol=1e-6), "l2", 0.0, (0.0,)),  # a loose stop would regularise
        "GPSC degree 1": gp(Linear(), (1.0, 0.3, 0.1, 0.03)),
        "GPSC degree 2": gp(Polynomial(2), (30.0, 10.0, 3.0, 1.0)),
        "sparse GPSC degree 2, 25 %": gp(Polynomial(2), (3.0,), 0.25),  # minutes each: nothing is chosen
    },
    "gp-prosody": {
        "CRF": Method(lambda l2: CRF(l2=l2), "l2", 10.0, (30.0, 10.0, 3.0)),
        "GPSC degree 1": gp(Linear(), (30.0, 10.0, 3.0)),
        "GPSC degree 2": gp(Normalized(Polynomial(2)), (3.0, 1.0, 0.3, 0.1)),
        **{f"sparse GPSC degree 2, {100 * share:g} %": gp(Normalized(Polynomial(2)), (0.3, 0.1, 0.03, 0.01), share)
           for share in (0.01, 0.025, 0.078, 0.25)},
    },
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


def in_folds(name: str, features: str, sentences: int) -> Callable[[int], Iterator[Split]]:
    """Folds of the first sentences of the training part."""

    def splits(folds: int) -> Iterator[Split]:
        part = load_dataset(name).train.select(range(sentences)).without_columns(dataset_info(name).answer_columns)
        for inside, outside in k_folds(len(part), max(2, folds), 0):
            yield split(part.select(inside), part.select(outside), features)

    return splits


def split(train: Sequences, test: Sequences, features: str) -> Split:
    template = FeatureTemplate(features)
    encoded = template.encode(train)
    return encoded, train.labels, template.encode(test, encoded.vocabulary), test.labels


PARTS = {
    "ocr": ocr,
    "spanish": in_folds("conll2002-es", "S3", SPANISH_SENTENCES),
    "prosody": in_folds("prosody", "prosody", PROSODY_SENTENCES),
    "gp-spanish": in_folds("conll2002-es", "S3", GP_SPANISH_SENTENCES),
    "gp-prosody": in_folds("prosody", "prosody", GP_PROSODY_SENTENCES),
}


def chosen(method: Method, train: EncodedSequences, labels: list) -> float:
    """What is best on every fifth sequence after training on the others."""
    held = [number for number in range(len(labels)) if number % 5 == 0]
    kept = [number for number in range(len(labels)) if number % 5]
    scores = {}
    for value in method.tried:
        model = method.make(value).fit(train.select(kept), [labels[number] for number in kept])
        found = evaluate([labels[number] for number in held], model.predict(train.select(held)))
        scores[value] = found.accuracy if found.span_f1 is None else found.span_f1
        print(f"    {method.varied} {value:g}: {100 * scores[value]:.2f} on the held-out part", flush=True)
    return max(scores, key=scores.__getitem__)


def run(part: str, folds: int, fixed: bool, names: Sequence[str]) -> dict[str, list[dict]]:
    """Rows by method, printed as they come."""
    splits = list(PARTS[part](folds))
    found: dict[str, list[dict]] = {}
    for name in names:
        method = METHODS[part][name]
        choice = not fixed and len(method.tried) > 1
        value = chosen(method, *splits[0][:2]) if choice else method.usual if fixed else method.tried[0]
        title = f"{name}, {method.varied} {value:g}"
        for number, (train, labels, test, truth) in enumerate(splits):
            started = time.perf_counter()
            model = method.make(value).fit(train, labels)
            seconds = time.perf_counter() - started
            scores = evaluate(truth, model.predict(test))
            row = {
                "accuracy": scores.accuracy, "error": 1.0 - scores.accuracy, "f1": scores.span_f1, "seconds": seconds,
                "megabytes": peak_megabytes(), **inside(model), **abstaining(model, test, truth),
            }  # fmt: skip
            found.setdefault(title, []).append(row)
            f1 = "" if scores.span_f1 is None else f", F1 {100 * scores.span_f1:.2f}"
            print(f"{title}, split {number + 1}: accuracy {100 * scores.accuracy:.2f}{f1}, {seconds:.1f} s", flush=True)
            del model  # its memory shall not count for the next one
    return found


def inside(model: SequenceLearner) -> dict:
    """What a model consists of."""
    if isinstance(model, HMSVM):
        return {
            "support": model.n_support_sequences_, "satisfied": model.satisfied_share_,
            "per_example": model.support_per_example_, "gap": model.gap_ / model.primal_objective_,
        }  # fmt: skip
    if isinstance(model, SparseGPSC):
        last = model.path_.iloc[-1]
        return {"observations": last["observations"], "pairs": last["pairs_per_observation"]}
    return {}


def abstaining(model: SequenceLearner, test: EncodedSequences, truth: list) -> dict:
    """By what share the error falls when the least probable tokens are withheld."""
    if not model.probabilistic:
        return {}
    curve = abstention_curve(truth, *top_labels(model.marginals(test), model.classes_))
    return {"fall": curve.at(curve.threshold_for(ANSWERED)).error_reduction, "aurc": curve.aurc}


COLUMNS = {  # title -> (key, factor)
    "accuracy %": ("accuracy", 100), "error %": ("error", 100), "F1 %": ("f1", 100), "seconds": ("seconds", 1),
    "support sequences": ("support", 1), "margins satisfied %": ("satisfied", 100), "support per example": ("per_example", 1),
    "relative gap %": ("gap", 100), "observations %": ("observations", 100), "label pairs each": ("pairs", 1),
    f"error falls by %, {1 - ANSWERED:.0%} withheld": ("fall", 100), "AURC": ("aurc", 1),
}  # fmt: skip


def show(part: str, found: dict[str, list[dict]]) -> None:
    used = {title: each for title, each in COLUMNS.items() if any(mean(rows, *each) for rows in found.values())}
    titles = ["method", "splits", *used, "peak MB"]
    print(f"\n{part}: mean ± standard error over splits\n\n| {' | '.join(titles)} |\n|{'---|' * len(titles)}")
    for name, rows in found.items():
        cells = [name, str(len(rows)), *(mean(rows, *each) for each in used.values())]
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
    parser.add_argument("--fixed", action="store_true", help="choose nothing: C = 1 and usual settings")
    parser.add_argument("--only", default="", help="methods whose name has this in it (default all)")
    options = parser.parse_args(arguments)
    names = [name for name in METHODS[options.part] if options.only in name]
    if not names:
        parser.error(f"--only {options.only!r} is in none of: {', '.join(METHODS[options.part])}")
    show(options.part, run(options.part, options.folds, options.fixed, names))


if __name__ == "__main__":
    main()
