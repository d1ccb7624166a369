"""The numbers of a trellis against enumeration and against the compiled recursions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from labseq_core import LabSeqError
from labseq_core.chain import ChainPotentials, forward_backward, k_best, max_marginals, path_scores, viterbi
from labseq_core.explain import RECURSIONS, Lattice, forced
from tests.reference import enumeration

CLOSE = {"rtol": 1e-10, "atol": 1e-10}


def chain(seed: int, length: int, n_labels: int, forbid: float = 0.0, per_position: bool = False) -> ChainPotentials:
    """Random scores; each transition and start is forbidden with this probability, but one labelling is always allowed."""
    rng = np.random.default_rng(seed)
    edge = rng.normal(size=(length, n_labels, n_labels) if per_position else (n_labels, n_labels)) * 2
    start, stop = rng.normal(size=n_labels), rng.normal(size=n_labels)
    edge[rng.random(edge.shape) < forbid] = -np.inf
    start[rng.random(n_labels) < forbid] = -np.inf
    start[0] = edge[..., 0, 0] = 0.5
    return ChainPotentials(start, rng.normal(size=(length, n_labels)) * 3, edge, stop)


chains = some.builds(
    chain,
    some.integers(0, 10**6),
    some.integers(1, 5),
    some.integers(1, 4),
    some.sampled_from([0.0, 0.3]),
    some.booleans(),
)


@given(chains)
def test_every_quantity_is_that_of_all_labellings(potentials):
    lattice = Lattice(potentials)
    np.testing.assert_allclose(lattice.log_partition, enumeration.log_partition(potentials), **CLOSE)
    np.testing.assert_allclose(lattice.marginals, enumeration.marginals(potentials)[0], **CLOSE)
    np.testing.assert_allclose(lattice.through, enumeration.max_marginals(potentials), **CLOSE)
    assert lattice.best_score == pytest.approx(enumeration.best_scores(potentials)[0], abs=1e-10)
    found = lattice.k_best(7)
    np.testing.assert_allclose([score for _, score in found], enumeration.best_scores(potentials)[:7], **CLOSE)
    assert len({tuple(labels) for labels, _ in found}) == len(found)
    for labels, score in found:
        assert enumeration.score(potentials, tuple(labels)) == pytest.approx(score, abs=1e-10)
    np.testing.assert_array_equal(found[0][0], lattice.labels)


@given(chains)
def test_nodes_are_sums_and_maxima_over_beginnings_and_endings(potentials):
    """From the definition: all ways to reach a node, all ways to go on from it."""
    lattice, (length, n_labels) = Lattice(potentials), potentials.node.shape
    whole = enumeration.scores(potentials)
    for t, s in itertools.product(range(length), range(n_labels)):
        own = [score for labels, score in whole.items() if labels[t] == s and score > -np.inf]
        if not own:
            assert lattice.forward[t, s] + lattice.backward[t, s] == -np.inf
            continue
        np.testing.assert_allclose(lattice.forward[t, s] + lattice.backward[t, s], np.logaddexp.reduce(own), **CLOSE)
        # A beginning that ends in the node, without what comes after: the chain cut off there, with no stop scores.
        edge = potentials.edge[: t + 1] if potentials.edge.ndim == 3 else potentials.edge
        cut = ChainPotentials(potentials.start, potentials.node[: t + 1], edge, np.zeros(n_labels))
        beginnings = [score for labels, score in enumeration.scores(cut).items() if labels[t] == s and score > -np.inf]
        np.testing.assert_allclose(lattice.forward[t, s], np.logaddexp.reduce(beginnings), **CLOSE)
        np.testing.assert_allclose(lattice.best[t, s], max(beginnings), **CLOSE)
        path = lattice.path_to(t, s)
        assert enumeration.score(cut, tuple(path)) == pytest.approx(lattice.best[t, s], abs=1e-10)
        labels = lattice.labels_through(t, s)
        assert labels[t] == s
        assert enumeration.score(potentials, tuple(labels)) == pytest.approx(max(own), abs=1e-10)


@given(chains)
def test_the_compiled_recursions_say_the_same(potentials):
    lattice = Lattice(potentials)
    posterior, best = forward_backward(potentials), viterbi(potentials)
    np.testing.assert_allclose(lattice.log_partition, posterior.log_partition[0], **CLOSE)
    np.testing.assert_allclose(lattice.marginals, posterior.node_marginals, **CLOSE)
    np.testing.assert_array_equal(lattice.labels, best.labels)
    np.testing.assert_allclose(lattice.best_score, best.scores[0], **CLOSE)
    np.testing.assert_allclose(lattice.through, max_marginals(potentials), **CLOSE)
    for (labels, score), (expected, expected_score) in zip(lattice.k_best(5), k_best(potentials, 5)[0], strict=True):
        np.testing.assert_array_equal(labels, expected)
        assert score == pytest.approx(expected_score, abs=1e-10)


@given(chains)
def test_each_step_makes_the_value_of_its_node(potentials):
    lattice = Lattice(potentials)
    for recursion, (t, s) in itertools.product(RECURSIONS, np.ndindex(potentials.node.shape)):
        step = lattice.step(recursion, t, s)
        assert step.value == lattice.values(recursion)[t, s]
        if not step.terms.size:
            assert step.value == step.own
            assert t == (len(lattice) - 1 if recursion == "backward" else 0)
            continue
        joined = step.terms.max() if recursion == "viterbi" else np.logaddexp.reduce(step.terms)
        np.testing.assert_allclose(step.own + joined, step.value, **CLOSE)
        if step.value > -np.inf:
            assert step.shares.sum() == pytest.approx(1.0)
        else:
            assert not step.shares.any()
        if recursion == "viterbi" and step.value > -np.inf:
            assert step.shares.argmax() == lattice.pointers[t, s]


def test_gaps_and_rivals_compare_whole_labellings():
    potentials = chain(5, 4, 3)
    lattice, whole = Lattice(potentials), enumeration.scores(potentials)
    for t in range(4):
        other = {labels: score for labels, score in whole.items() if labels[t] != lattice.labels[t]}
        rival = max(other, key=other.get)
        assert lattice.gaps[t] == pytest.approx(lattice.best_score - other[rival])
        assert lattice.rival_at(t) == rival[t]
        np.testing.assert_array_equal(lattice.labels_through(t, rival[t]), rival)
    alone = Lattice(chain(1, 3, 1))
    assert np.isinf(alone.gaps).all()
    assert alone.rival_at(1) is None


def test_ties_go_to_the_lowest_labels_as_in_the_compiled_search():
    potentials = ChainPotentials(np.zeros(3), np.zeros((4, 3)), np.zeros((3, 3)), np.zeros(3))
    np.testing.assert_array_equal(Lattice(potentials).labels, viterbi(potentials).labels)
    assert [score for _, score in Lattice(potentials).k_best(100)] == [0.0] * 81


def test_a_forced_label_conditions_on_it():
    potentials = chain(8, 4, 3, forbid=0.2)
    free, whole = Lattice(potentials), enumeration.probabilities(potentials)
    for t, s in np.ndindex(potentials.node.shape):
        if free.through[t, s] == -np.inf:
            with pytest.raises(LabSeqError, match="no labelling is allowed"):
                Lattice(forced(potentials, {t: s}))
            continue
        lattice = Lattice(forced(potentials, {t: s}))
        np.testing.assert_array_equal(lattice.labels, free.labels_through(t, s))
        assert lattice.best_score == pytest.approx(free.through[t, s])
        assert np.exp(lattice.log_partition - free.log_partition) == pytest.approx(free.marginals[t, s])
        given = {labels: p for labels, p in whole.items() if labels[t] == s}
        for u in range(4):
            expected = sum(p for labels, p in given.items() if labels[u] == lattice.labels[u]) / sum(given.values())
            assert lattice.marginals[u, lattice.labels[u]] == pytest.approx(expected)
        np.testing.assert_allclose(
            forward_backward(forced(potentials, {t: s})).node_marginals, lattice.marginals, **CLOSE
        )
    both = forced(potentials, {0: 0, 3: int(free.labels[3])})
    assert Lattice(both).labels[[0, 3]].tolist() == [0, free.labels[3]]
    assert np.isfinite(potentials.node).all(), "the given potentials stay as they are"


def test_long_sequences_and_extreme_scores():
    potentials = chain(2, 3000, 4)
    far = ChainPotentials(potentials.start, 300 * potentials.node, potentials.edge, potentials.stop)
    lattice = Lattice(far)
    np.testing.assert_array_equal(lattice.labels, viterbi(far).labels)
    np.testing.assert_allclose(lattice.log_partition, forward_backward(far).log_partition[0], rtol=1e-10)
    assert np.isfinite(lattice.marginals).all()
    assert path_scores(far, lattice.labels)[0] == pytest.approx(lattice.best_score, rel=1e-10)


def test_wrong_questions_are_answered_clearly():
    two = ChainPotentials(np.zeros(2), np.zeros((3, 2)), np.zeros((2, 2)), np.zeros(2), np.array([0, 1, 3]))
    lattice = Lattice(two[1])
    for ask, message in [
        (lambda: Lattice(two), "a lattice is of one sequence, here are 2"),
        (lambda: lattice.values("sideways"), "recursion is 'sideways'; choose one of forward, backward, viterbi"),
        (lambda: lattice.step("forward", 2, 0), "position is 2; the sequence has 2, from 0 on"),
        (lambda: lattice.labels_through(0, 2), "label is 2; there are 2, from 0 on"),
        (lambda: lattice.k_best(0), "k is 0; ask for at least one labelling"),
        (lambda: forced(two[1], {-1: 0}), "position is -1"),
        (lambda: forced(two[1], {0: 5}), "label is 5; there are 2"),
        (lambda: Lattice(forced(two[1], {0: 0})).labels_through(0, 1), "no allowed labelling has that label"),
    ]:
        with pytest.raises(LabSeqError, match=message):
            ask()
