"""The perceptron against Algorithm 1 by enumeration, with the average written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labseq_core import StructuredPerceptron
from labseq_core.learners import perceptron as module
from tests.examples import few
from tests.reference import perceptron as naive
from tests.reference import toy

AVERAGE = {"rtol": 1e-12, "atol": 1e-12}


def as_dicts(X: list[list[str]]) -> list[list[dict[str, float]]]:
    """Values in halves and quarters: their sums are exact, so ties are ties in both versions."""
    return [[{f"word={word}": 1.0, "length": len(word) / 4, "bias": 0.5} for word in x] for x in X]


def orders(n_sequences: int, epochs: int, shuffle: bool, seed: int) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [(rng.permutation(n_sequences) if shuffle else np.arange(n_sequences)).tolist() for _ in range(epochs)]


def assert_weights(model: StructuredPerceptron, expected: naive.Weights) -> None:
    weights, labels = model.weights_, model.classes_
    found = {}
    for a, name in enumerate(model.vocabulary_.names):
        found |= {("node", name, label): weights.node[a, s] for s, label in enumerate(labels)}
    found |= {("edge", a, b): weights.edge[r, s] for r, a in enumerate(labels) for s, b in enumerate(labels)}
    found |= {("start", label): weights.start[s] for s, label in enumerate(labels)}
    found |= {("stop", label): weights.stop[s] for s, label in enumerate(labels)}
    assert set(expected) <= set(found)
    for key, value in found.items():
        np.testing.assert_allclose(value, expected.get(key, 0.0), **AVERAGE, err_msg=str(key))


@few
@given(st.integers(0, 10_000), st.booleans(), st.booleans(), st.booleans(), st.integers(1, 3))
def test_weights_equal_algorithm_1(seed, averaged, start_stop, shuffle, epochs):
    X, Y = toy.corpus(seed, n_sequences=7, max_length=4)
    X = as_dicts(X)
    model = StructuredPerceptron(epochs=epochs, averaged=averaged, start_stop=start_stop, shuffle=shuffle, seed=seed)
    model.fit(X, Y)
    visits = orders(len(X), epochs, shuffle, seed)
    last, average = naive.train(X, [tuple(y) for y in Y], model.classes_, visits, start_stop)
    assert_weights(model, average if averaged else last)


def test_blocks_between_looks_at_the_callback_change_nothing(monkeypatch):
    X, Y = toy.corpus(seed=9, n_sequences=30)
    whole = StructuredPerceptron(epochs=4).fit(X, Y)
    monkeypatch.setattr(module, "BLOCK_TOKENS", 7)
    calls = []
    cut = StructuredPerceptron(epochs=4).fit(X, Y, callback=calls.append)
    np.testing.assert_array_equal(cut.weights_.flat, whole.weights_.flat)
    assert len(calls) > 2 * 4
    assert cut.history_["objective"].tolist() == whole.history_["objective"].tolist()


def test_history_counts_mistakes_and_follows_dev():
    X, Y = toy.corpus(seed=10, n_sequences=30)
    model = StructuredPerceptron(epochs=5).fit(X[:20], Y[:20], dev=(X[20:], Y[20:]))
    history = model.history_
    assert history["iteration"].tolist() == [1, 2, 3, 4, 5]
    assert (history["objective"] >= history["wrong_sequences"]).all()
    assert history["dev_accuracy"].iloc[-1] == model.score(X[20:], Y[20:])


def test_it_stops_after_a_pass_without_mistakes():
    X, Y = [["a", "b"], ["b", "a"]], [["A", "B"], ["B", "A"]]
    model = StructuredPerceptron(epochs=50).fit(X, Y)
    assert len(model.history_) < 50
    assert model.history_["wrong_sequences"].iloc[-1] == 0
    assert model.score(X, Y) == 1.0


def test_the_seed_decides_the_order():
    X, Y = toy.corpus(seed=11, n_sequences=30)

    def weights(**options) -> np.ndarray:
        return StructuredPerceptron(epochs=3, **options).fit(X, Y).weights_.flat

    np.testing.assert_array_equal(weights(seed=1), weights(seed=1))
    assert (weights(seed=1) != weights(seed=2)).any()
    np.testing.assert_array_equal(weights(seed=1, shuffle=False), weights(seed=2, shuffle=False))


@pytest.mark.parametrize("averaged", [True, False])
def test_a_stopped_fit_averages_what_it_has_seen(averaged):
    X, Y = toy.corpus(seed=12, n_sequences=30)
    stopped = StructuredPerceptron(epochs=9, averaged=averaged).fit(
        X, Y, callback=lambda progress: progress.iteration < 2
    )
    # The callback first hears of the second pass after its first block, which here is all of it.
    full = StructuredPerceptron(epochs=2, averaged=averaged).fit(X, Y)
    np.testing.assert_array_equal(stopped.weights_.flat, full.weights_.flat)
