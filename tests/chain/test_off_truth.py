"""What is off the truth, against enumeration in exact arithmetic: all of it is relatively accurate, however little it is."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labseq_core.chain import ChainPotentials, forward_backward, rest_of
from labseq_core.chain.off_truth import OffTruth, off_truth
from labseq_core.compiling.routines import parallel_from
from tests.reference import enumeration

RELATIVE = 1e-11  # of sums of positive terms


def all_off_truth(potentials: ChainPotentials, labels: np.ndarray, sequences=None, log_weights=None) -> OffTruth:
    """Of sequences from the longest to the shortest."""
    n, size = len(potentials), potentials.n_labels
    sequences = np.arange(n) if sequences is None else np.asarray(sequences)
    rows, edges = np.full_like(potentials.node, np.nan), np.full((n, size * size), np.nan)
    found = OffTruth(rows, edges, np.full(n, np.nan), np.full(n, np.nan), np.zeros(n, dtype=np.bool_))
    off_truth(
        potentials,
        labels,
        sequences,
        np.zeros(n) if log_weights is None else log_weights,
        log_weights is not None,
        found,
    )
    return found


def enumerated(one: ChainPotentials, truth: tuple[int, ...]):
    """The same of one sequence by fractions: nothing is lost."""
    length, size = one.node.shape
    scores = enumeration.scores(one)
    top = max(scores.values())
    with np.errstate(under="ignore"):
        weights = {y: Fraction(float(np.exp(np.longdouble(score - top)))) for y, score in scores.items()}
    total = sum(weights.values())
    rows = [[Fraction(0)] * size for _ in range(length)]
    edges = [Fraction(0)] * (size * size)
    rest = Fraction(0)
    for y, weight in weights.items():
        if y == truth:
            continue
        share = weight / total
        rest += share
        for t in range(length):
            if y[t] != truth[t]:
                rows[t][y[t]] += share
                rows[t][truth[t]] -= share
            if t and y[t - 1 : t + 1] != truth[t - 1 : t + 1]:
                edges[y[t - 1] * size + y[t]] += share
                edges[truth[t - 1] * size + truth[t]] -= share
    return np.array(rows, dtype=float), np.array(edges, dtype=float), float(rest)


@given(st.integers(0, 10_000), st.sampled_from([0.5, 5.0, 20.0, 120.0]), st.booleans(), st.integers(1, 3))
def test_against_enumeration(seed, certainty, forbid, size):
    rng = np.random.default_rng(seed)
    lengths = sorted(rng.integers(1, 5, size=int(rng.integers(1, 9))).tolist(), reverse=True)
    offsets = np.cumsum([0, *lengths])
    labels = rng.integers(size, size=offsets[-1])
    node = rng.normal(size=(offsets[-1], size))
    node[np.arange(len(labels)), labels] += certainty  # the truth is nearly certain
    edge = rng.normal(size=(size, size))
    if forbid and size == 3:
        used = {(labels[t - 1], labels[t]) for i in range(len(lengths)) for t in range(offsets[i] + 1, offsets[i + 1])}
        if (0, 2) not in used:
            edge[0, 2] = -np.inf
    batch = ChainPotentials(rng.normal(size=size), node, edge, rng.normal(size=size), offsets)
    rows, edges, rest, log_p, _ = all_off_truth(batch, labels)
    for i, one in enumerate(batch):
        own = slice(offsets[i], offsets[i + 1])
        expected_rows, expected_edges, expected_rest = enumerated(one, tuple(labels[own].tolist()))
        np.testing.assert_allclose(rows[own], expected_rows, rtol=RELATIVE, atol=0)
        np.testing.assert_allclose(rest[i], expected_rest, rtol=RELATIVE, atol=0)
        np.testing.assert_allclose(log_p[i], np.log1p(-expected_rest), rtol=RELATIVE, atol=1e-300)
        # A pair that is both made where it is wrong and missed where it is right: a difference.
        np.testing.assert_allclose(edges[i], expected_edges, rtol=RELATIVE, atol=RELATIVE * expected_rest)


@pytest.mark.parametrize("scale", [1.0, 400.0])
def test_long_and_short_sequences_with_any_scores(scale):
    """A sequence of 1 000 positions among short ones; beyond the range of the scaled recursion the log domain takes over."""
    rng = np.random.default_rng(0)
    lengths = [1000, *([7] * 20), *([2] * 50), *([1] * 3)]
    offsets = np.cumsum([0, *lengths])
    labels = rng.integers(5, size=offsets[-1])
    batch = ChainPotentials(
        np.zeros(5), rng.normal(scale=scale, size=(offsets[-1], 5)), rng.normal(scale=scale, size=(5, 5)), np.zeros(5),
        offsets,
    )  # fmt: skip
    rest = rest_of(batch, labels)
    log_weights = -rest.log_odds  # so that the weight of each sequence is 1
    rows, edges, left, log_p, in_log_domain = all_off_truth(batch, labels, log_weights=log_weights)
    assert in_log_domain.any() == (scale > 100)
    np.testing.assert_allclose(np.log(left) - log_p, rest.log_odds, rtol=1e-9)
    expected = rest.statistics.node.copy()
    expected[np.arange(len(labels)), labels] -= 1.0
    np.testing.assert_allclose(rows, expected, atol=1e-8)
    pairs = rest.statistics.edge.copy()
    for i in range(len(lengths)):
        for t in range(offsets[i] + 1, offsets[i + 1]):
            pairs[labels[t - 1], labels[t]] -= 1.0
    np.testing.assert_allclose(edges.sum(axis=0).reshape(5, 5), pairs, atol=1e-6)
    # Any choice of sequences gives the same, on one core or on all.
    some = np.array([0, 3, 21, 22, 60, 73])
    with parallel_from(0):
        again = all_off_truth(batch, labels, some, log_weights)
    for i in some:
        own = slice(offsets[i], offsets[i + 1])
        np.testing.assert_allclose(again[0][own], rows[own], rtol=1e-12, atol=1e-300)
        np.testing.assert_allclose(again[1][i], edges[i], rtol=1e-12, atol=1e-12)
    assert np.isnan(again[2][[1, 2, 4]]).all()


def test_marginals_are_those_of_forward_backward():
    rng = np.random.default_rng(5)
    lengths = sorted(rng.integers(1, 30, size=100).tolist(), reverse=True)
    offsets = np.cumsum([0, *lengths])
    labels = rng.integers(4, size=offsets[-1])
    batch = ChainPotentials(
        np.zeros(4), rng.normal(size=(offsets[-1], 4)), rng.normal(size=(4, 4)), np.zeros(4), offsets
    )
    rows, edges, *_ = all_off_truth(batch, labels)
    posterior = forward_backward(batch)
    expected = posterior.node_marginals.copy()
    expected[np.arange(len(labels)), labels] -= 1.0
    np.testing.assert_allclose(rows, expected, atol=1e-13)
    arrivals = np.delete(np.arange(len(labels)), offsets[:-1])
    observed = np.bincount(labels[arrivals - 1] * 4 + labels[arrivals], minlength=16)
    np.testing.assert_allclose(edges.sum(axis=0), posterior.statistics.edge.ravel() - observed, atol=1e-10)
