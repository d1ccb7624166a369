"""Scores of any size: probabilities are right or refused, never 1.07; the best labelling is right up to the largest score."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labseq_core.chain import ChainPotentials, forward_backward, k_best, viterbi
from labseq_core.checks import LARGEST, LabSeqError
from tests.reference import enumeration

ERROR = 1e-4  # of a probability where the scores of a sequence sum up to 1e11


def large_scores(kind: str, size: float, seed: int) -> ChainPotentials:
    """Four positions and three labels whose scores are of a size in one way or another."""
    rng = np.random.default_rng(seed)
    node, edge, start, stop = (rng.normal(size=shape) for shape in ((4, 3), (3, 3), 3, 3))
    if kind == "one level":
        node += size
    elif kind == "levels that cancel":
        node += size * np.array([1.0, -1.0, 1.0, -1.0])[:, np.newaxis]
    elif kind == "all of them":
        node, edge, start, stop = node * size, edge * size, start * size, stop * size
    elif kind == "nodes against edges":
        node += size * rng.integers(0, 2, node.shape)
        edge -= size * rng.integers(0, 2, edge.shape)
    elif kind == "as good as forbidden":
        node[:, 0] -= size
        edge[1, 2] -= size
    return ChainPotentials(start, node, edge, stop)


KINDS = ["one level", "levels that cancel", "all of them", "nodes against edges", "as good as forbidden"]


@given(st.sampled_from(KINDS), st.floats(0.0, 200.0), st.integers(0, 2**32 - 1))
def test_probabilities_are_right_or_refused(kind, log_size, seed):
    potentials = large_scores(kind, min(10.0**log_size, LARGEST / 10.0), seed)
    try:
        found = forward_backward(potentials).node_marginals
    except LabSeqError:
        assert log_size > 8.0, "METHODS: scores of 1e4 on 10,000 positions"
        return
    np.testing.assert_allclose(found, enumeration.exact_marginals(potentials), rtol=0.0, atol=ERROR)


@pytest.mark.parametrize("kind", KINDS)
def test_just_below_the_bound_they_are_right_and_above_it_refused(kind):
    for seed in range(20):
        potentials = large_scores(kind, 1e9, seed)
        found = forward_backward(potentials).statistics.node
        np.testing.assert_allclose(found, enumeration.exact_marginals(potentials), rtol=0.0, atol=ERROR)
    potentials = large_scores(kind, 1e15, 0)
    if kind == "as good as forbidden":  # which costs no digits
        found = forward_backward(potentials).node_marginals
        np.testing.assert_allclose(found, enumeration.exact_marginals(potentials), rtol=0.0, atol=1e-12)
        return
    with pytest.raises(
        LabSeqError, match=r"sum up to .*e\+15, so that float64 has no digits left for probabilities; scale"
    ):
        _ = forward_backward(potentials).node_marginals


def test_ten_thousand_positions_with_scores_of_ten_thousand():
    rng = np.random.default_rng(0)
    node, edge = 1e4 * rng.choice([-1.0, 1.0], (10_000, 4)), 1e4 * rng.choice([-1.0, 1.0], (4, 4))
    found = forward_backward(ChainPotentials(np.zeros(4), node, edge, np.zeros(4))).node_marginals
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=0.0, atol=1e-6)


@given(st.sampled_from(KINDS), st.floats(0.0, 199.0), st.integers(0, 2**32 - 1))
def test_the_best_labelling_has_the_best_score_at_any_size(kind, log_size, seed):
    """Up to the rounding of the sum itself."""
    potentials = large_scores(kind, 10.0**log_size, seed)
    best = enumeration.best_scores(potentials)[0]
    size = np.abs(potentials.node).max() + np.abs(potentials.edge).max()
    for found in (float(viterbi(potentials).scores[0]), k_best(potentials, 2)[0][0][1]):
        assert abs(found - best) <= 1e-14 * size


@pytest.mark.parametrize("place", ["start", "node", "edge", "stop"])
@pytest.mark.parametrize("value", [1.1 * LARGEST, -1.1 * LARGEST, 1e308])
def test_scores_beyond_what_can_be_summed_are_refused(place, value):
    scores = {"start": np.zeros(2), "node": np.zeros((3, 2)), "edge": np.zeros((2, 2)), "stop": np.zeros(2)}
    scores[place].flat[-1] = value
    with pytest.raises(LabSeqError, match=rf"^{place} contains {value:g}; scale it".replace("+", r"\+")):
        ChainPotentials(**scores)
    scores[place].flat[-1] = -np.inf
    ChainPotentials(**scores)
