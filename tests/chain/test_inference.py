"""The chain layer against enumeration of all labellings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labseq_core.chain import (
    ChainPotentials,
    forward_backward,
    k_best,
    max_marginals,
    path_scores,
    path_statistics,
    viterbi,
)
from labseq_core.chain.recursions import batch
from labseq_core.checks import LabSeqError
from labseq_core.compiling.routines import parallel_from
from tests.examples import few, many
from tests.reference import enumeration
from tests.reference.strategies import join, single_chains

# Probabilities to twelve digits; scores up to 1e5 in size have an absolute rounding error of about 1e-11 a term.
PROBABILITY = {"rtol": 1e-9, "atol": 1e-11}
SCORE = {"rtol": 1e-12, "atol": 1e-9}


def possible(chain: ChainPotentials) -> bool:
    return bool(enumeration.best_scores(chain))


@many
@given(single_chains())
def test_every_routine_equals_enumeration(chain):
    if not possible(chain):
        for routine in (forward_backward, viterbi, max_marginals, lambda c: k_best(c, 2)):
            with pytest.raises(LabSeqError, match="sequence 0 has no allowed labelling"):
                routine(chain)
        return
    best = enumeration.best_scores(chain)
    posterior = forward_backward(chain)
    node, edge = enumeration.marginals(chain)
    np.testing.assert_allclose(posterior.log_partition[0], enumeration.log_partition(chain), **SCORE)
    np.testing.assert_allclose(posterior.node_marginals, node, **PROBABILITY)
    expected_edge = edge if chain.edge_stride else edge.sum(axis=0)
    np.testing.assert_allclose(posterior.statistics.edge, expected_edge, **PROBABILITY)
    np.testing.assert_allclose(posterior.statistics.start, node[0], **PROBABILITY)
    np.testing.assert_allclose(posterior.statistics.stop, node[-1], **PROBABILITY)

    top = viterbi(chain)
    np.testing.assert_allclose(top.scores[0], best[0], **SCORE)
    np.testing.assert_allclose(enumeration.score(chain, tuple(top.labels)), best[0], **SCORE)
    np.testing.assert_allclose(max_marginals(chain), enumeration.max_marginals(chain), **SCORE)


@many
@given(single_chains(), st.integers(1, 12))
def test_k_best_lists_distinct_labellings_in_order(chain, k):
    if not possible(chain):
        return
    best = enumeration.best_scores(chain)
    found = k_best(chain, k)[0]
    assert len(found) == min(k, len(best))
    np.testing.assert_allclose([score for _, score in found], best[:k], **SCORE)
    assert len({tuple(labels) for labels, _ in found}) == len(found)
    for labels, score in found:
        np.testing.assert_allclose(enumeration.score(chain, tuple(labels)), score, **SCORE)
    assert tuple(found[0][0]) == tuple(viterbi(chain).labels)


@given(st.data(), st.sampled_from([2, 5, 6, 33, 40]))
def test_a_batch_equals_its_sequences_one_by_one(data, n):
    first = data.draw(single_chains(forbid=False))
    first = ChainPotentials(first.start, first.node, first.edge[-1] if first.edge_stride else first.edge, first.stop)
    rng = np.random.default_rng(n)
    chains = [first]
    for _ in range(n - 1):
        node = rng.normal(size=(rng.integers(1, 6), first.n_labels))
        chains.append(ChainPotentials(first.start, node, first.edge, first.stop))
    whole = join(chains)
    posterior = forward_backward(whole)
    alone = [forward_backward(chain) for chain in chains]
    np.testing.assert_allclose(posterior.log_partition, [p.log_partition[0] for p in alone], **SCORE)
    np.testing.assert_allclose(
        posterior.node_marginals, np.concatenate([p.node_marginals for p in alone]), **PROBABILITY
    )
    np.testing.assert_allclose(posterior.statistics.edge, sum(p.statistics.edge for p in alone), **PROBABILITY)
    np.testing.assert_array_equal(viterbi(whole).labels, np.concatenate([viterbi(c).labels for c in chains]))
    for index, chain in enumerate(chains):
        np.testing.assert_array_equal(whole[index].node, chain.node)
    # One edge matrix per position gives the same sums.
    spread = forward_backward(whole.with_edge_per_position())
    np.testing.assert_allclose(spread.statistics.edge.sum(axis=0), posterior.statistics.edge, **PROBABILITY)


@given(single_chains(max_length=4), st.integers(6, 40), st.integers(0, 99))
def test_many_sequences_in_lockstep_equal_enumeration(first, n, seed):
    """Groups with every kind of lane: short and long, forbidden, huge, impossible ones left out."""
    edge = first.edge[-1] if first.edge_stride else first.edge
    rng = np.random.default_rng(seed)
    chains = []
    while len(chains) < n:
        size = rng.choice([1.0, 50.0, 1e4])
        node = size * rng.normal(size=(rng.integers(1, 5), first.n_labels))
        node[rng.random(node.shape) < 0.1] = -np.inf
        chain = ChainPotentials(first.start, node, edge, first.stop)
        if possible(chain):
            chains.append(chain)
        elif rng.random() < 0.05:
            return  # start, edge and stop may allow nothing at all
    whole = join(chains)
    posterior = forward_backward(whole)
    expected = [enumeration.marginals(chain) for chain in chains]
    np.testing.assert_allclose(posterior.log_partition, [enumeration.log_partition(c) for c in chains], **SCORE)
    np.testing.assert_allclose(posterior.node_marginals, np.concatenate([node for node, _ in expected]), **PROBABILITY)
    edges = sum(pairs.sum(axis=0) for _, pairs in expected)
    np.testing.assert_allclose(posterior.statistics.edge, edges, rtol=1e-8, atol=1e-10)


@given(single_chains(), st.randoms(use_true_random=False))
def test_path_scores_and_statistics(chain, random):
    labels = np.array([random.randrange(chain.n_labels) for _ in range(len(chain.node))])
    expected = enumeration.score(chain, tuple(labels))
    np.testing.assert_allclose(path_scores(chain, labels)[0], expected, **SCORE)
    statistics = path_statistics(chain, labels)
    if expected > -np.inf:
        parts = [(statistics.start, chain.start), (statistics.node, chain.node), (statistics.edge, chain.edge)]
        parts.append((statistics.stop, chain.stop))
        product = sum(np.sum(np.where(s > 0, p, 0.0) * s) for s, p in parts)
        np.testing.assert_allclose(product, expected, **SCORE)


def test_long_sequences_with_many_labels_and_huge_scores():
    """l = 10 000, S = 50: finite, consistent, and the scaled and the logarithmic recursion agree."""
    rng = np.random.default_rng(0)
    length, n_labels = 10_000, 50
    edge = rng.normal(size=(n_labels, n_labels))
    zero = np.zeros(n_labels)
    for size, log_domain in ((1.0, False), (1e4, True)):
        node = size * rng.uniform(-1, 1, size=(length, n_labels))
        chain = ChainPotentials(zero, node, edge, zero)
        posterior = forward_backward(chain)
        assert bool(posterior.in_log_domain[0]) is log_domain
        np.testing.assert_allclose(posterior.node_marginals.sum(axis=1), 1.0, rtol=1e-9)
        np.testing.assert_allclose(posterior.statistics.edge.sum(), length - 1, rtol=1e-9)
        best = viterbi(chain)
        assert best.scores[0] <= posterior.log_partition[0] * (1 + 1e-12)
        np.testing.assert_allclose(path_scores(chain, best.labels), best.scores, rtol=1e-12)
        np.testing.assert_allclose(max_marginals(chain).max(axis=1), best.scores[0], rtol=1e-12)
    # The same chain through the other recursion: one far-away but irrelevant label pushes it out of the scaled range.
    node = rng.uniform(-1, 1, size=(2000, 4))
    edge = rng.normal(size=(4, 4))
    scaled = forward_backward(ChainPotentials(zero[:4], node, edge, zero[:4]))
    wider = np.full((2000, 5), -400.0)
    wider[:, :4] = node
    wider_edge = np.pad(edge, ((0, 1), (0, 1)))
    logarithmic = forward_backward(ChainPotentials(zero[:5], wider, wider_edge, zero[:5]))
    assert not scaled.in_log_domain[0]
    assert logarithmic.in_log_domain[0]
    np.testing.assert_allclose(logarithmic.node_marginals[:, :4], scaled.node_marginals, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(logarithmic.log_partition, scaled.log_partition, rtol=1e-12)


def test_underflow_behind_forbidden_transitions_is_not_lost():
    """All weight sits on label 0 until the end, where only label 1 may stop; 1 can only be reached by staying in 1."""
    length = 60
    node = np.zeros((length, 2))
    node[:, 0] = 20.0  # by the end label 1 has a relative weight of e^-1200: below any float
    edge = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    chain = ChainPotentials(np.zeros(2), node, edge, np.array([-np.inf, 0.0]))
    posterior = forward_backward(chain)
    np.testing.assert_allclose(posterior.node_marginals, np.tile([0.0, 1.0], (length, 1)), atol=1e-300)
    np.testing.assert_allclose(posterior.log_partition, 0.0, atol=1e-9)


def test_results_do_not_depend_on_threads():
    """Each batch loop gives the same bits on one thread and on several."""
    rng = np.random.default_rng(1)
    offsets = np.cumsum([0, *rng.integers(1, 30, size=200)])
    node = rng.normal(size=(offsets[-1], 6))
    chain = ChainPotentials(rng.normal(size=6), node, rng.normal(size=(6, 6)), rng.normal(size=6), offsets)
    routines = (forward_backward, viterbi, max_marginals, lambda c: k_best(c, 3))
    serial = [routine(chain) for routine in routines]
    with parallel_from(0):
        parallel = [routine(chain) for routine in routines]
    np.testing.assert_array_equal(parallel[0].statistics.edge, serial[0].statistics.edge)
    np.testing.assert_array_equal(parallel[0].node_marginals, serial[0].node_marginals)
    np.testing.assert_array_equal(parallel[1].labels, serial[1].labels)
    np.testing.assert_array_equal(parallel[2], serial[2])
    assert [[s for _, s in one] for one in parallel[3]] == [[s for _, s in one] for one in serial[3]]


def test_each_routine_has_one_signature():
    """A second signature means that an array reached the compiled code in another layout or type."""
    test_results_do_not_depend_on_threads()
    for name, routine in vars(batch).items():
        if name.endswith("_batch"):
            assert len(routine.serial.signatures) <= 1, name
    assert len(batch.lockstep_batch.serial.signatures) == 1


@few
@given(single_chains(max_length=4))
def test_the_compiled_routine_is_its_python_source(chain):
    if not possible(chain):
        return
    chunks = batch.chunk_bounds(chain.offsets)
    arguments = (chain.start, chain.node, chain.edge_matrices, chain.stop, chain.offsets, chunks, chain.edge_stride)
    labels, scores = np.empty(len(chain.node), dtype=np.int64), np.empty(1)
    batch.viterbi_batch.py_func(0, chunks.size - 1, *arguments, labels, scores)
    np.testing.assert_array_equal(labels, viterbi(chain).labels)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"node": np.array([[0.0, np.nan]])}, "node contains NaN or"),
        ({"start": np.zeros(3)}, r"start has shape \(3,\), expected \(2\)"),
        ({"edge": np.zeros((2, 3))}, "edge has shape"),
        ({"edge": np.full((2, 2), np.inf)}, "edge contains NaN or"),
        ({"offsets": [0, 0, 1]}, "sequence 0 is empty"),
        ({"offsets": [0, 2]}, "offsets must run from 0"),
    ],
)
def test_bad_potentials_are_named(change, message):
    good = {"start": np.zeros(2), "node": np.zeros((1, 2)), "edge": np.zeros((2, 2)), "stop": np.zeros(2)}
    with pytest.raises(LabSeqError, match=message):
        ChainPotentials(**(good | change))


def test_an_empty_batch_is_fine():
    chain = ChainPotentials(np.zeros(2), np.zeros((0, 2)), np.zeros((2, 2)), np.zeros(2), [0])
    assert forward_backward(chain).log_partition.size == 0
    assert viterbi(chain).labels.size == 0
    assert k_best(chain, 3) == []
    assert max_marginals(chain).shape == (0, 2)


def test_one_impossible_sequence_in_a_batch_is_named():
    node = np.zeros((4, 2))
    node[2] = -np.inf
    chain = ChainPotentials(np.zeros(2), node, np.zeros((2, 2)), np.zeros(2), [0, 2, 3, 4])
    with pytest.raises(LabSeqError, match="sequence 1 has no allowed labelling"):
        forward_backward(chain)


def test_nonsense_k_is_refused():
    chain = ChainPotentials(np.zeros(2), np.zeros((1, 2)), np.zeros((2, 2)), np.zeros(2))
    with pytest.raises(LabSeqError, match="k is 0"):
        k_best(chain, 0)
    assert len(k_best(chain, 10**9)[0]) == 2
