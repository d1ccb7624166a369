"""Products through explicit features are those with the Gram matrix, written out."""

import numpy as np
import pytest

from labseq_core.features import encode_attributes
from labseq_core.kernels import Gram, Linear, Normalized, Observations, Polynomial
from labseq_core.scoring.kernel_features import FEW_ROWS, FeatureGram
from tests.reference import kernels as naive

SUM = {"rtol": 1e-10, "atol": 1e-9}
KERNELS = [Linear(), Polynomial(2), Polynomial(3, 0.5), Normalized(Polynomial(2)) + 0.3 * Linear()]


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("way", [Gram, FeatureGram])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_products_of_rows(kernel, way, real):
    if real and kernel == Polynomial(3, 0.5):
        kernel = Polynomial(2, 0.5)  # real values have explicit features up to degree 2
    rng = np.random.default_rng(0)
    tokens = [{f"a{a}": float(rng.normal()) if real else 1.0 for a in rng.choice(30, size=4)} for _ in range(150)]
    encoded = encode_attributes([[*tokens, {}, {"once": 1.0, "too": 1.0}]])
    observations = Observations.of(encoded)
    gram, n = way(kernel, observations), len(observations)
    distinct = naive.observations(observations.as_sequences())
    whole, beta = naive.gram(kernel, distinct, distinct), rng.normal(size=(n, 3))
    np.testing.assert_allclose(gram.product(beta), whole @ beta, **SUM)
    for count in (0, 3, FEW_ROWS + 9):
        ids = rng.integers(n, size=count)  # some twice
        np.testing.assert_allclose(gram.row_products(ids, beta), whole[ids] @ beta, **SUM)
        scores, change = rng.normal(size=(3, n)), rng.normal(size=(count, 3))
        expected = scores + change.T @ whole[ids]
        gram.add_rows(scores, ids, change)
        np.testing.assert_allclose(scores, expected, **SUM)


def test_products_of_more_rows_than_can_be_kept():
    rng = np.random.default_rng(1)
    tokens = [{f"a{a}": float(rng.normal()) for a in rng.choice(60, size=5)} for _ in range(800)]
    observations = Observations.of(encode_attributes([tokens]))
    everything, part = Gram(Polynomial(2), observations), Gram(Polynomial(2), observations, memory=2**21)
    assert not part.is_whole
    beta, ids = rng.normal(size=(len(observations), 2)), rng.permutation(len(observations))
    np.testing.assert_allclose(part.row_products(ids, beta), everything.product(beta)[ids], **SUM)
