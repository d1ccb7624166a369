"""Scores of kernel expansions while they are fitted are those of the expansion itself; the way back is the transpose."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from labseq_core.chain import ChainStatistics
from labseq_core.features import encode_attributes
from labseq_core.kernels import Gram, Observations, Polynomial
from labseq_core.scoring.kernel_expansion import KernelExpansion
from labseq_core.scoring.kernel_training import (
    CrossKernelScores,
    GrowingExpansion,
    KernelScoring,
    RunningKernelScores,
    read_scores,
)
from tests.kernels.strategies import batches, kernels
from tests.kernels.test_kernels import with_named_words
from tests.scoring.test_kernel_expansion import SCORES, coefficients


@given(batches(), batches(), kernels, st.integers(1, 3), st.integers(0, 1000))
def test_scores_are_those_of_the_expansion(train, new, kernel, n_labels, seed):
    """At once, and part by part."""
    if not with_named_words(train, kernel):
        return
    new, observations = new.with_vocabulary(train.vocabulary), Observations.of(train)
    beta, delta = coefficients(observations, n_labels, seed)
    expansion = KernelExpansion.of(kernel, observations, beta, delta, eta=0.5)
    scoring = KernelScoring(Gram(kernel, observations), train.offsets, n_labels, eta=0.5)
    vector = scoring.zeros()
    scoring.coefficients(vector)[0][:], scoring.coefficients(vector)[1][:] = beta, delta
    scoring.images(vector)[0][:] = scoring.gram.product(beta)

    running, growing = RunningKernelScores(scoring.gram, train.offsets, n_labels), GrowingExpansion(scoring)
    elsewhere = CrossKernelScores(growing, new, 2**30)
    for number, part in enumerate(np.array_split(np.arange(len(observations)), 3)):
        running.update(part, beta[part])
        for twin in (growing, elsewhere):
            twin.update(part, beta[part], delta * (number == 1))
    at_once = scoring.potentials(vector)
    for found, encoded in (
        (at_once, train),
        (running.potentials(0.5 * delta), train),
        (growing.potentials(), train),
        (elsewhere.potentials(), new),
    ):
        expected = expansion.potentials(encoded)
        np.testing.assert_allclose(found.node, expected.node, **SCORES)
        np.testing.assert_array_equal(found.edge, expected.edge)
        np.testing.assert_array_equal(found.offsets, expected.offsets)
    norm = np.sum(beta * scoring.gram.product(beta)) + 0.5 * np.sum(delta**2)
    np.testing.assert_allclose(growing.squared_norm, norm, rtol=1e-9, atol=1e-6)

    node = np.empty((train.n_positions, n_labels))
    read_scores.py_func(running.by_label, observations.rows, node)
    np.testing.assert_array_equal(node, running.potentials().node)


@given(batches(), kernels, st.integers(1, 3), st.integers(0, 1000))
def test_the_way_back_is_the_transpose_in_the_inner_product_of_the_kernel(train, kernel, n_labels, seed):
    """<G β, s> over positions = <β, b>_G, b the coefficients of the statistics s."""
    if not with_named_words(train, kernel):
        return
    observations = Observations.of(train)
    beta, delta = coefficients(observations, n_labels, seed)
    scoring = KernelScoring(Gram(kernel, observations), train.offsets, n_labels)
    rng = np.random.default_rng(seed)
    node, edge = rng.normal(size=(train.n_positions, n_labels)), rng.normal(size=(n_labels, n_labels))
    gradient = scoring.gradient(ChainStatistics(np.zeros(n_labels), node, edge, np.zeros(n_labels)))
    back, pairs = scoring.coefficients(gradient)
    forward = np.sum(scoring.potentials_at(scoring.gram.product(beta), delta).node * node)
    np.testing.assert_allclose(np.sum(beta * scoring.gram.product(back)), forward, rtol=1e-8, atol=1e-6)
    np.testing.assert_array_equal(pairs, edge)


def test_what_a_function_goes_through():
    """Updates, extrapolation, the way back and scaling, against the same done to coefficients."""
    rng = np.random.default_rng(0)
    encoded = encode_attributes([[["a", "b"], ["c"]], [["b", "c"], ["a"], ["c", "a", "d"]]])
    gram = Gram(Polynomial(2), Observations.of(encoded))
    scores, beta, before = RunningKernelScores(gram, encoded.offsets, 3), np.zeros((len(gram), 3)), 0.0

    def assert_same() -> None:
        np.testing.assert_allclose(scores.by_label.T, gram.product(beta), rtol=1e-12, atol=1e-12)

    for share in (0.0, 0.7):
        ids, change = np.array([3, 0]), rng.normal(size=(2, 3))
        scores.update(ids, change)
        beta[ids] += change
        assert_same()
        scores.extrapolate(share)
        beta, before = beta + share * (beta - before), beta.copy()
        assert_same()
    scores.scale(2.5)
    beta, before = 2.5 * beta, 2.5 * before
    assert_same()
    scores.take_back()
    beta = before
    assert_same()
    scores.by_label[:] = np.nan
    scores.refresh(beta)
    assert_same()
