"""Pivoted Cholesky against the whole Gram matrix."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from labseq_core.features import encode_attributes
from labseq_core.kernels import RBF, Gram, Linear, Normalized, Observations, Polynomial, TokenMatch, pivoted_cholesky
from tests.kernels.strategies import batches

EXACT = 1e-9  # of the largest kernel value
KERNELS = [
    Linear(), Polynomial(2), Polynomial(3, 0.5), RBF(0.3), RBF(4.0), TokenMatch(), Normalized(Polynomial(2)) + 0.25 * RBF(1.0),
]  # fmt: skip


@given(batches(), st.sampled_from(KERNELS), st.integers(1, 30))
def test_what_is_left_is_positive_and_its_diagonal_is_known(encoded, kernel, rank):
    observations = Observations.of(encoded)
    gram = Gram(kernel, observations).product(np.eye(len(observations)))
    found = pivoted_cholesky(kernel, observations, rank)
    size = max(float(np.abs(gram).max()), 1e-300)
    left = (gram - found.factor @ found.factor.T) / size
    assert found.rank <= min(rank, len(observations))
    assert len(set(found.pivots.tolist())) == found.rank
    np.testing.assert_allclose(np.diag(left), found.rest / size, atol=EXACT)
    assert np.linalg.eigvalsh(left).min() > -1e-6
    if rank >= len(observations):
        np.testing.assert_allclose(left, 0.0, atol=1e-6)
    # A function of the span is an expansion in the pivots.
    weights = np.random.default_rng(0).normal(size=(found.rank, 2))
    scores = gram[:, found.pivots] @ found.expansion_of(weights)
    condition = np.linalg.cond(found.factor[found.pivots]) if found.rank else 1.0
    np.testing.assert_allclose(scores, found.factor @ weights, atol=1e-12 * condition * np.sqrt(size) + 1e-12)


def test_it_can_be_stopped():
    observations = Observations.of(encode_attributes([[{"x": float(value)} for value in range(10)]]))
    told = []
    found = pivoted_cholesky(RBF(1.0), observations, 8, lambda done: told.append(done) or len(told) < 3)
    assert found.rank == 3
    assert told == [1 / 8, 2 / 8, 3 / 8]
