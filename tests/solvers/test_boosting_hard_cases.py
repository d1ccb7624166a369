"""Boosting where numbers are hard: certain sequences, features that are always or never right, very long sequences."""

import math

import numpy as np
import pytest

from labseq_core import SequenceBoost
from labseq_core.compiling.routines import parallel_from
from labseq_core.solvers.boosting import state
from tests.solvers.test_boosting import make, random_weights

NEAR = 1e-7  # relative


@pytest.mark.parametrize("scale", [10.0, 60.0])
def test_near_certain_sequences(scale):
    """p(y|x) -> 1: weights of e^-60 still choose the right feature."""
    X = [[{"a": 1.0}, {"b": 1.0}], [{"b": 1.0}, {"a": 1.0}, {"a": 1.0, "c": 1.0}], [{"c": 1.0}]]
    Y = [[0, 1], [1, 0, 0], [0]]
    weights = np.zeros(12)
    weights[0], weights[3], weights[4] = scale, scale, 0.5 * scale  # a -> 0, b -> 1, c -> 0
    booster, naive = make(X, Y, 2, bound="tight", smoothing=1e-6, weights=np.append(weights, np.zeros(50)))
    for _ in range(5):
        choice, bounds = naive.choose("tight")
        done = booster.round()
        np.testing.assert_allclose(bounds[done.feature], choice.bound, rtol=NEAR)
        np.testing.assert_allclose(done.bound, choice.bound, rtol=NEAR)
        naive.move(done.feature, done.step)
        np.testing.assert_allclose(done.log_loss, math.log(naive.loss()), rtol=NEAR)


@pytest.mark.parametrize("bound", ["loose", "tight", "exact"])
@pytest.mark.parametrize("smoothing", [0.0, 1e-9, 0.1])
def test_features_that_are_always_or_never_right(bound, smoothing):
    """Attribute a is at label 0 wherever it is (U = 0), b never (L = 0 at label 0): steps stay finite."""
    X = [[{"a": 1.0}, {"b": 1.0}], [{"a": 1.0}, {"b": 1.0}]]
    Y = [[0, 1], [0, 1]]
    booster, naive = make(X, Y, 2, bound=bound, smoothing=smoothing)
    for _ in range(10):
        done = booster.round()
        if done is None:
            break
        assert math.isfinite(done.step)
        assert 0.0 <= done.ratio <= done.bound * (1 + NEAR) + 1e-12
        assert done.bound <= 1.0
    naive.move(0, 5.0)
    assert done is None or done.log_loss < math.log(naive.loss())


def test_3_30_at_its_limits():
    """The loose bound of a feature that cannot be wrong (U = 0) falls to 1 - s, of one that cannot be right to s."""
    booster, naive = make([[{"a": 1.0}], [{"b": 1.0}]], [[0], [1]], 2, bound="loose", smoothing=0.0)
    done = booster.round()
    s = naive.pseudo_accuracy(done.feature)
    upper, lower = naive.feature_range(done.feature)
    assert upper == 0.0 or lower == 0.0
    np.testing.assert_allclose(done.bound, 1 - s if upper == 0.0 else s, rtol=1e-9)


def test_smoothing_on_the_loose_bound_is_3_37():
    X = [[{"a": 1.0}, {"a": 1.0}, {}], [{"a": 1.0}], [{"b": 1.0}, {"a": 1.0}]]
    Y = [[0, 1, 1], [0], [0, 1]]
    booster, naive = make(X, Y, 2, bound="loose", smoothing=0.05, weights=random_weights(1))
    done = booster.round()
    s = naive.pseudo_accuracy(done.feature)
    upper, lower = naive.feature_range(done.feature)
    expected = math.log((-lower * s + 0.05) / (upper * (1 - s) + 0.05)) / (upper - lower)
    np.testing.assert_allclose(done.step, expected, rtol=1e-9)


def test_one_sequence_of_length_one():
    booster, naive = make([[{"a": 1.0}]], [[1]], 3, bound="exact", smoothing=0.01)
    done = booster.round()
    assert booster.lists.edge_sequences.size == 0
    assert done.feature == 1
    assert done.sequences == done.tokens == 1.0
    np.testing.assert_allclose(done.step, naive.step(1, "exact"), rtol=1e-6)


def test_one_label_only():
    model = SequenceBoost().fit([["a", "b"]], [["X", "X"]])
    assert model.n_rounds_ == 0
    assert model.stop_reason_ == "no feature reduces the bound any more"
    assert model.feature_fraction_ == 0.0
    assert model.predict([["a"]]) == [["X"]]
    assert len(model.rounds_) == 0
    assert "feature" in model.rounds_.columns


def test_tokens_without_attributes():
    """U = L = 0 everywhere: only pairs of labels can be chosen."""
    model = SequenceBoost(rounds=10).fit([[{}, {}], [{}]], [["A", "B"], ["A"]])
    assert (model.rounds_["kind"] == "transition").all()
    assert model.predict([[{}, {}]]) == [["A", "B"]]


@pytest.mark.parametrize("length_decay", [1.0, 1 / 3])
@pytest.mark.parametrize("bound", ["loose", "tight", "exact"])
def test_a_thousand_tokens_among_short_sequences(bound, length_decay):
    rng = np.random.default_rng(0)
    names = ["x", "y", "z", "w"]
    Y = [rng.choice(["A", "B", "C"], size=length).tolist() for length in (2, 1000, 3, 1, 5)]
    X = [[names["ABC".index(label)] if rng.random() < 0.8 else "w" for label in y] for y in Y]
    model = SequenceBoost(bound=bound, rounds=60, length_decay=length_decay).fit(X, Y)
    rounds = model.rounds_
    assert np.isfinite(rounds.drop(columns=["dev_accuracy", "dev_f1"]).select_dtypes("number")).all(axis=None)
    assert (rounds["z"] <= rounds["bound"] * (1 + NEAR)).all()
    assert rounds["log_loss"].is_monotonic_decreasing
    lengths = np.array([len(y) for y in Y])
    start = np.logaddexp.reduce(lengths * math.log(3 * length_decay) + np.log1p(-(3.0**-lengths)))
    np.testing.assert_allclose(rounds["log_loss"], start + np.log(rounds["z"]).cumsum(), rtol=1e-8, atol=1e-8)
    log_p = model.log_prob(X, Y)
    with np.errstate(over="ignore"):
        losses = lengths * math.log(length_decay) - log_p + np.log1p(-np.exp(log_p))
    np.testing.assert_allclose(rounds["log_loss"].iloc[-1], np.logaddexp.reduce(losses), rtol=1e-8)


def test_threads_change_nothing():
    X, Y = [], []
    rng = np.random.default_rng(1)
    for _ in range(60):
        y = rng.choice(["A", "B", "C"], size=rng.integers(1, 12)).tolist()
        Y.append(y)
        X.append([f"{label}{rng.integers(4)}" for label in y])
    for bound in ("loose", "tight", "exact"):
        one = SequenceBoost(bound=bound, rounds=25).fit(X, Y)
        with parallel_from(0):
            other = SequenceBoost(bound=bound, rounds=25).fit(X, Y)
        np.testing.assert_array_equal(one.weights_.flat, other.weights_.flat)
        assert one.rounds_.equals(other.rounds_)


@pytest.mark.parametrize("bound", ["loose", "tight", "exact"])
def test_what_is_negligible_changes_nothing(bound, monkeypatch):
    """Sequences that weigh less than 1e-20 of the sum are left alone, and taken up again when the others are learned."""
    rng = np.random.default_rng(3)
    lengths = [90, 70, 60, *rng.integers(1, 20, size=30)]
    Y = [rng.integers(3, size=length).tolist() for length in lengths]
    X = [[{f"{label if rng.random() < 0.9 else 'n'}{rng.integers(3)}": 1.0} for label in y] for y in Y]
    lazy = make(X, Y, 3, bound=bound, smoothing=1e-4, naive=False)[0]
    monkeypatch.setattr(state, "NEGLIGIBLE", np.inf)
    eager = make(X, Y, 3, bound=bound, smoothing=1e-4, naive=False)[0]
    looked_at = []
    for _ in range(60):
        monkeypatch.setattr(state, "NEGLIGIBLE", 46.0)
        one = lazy.round()
        monkeypatch.setattr(state, "NEGLIGIBLE", np.inf)
        other = eager.round()
        assert one.feature == other.feature
        np.testing.assert_allclose(
            [one.step, one.bound, one.log_loss], [other.step, other.bound, other.log_loss], rtol=NEAR
        )
        assert other.looked_at == other.tokens
        looked_at.append(one.looked_at)
    assert looked_at[0] < 0.5 < max(looked_at)
    assert np.count_nonzero(lazy.weights) > 25  # all but those that are learned
