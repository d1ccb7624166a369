"""Every array of every kind of model file, altered in eight ways and used: a program of its own, because what got past the
checks might end it.

    python -m tests.learners.altered_models [--all]

So are the options of each, at values that are allowed but need not fit the arrays, and all else that the files of some say
(--all: of every method). Prints a line of JSON for each case: model, array, how, and what came of it: "refused", "harmless",
or what it raised.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from labseq_core import LabSeqError, load_model
from labseq_core.archives import load_archive, save_archive
from labseq_core.data.sequences import Sequences
from labseq_core.explain import (
    answers,
    certificate_rows,
    contributions,
    has_rounds,
    has_support,
    has_weights,
    is_dense_gp,
    is_sparse_gp,
    largest_weights,
    margin_row,
    margins,
    promised_log_losses,
    read_sequence,
    sparse_path,
    support_csv,
    support_examples,
    training_rows,
    weights_csv,
)
from labseq_core.features import FeatureTemplate
from labseq_core.kernels import parse_kernel
from labseq_core.learners import METHODS, make_learner
from labseq_core.learners.base import SequenceLearner
from tests import odd_json
from tests.reference import toy

# Every method, and those whose options change what is saved. Few iterations: what is saved has the same form.
_FEW = {"max_iter": 3, "rounds": 3, "epochs": 2}
LONG = ("template.", "params.")  # parts of what they say
META_OF = ("hmsvm",)  # that which says most beside its arrays
OPTIONS = {
    "hmm of attributes": ("hmm", {"emissions": "attributes"}),
    "crf with ends": ("crf", {"start_stop": True}),
    "perceptron in a kernel": ("dual-perceptron", {"kernel": "poly:2", "route": "gram"}),
    "hmsvm in a kernel": ("hmsvm", {"kernel": "poly:2"}),
    "hmsvm by distances": ("hmsvm", {"kernel": "rbf:1"}),
    "gps by features": ("gps", {"route": "explicit"}),
    "gps by kernel values": ("gps", {"route": "gram"}),
    "gps of low rank": ("gps", {"route": "low-rank", "rank": 5, "kernel": "rbf:1"}),
}


def models() -> dict[str, tuple[str, dict]]:
    return {method: (method, {}) for method in METHODS} | OPTIONS


def altered(array: np.ndarray) -> dict[str, np.ndarray]:
    """The eight ways. What an array of whole numbers cannot hold is made a number of the other kind."""
    wide = array.astype(np.float64)
    whole = array.dtype.kind == "i"
    one = np.arange(max(array.size, 1)).reshape(array.shape if array.size else -1) == array.size // 2

    def with_one(value: float) -> np.ndarray:
        base = wide if array.size else np.zeros(1)
        return np.where(one, value, base)

    return {
        "empty": array[:0],
        "short": array[:-1] if len(array) > 1 else np.concatenate([array, array, np.ones(1, array.dtype)]),
        "transposed": array.T.copy() if array.ndim > 1 and array.shape[0] != array.shape[1] else array[np.newaxis],
        "huge": array + np.iinfo(array.dtype).max // 2 if whole else with_one(1e300),
        "negative": array - np.array(2**20, array.dtype) if whole else -np.abs(wide) - 1.0,
        "nan": with_one(np.nan),
        "inf": with_one(np.inf),
        "other dtype": array.astype(np.int16 if whole else np.float32),
    }


def used(learner: SequenceLearner, data: Sequences) -> None:
    """Whatever a page or a command asks of a model."""
    encoded, labels = learner.encode(data), data.labels
    learner.predict(encoded)
    assert not any(np.isnan(part).any() for one in learner.potentials(encoded) for part in vars(one).values())
    learner.k_best(encoded, 3)
    answers(learner, encoded)
    margin_row(margins(learner, encoded, labels))
    one = encoded.select([0])
    contributions(learner, one, read_sequence(learner, one).labels, [learner.classes_[0]] * one.n_positions)
    assert len(learner.history_) >= 0
    for name, fact in learner.facts.items():
        if fact in (int, float) and getattr(learner, name) is not None:
            assert f"{getattr(learner, name):,.4g}"
    kind = type(learner)
    if has_weights(kind):
        with suppress(LabSeqError):  # one in a kernel has none
            weights_csv(learner)
    if has_rounds(kind):
        promised_log_losses(learner)
        largest_weights(learner, min(1, learner.n_rounds_))
        learner.booster_at(encoded, labels, min(1, learner.n_rounds_))
    if has_support(kind):
        support_examples(learner)
        support_csv(learner)
        training_rows(learner)
    if is_sparse_gp(kind):
        sparse_path(learner)
    if is_dense_gp(kind):
        certificate_rows(learner)


def corpus() -> Sequences:
    tokens, labels = toy.corpus(seed=40)
    lengths = [[float(len(word)) for word in row] for row in tokens]
    return Sequences.from_lists(tokens, labels, {"length": lengths})


def fitted(name: str, data: Sequences) -> SequenceLearner:
    method, options = models()[name]
    known = {option.name for option in METHODS[method].options}
    options = {key: value for key, value in _FEW.items() if key in known} | options
    template = FeatureTemplate("prosody", columns=["length"], bins=0, window=1)
    return make_learner(method, **options).fit(template.encode(data), data.labels)


def other_options(meta: dict, left_out: tuple[str, ...]) -> Iterator[tuple[str, dict]]:
    """Each option at other values that the method allows, which need not fit the arrays. left_out: kinds of options."""
    learner = next(method.learner for method in METHODS.values() if method.learner.__name__ == meta["learner"])
    for option in (each for each in learner.options if each.kind not in left_out):
        now = meta["params"][option.name]
        values = {
            "kernel": [parse_kernel(text).to_dict() for text in ("linear", "poly:3", "rbf:2", "token", "2*linear+poly:2")],
            "choice": list(option.choices), "bool": [True, False],
        }.get(option.kind, [option.low, option.high, *([None] if option.may_be_none else [])])  # fmt: skip
        for value in values:
            if (value is not None or option.may_be_none or None in option.choices) and value != now:
                params = {**meta["params"], option.name: value}
                yield f"{option.name}={json.dumps(value)}", {**meta, "params": params}


def short(meta: dict) -> dict:
    """With few rows and names, so that not all are tried one after another."""
    template = meta["template"]
    coder = template["coder"]
    few = {name: dict(list(coder[name].items())[:1]) for name in ("word_counts", "pair_counts")}
    return {**meta, "history": meta["history"][-2:], "template": {**template, "coder": {**coder, **few}}}


def outcome(path: Path, data: Sequences) -> str:
    try:
        learner = load_model(path.read_bytes())
    except LabSeqError:
        return "refused"
    except BaseException as problem:
        return f"{type(problem).__name__} when loaded: {problem}"
    try:
        used(learner, data)
    except LabSeqError as problem:
        return f"refused when used: {problem}"
    except BaseException as problem:
        return f"{type(problem).__name__} when used: {problem}"
    return "harmless"


def cases(place: Path, of_all: bool) -> Iterator[dict]:
    data = corpus()
    path = place / "m.npz"
    for name in models():
        fitted(name, data).save(path)
        yield {"model": name, "array": "", "how": "as it was", "outcome": outcome(path, data)}
        arrays, meta = load_archive(path)
        for how, other in other_options(meta, () if of_all else ("float", "int")):
            save_archive(path, arrays, other)
            yield {"model": name, "array": "options", "how": how, "outcome": outcome(path, data)}
        if name in (METHODS if of_all else META_OF):
            yield from cases_of_meta(name, path, arrays, short(meta), data, () if of_all else LONG)
        for key, array in arrays.items():
            for how, other in altered(array).items():
                save_archive(path, {**arrays, key: other}, meta)
                yield {"model": name, "array": key, "how": how, "outcome": outcome(path, data)}


def cases_of_meta(
    name: str, path: Path, arrays: dict[str, np.ndarray], meta: dict, data: Sequences, left_out: tuple[str, ...]
) -> Iterator[dict]:
    """What a model file says beside its arrays. Texts that cannot be saved are written as JSON may write them."""
    for how, other in odd_json.altered(meta):
        if how.startswith(left_out):
            continue
        text = json.dumps(other).encode()
        np.savez(path, meta=np.frombuffer(text, dtype=np.uint8), **arrays)
        yield {"model": name, "array": "meta", "how": how, "outcome": outcome(path, data)}


def main() -> None:
    warnings.simplefilter("error")
    np.seterr(all="raise", under="ignore")
    with tempfile.TemporaryDirectory() as place:
        for case in cases(Path(place), "--all" in sys.argv):
            print(json.dumps(case))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
