"""Boosting against Algorithm 3 by enumeration: bounds, choices, steps, losses. METHODS 3."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from labseq_core.chain import ChainPotentials
from labseq_core.features import encode_attributes
from labseq_core.solvers.boosting.booster import Booster
from labseq_core.solvers.boosting.exact_steps import bounds_along
from labseq_core.solvers.boosting.features import feature_lists, order_by_length
from tests.examples import few
from tests.reference.boosting import NaiveBoosting

CLOSE = 1e-8  # relative: what two ways to sum up may differ by
TIE = 1e-7  # relative: bounds this close may be ranked either way
LOST = 1e-9  # absolute, against 1: a bound is 1 minus a gain, and sums carry the rounding of larger ones before
STEP = 1e-5  # steps are roots: found to about the square root of what values are


@st.composite
def corpora(draw, max_length: int = 4, real: bool = True):
    """A few short sequences; attributes 0/1, counted twice or real-valued, negative ones too."""
    n_labels = draw(st.integers(1, 3))
    n_sequences = draw(st.integers(1, 4))
    values = st.sampled_from([1.0] if not real or draw(st.booleans()) else [1.0, 0.5, -1.5, 2.0, 0.25])
    observation = st.dictionaries(st.sampled_from(["a", "b", "c", "d"]), values, max_size=3)
    lengths = [draw(st.integers(1, max_length)) for _ in range(n_sequences)]
    X = [[draw(observation) for _ in range(length)] for length in lengths]
    Y = [[draw(st.integers(0, n_labels - 1)) for _ in range(length)] for length in lengths]
    return X, Y, n_labels


def make(X, Y, n_labels, *, bound, smoothing, length_decay=1.0, log_loss=False, weights=None, naive=True):
    """A booster and, unless there are too many labellings, its naive twin at the same weights."""
    encoded = encode_attributes(X)
    order = order_by_length(encoded)
    encoded = encoded.select(order)
    labels = np.array([label for i in order for label in Y[i]])
    lists = feature_lists(encoded, labels, n_labels)
    attributes = list(encoded.vocabulary.names)
    flat = np.zeros(lists.n_features) if weights is None else weights[: lists.n_features]
    node_weights = flat[: len(attributes) * n_labels].reshape(-1, n_labels)
    node = np.zeros((encoded.n_positions, n_labels))
    for t in range(encoded.n_positions):
        for k in range(encoded.indptr[t], encoded.indptr[t + 1]):
            node[t] += (encoded.values[k] if encoded.values.size else 1.0) * node_weights[encoded.indices[k]]
    edge = flat[len(attributes) * n_labels :].reshape(n_labels, n_labels).copy()
    zero = np.zeros(n_labels)
    booster = Booster(
        lists, ChainPotentials(zero, node, edge, zero, encoded.offsets), bound=bound, smoothing=smoothing,
        log_weights=math.log(length_decay) * np.diff(encoded.offsets), inverse_probability=not log_loss,
    )  # fmt: skip
    if not naive:
        return booster, None
    naive = NaiveBoosting(
        [X[i] for i in order], [Y[i] for i in order], attributes, n_labels, length_decay=length_decay,
        smoothing=smoothing, log_loss=log_loss,
    )  # fmt: skip
    naive.parameters[:] = flat
    return booster, naive


def random_weights(seed: int, size: int = 200, scale: float = 1.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(scale=scale, size=size)


@few
@given(corpora(), st.integers(0, 5), st.sampled_from([1.0, 0.4]))
def test_z_below_tight_below_loose(corpus, seed, length_decay):
    booster, naive = make(
        *corpus, bound="tight", smoothing=0.0, length_decay=length_decay, weights=random_weights(seed)
    )
    steps = np.array([-2.0, -0.3, 0.0, 0.2, 1.5])
    total = naive.total()
    if total == 0.0:
        return
    for k in naive.usable():
        curves = bounds_along(booster, k, steps)
        for kind in ("exact", "tight", "loose"):
            expected = [naive.bound(k, kind, step) for step in steps]
            np.testing.assert_allclose(curves[kind], expected, rtol=CLOSE, atol=CLOSE)
        assert (curves["exact"] <= curves["tight"] * (1 + CLOSE)).all()
        assert (curves["tight"] <= curves["loose"] * (1 + CLOSE)).all()


@few
@given(
    corpora(), st.sampled_from(["loose", "tight"]), st.sampled_from([1e-6, 1e-3, 0.3]), st.sampled_from([1.0, 0.3]),
    st.integers(0, 3),
)  # fmt: skip
def test_the_choices_of_algorithm_3(corpus, kind, smoothing, length_decay, seed):
    weights = random_weights(seed, scale=0.5) if seed else None
    booster, naive = make(*corpus, bound=kind, smoothing=smoothing, length_decay=length_decay, weights=weights)
    assert_rounds_agree(booster, naive, kind, rounds=6)


@few
@given(corpora(max_length=3), st.sampled_from([1e-3, 0.1]))
def test_exact_steps(corpus, smoothing):
    booster, naive = make(*corpus, bound="exact", smoothing=smoothing)
    for _ in range(4):
        choice, bounds = naive.choose("tight")
        done = booster.round()
        if done is None:
            assert choice.bound >= 1.0 - TIE
            return
        assert bounds[done.feature] <= choice.bound * (1 + TIE)
        np.testing.assert_allclose(done.bound, bounds[done.feature], rtol=TIE, atol=LOST)
        np.testing.assert_allclose(done.step, naive.step(done.feature, "exact"), rtol=STEP, atol=STEP)
        naive.move(done.feature, done.step)
        np.testing.assert_allclose(done.log_loss, math.log(naive.loss()), rtol=CLOSE, atol=CLOSE)


def assert_rounds_agree(booster: Booster, naive: NaiveBoosting, kind: str, rounds: int) -> None:
    """The same feature (or one as good), step, bound, Z and loss in each round; the naive twin follows what is chosen."""
    first, product = naive.loss(), 1.0
    for _ in range(rounds):
        before = naive.loss()
        choice, bounds = naive.choose(kind)
        done = booster.round()
        if done is None:
            assert choice.bound >= 1.0 - TIE
            return
        assert bounds[done.feature] <= choice.bound + TIE * (1.0 - choice.bound) + LOST
        np.testing.assert_allclose(done.step, naive.step(done.feature, kind), rtol=STEP, atol=STEP)
        np.testing.assert_allclose(done.bound, bounds[done.feature], rtol=CLOSE, atol=LOST)
        np.testing.assert_allclose(done.pseudo_accuracy, naive.pseudo_accuracy(done.feature), rtol=CLOSE, atol=CLOSE)
        naive.move(done.feature, done.step)
        loss = naive.loss()
        np.testing.assert_allclose(done.ratio, loss / before, rtol=CLOSE)
        np.testing.assert_allclose(done.log_loss, math.log(loss), rtol=CLOSE, atol=CLOSE)
        assert done.ratio <= done.bound * (1 + CLOSE) + LOST
        product *= done.ratio
        np.testing.assert_allclose(first * product, loss, rtol=CLOSE)  # W_0 Π Z_r = R^exp ...
        assert loss >= naive.rank_loss() * (1 - CLOSE)  # ... which bounds the rank loss
