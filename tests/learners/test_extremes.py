"""Corpora at the edge of what there is, for every method: they work, or fail with one clear line."""

import numpy as np
import pytest

from labseq_core import LabSeqError
from labseq_core.learners import METHODS, make_learner
from tests.reference import toy

every_method = pytest.mark.parametrize("method", METHODS)
ONE = {"rtol": 1e-9}
MANY_LABELS = 260  # more than a byte can count
LONG = ("sgps-sequence", "sgps", "boost", "logitboost", "maxent")  # of those that take longest with so many
# Few passes, weak penalties, and the weight without which 1/p of a sequence of length l is 260^l.
QUICK = {
    "maxent": {"max_iter": 3}, "crf": {"max_iter": 3}, "crf-marginal": {"max_iter": 3, "l2": 1e-3},
    "crf-marginal-exp": {"max_iter": 3}, "exp": {"max_iter": 3, "l2": 1e-3, "length_decay": 1 / MANY_LABELS},
    "perceptron": {"epochs": 3}, "dual-perceptron": {"epochs": 3}, "boost": {"rounds": 290}, "logitboost": {"rounds": 290},
    "hmsvm": {"max_iter": 3},
    "gps": {"max_iter": 10, "l2": 0.1}, "gps-newton": {"max_iter": 3, "l2": 0.1},
    "sgps": {"fraction": 1.0, "per_step": 3, "l2": 0.1, "refit": "last"},
    "sgps-sequence": {"fraction": 1.0, "per_step": 1, "l2": 0.1, "refit": "last"},
}  # fmt: skip


def assert_usable(model, X, Y) -> None:
    """Decoding, scores and, where there are any, probabilities are what they must be."""
    predicted = model.predict(X)
    assert [len(labels) for labels in predicted] == [len(x) for x in X]
    assert set().union(*predicted) <= set(model.classes_)
    for potentials in model.potentials(X):
        for part in (potentials.start, potentials.node, potentials.edge, potentials.stop):
            assert np.isfinite(part).all()
    if model.probabilistic:
        for rows in model.marginals(X):
            np.testing.assert_allclose(rows.sum(axis=1), 1.0, **ONE)
        assert np.isfinite(model.log_prob(X, Y)).all()


def real_valued(x: list[str], rng: np.random.Generator) -> list[dict[str, float]]:
    """The word for the HMM, and numbers: small and large, of either sign, sometimes absent."""
    return [
        {
            f"word={word}": 1.0, "length": len(word) / 3, "signed": float(rng.normal()), "large": float(rng.normal() * 10),
            "tiny": 1e-6 * len(word), **({"rare": -0.5} if rng.random() < 0.1 else {}),
        }
        for word in x
    ]  # fmt: skip


@every_method
def test_real_valued_attributes(method):
    words, Y = toy.corpus(seed=60, n_sequences=30)
    rng = np.random.default_rng(0)
    X = [real_valued(x, rng) for x in words]
    model = make_learner(method).fit(X, Y)
    assert_usable(model, X, Y)
    assert model.score(X, Y) > 0.5


@every_method
def test_a_number_alone_decides(method):
    """No names at all: labels follow the sign of one number. The HMM over words has nothing to count."""
    rng = np.random.default_rng(1)
    X = [[{"x": float(value)} for value in rng.normal(size=5)] for _ in range(40)]
    Y = [["+" if token["x"] > 0 else "-" for token in x] for x in X]
    if method == "hmm":
        with pytest.raises(LabSeqError, match=r"needs the current word as an attribute; .* or emissions='attributes'"):
            make_learner(method).fit(X, Y)
    model = make_learner(method, **({"emissions": "attributes"} if method == "hmm" else {})).fit(X, Y)
    assert_usable(model, X, Y)
    assert model.score(X, Y) > 0.9


@every_method
def test_sequences_of_length_1(method):
    words, labels = toy.corpus(seed=61, n_sequences=20)
    X, Y = [[word] for x in words for word in x], [[label] for y in labels for label in y]
    model = make_learner(method).fit(X, Y)
    assert_usable(model, X, Y)
    assert model.score(X, Y) > 0.5
    longer = [x for x in words if len(x) > 1]
    assert_usable(model, longer, [y for y in labels if len(y) > 1])
    one = make_learner(method).fit(X[:1], Y[:1])  # a corpus of one token
    assert one.predict([["uno", "dos"]]) == [Y[0] * 2]


@every_method
def test_a_label_never_seen_with_an_attribute(method):
    """b is always B and A never first; a query that puts them together, and unknown words, still have an answer."""
    X, Y = [["a", "b"], ["c", "b"], ["c", "a"]], [["B", "B"], ["C", "B"], ["C", "A"]]
    model = make_learner(method).fit(X, Y)
    queries, unlikely = [["b", "a"], ["new", "b", "newer"]], [["A", "C"], ["A", "A", "A"]]
    assert_usable(model, queries, unlikely)
    if model.probabilistic:
        assert (model.log_prob(queries, unlikely) < model.log_prob(queries, model.predict(queries))).all()


@every_method
def test_a_corpus_with_a_single_label(method):
    X, Y = [["a", "b", "c"], ["d"], ["a", "a"]], [["O"] * 3, ["O"], ["O"] * 2]
    model = make_learner(method).fit(X, Y, dev=(X[:2], Y[:2]))
    assert_usable(model, X, Y)
    assert model.predict([["new"], ["a", "b"]]) == [["O"], ["O", "O"]]
    assert model.score(X, Y) == 1.0
    assert model.k_best(X, 3)[0][0][0] == ["O", "O", "O"]
    assert len(model.k_best(X, 3)[0]) == 1
    if model.probabilistic:
        np.testing.assert_allclose(model.log_prob(X, Y), 0.0, atol=1e-9)


@pytest.mark.parametrize(
    "method",
    [pytest.param(method, marks=pytest.mark.slow) if method in LONG else method for method in METHODS],
)
def test_many_labels(method):
    """Words that nearly name their labels, in a fixed round of labels."""
    rng = np.random.default_rng(2)
    Y = [[f"L{(3 * i + t) % MANY_LABELS:03d}" for t in range(3)] for i in range(95)]
    X = [[f"w{label[1:]}" if rng.random() < 0.9 else "w" for label in y] for y in Y]
    model = make_learner(method, **QUICK.get(method, {})).fit(X, Y)
    assert len(model.classes_) == MANY_LABELS
    assert_usable(model, X[:10], Y[:10])
    # Viterbi boosting learns to trust true neighbours, which it does not have when it labels.
    assert model.score(X, Y) > (0.5 if method == "viterbi-boost" else 0.8)
    assert len(model.k_best(X[:1], 5)[0]) == 5
