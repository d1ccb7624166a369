"""Kernel expansions: scores by their definition, on both routes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labseq_core import LabSeqError
from labseq_core.chain.constraints import bio_constraints
from labseq_core.features import encode_attributes
from labseq_core.kernels import RBF, Linear, Normalized, Observations, Polynomial, TokenMatch
from labseq_core.scoring.kernel_expansion import KernelExpansion
from tests.examples import few
from tests.kernels.strategies import BINARY, WORDS, batches, kernels
from tests.kernels.test_kernels import with_named_words
from tests.reference import kernels as naive

SCORES = {"rtol": 1e-9, "atol": 1e-8}  # sums of a few dozen kernel values of up to 10^5
EXPLICIT = [Linear(), Polynomial(2), Polynomial(3, 0.5), TokenMatch(), Normalized(Polynomial(2)) + 2.0 * Linear()]


def coefficients(observations: Observations, n_labels: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    beta = rng.integers(-2, 3, size=(len(observations), n_labels)).astype(float)
    beta[rng.random(len(observations)) < 0.4] = 0.0
    return beta, rng.normal(size=(n_labels, n_labels))


@given(batches(), batches(), kernels, st.integers(1, 3), st.integers(0, 1000))
def test_scores_are_the_definition(train, new, kernel, n_labels, seed):
    if not with_named_words(train, kernel):
        return
    new, observations = new.with_vocabulary(train.vocabulary), Observations.of(train)
    beta, delta = coefficients(observations, n_labels, seed)
    known = naive.observations(train)
    firsts = [int(np.flatnonzero(observations.rows == row)[0]) for row in range(len(observations))]
    distinct = [known[first] for first in firsts]

    expansion = KernelExpansion.of(kernel, observations, beta, delta, eta=0.5)
    assert len(expansion.support) == np.count_nonzero(beta.any(axis=1))
    for encoded, tokens in ((new, naive.observations(new)), (train, known)):
        potentials = expansion.potentials(encoded)
        np.testing.assert_allclose(potentials.node, naive.gram(kernel, tokens, distinct) @ beta, **SCORES)
        np.testing.assert_array_equal(potentials.edge, 0.5 * delta)
        np.testing.assert_array_equal([potentials.start, potentials.stop], np.zeros((2, n_labels)))
        np.testing.assert_array_equal(potentials.offsets, encoded.offsets)


@pytest.mark.parametrize("kernel", EXPLICIT, ids=str)
@few
@given(train=batches(BINARY, WORDS), new=batches(), seed=st.integers(0, 1000))
def test_both_routes_give_the_same_scores(kernel, train, new, seed):
    observations, new = Observations.of(train), new.with_vocabulary(train.vocabulary)
    if observations.vectors.values.size:
        return
    beta, delta = coefficients(observations, 3, seed)
    by = {route: KernelExpansion.of(kernel, observations, beta, delta, route=route) for route in ("gram", "explicit")}
    for encoded in (train, new):
        one, other = by["gram"].potentials(encoded), by["explicit"].potentials(encoded)
        np.testing.assert_allclose(one.node, other.node, **SCORES)


def test_constraints_forbid():
    encoded = encode_attributes([["a", "b"]])
    observations = Observations.of(encoded)
    constraints = bio_constraints(["B-X", "I-X", "O"])
    expansion = KernelExpansion.of(Linear(), observations, np.ones((2, 3)), np.ones((3, 3)), constraints=constraints)
    potentials = expansion.potentials(encoded)
    np.testing.assert_array_equal(potentials.start, [0.0, -np.inf, 0.0])
    assert potentials.edge[2, 1] == -np.inf
    assert potentials.edge[0, 1] == 1.0


def test_prediction_stays_within_its_memory():
    encoded = encode_attributes([[{"x": float(n), "y": 1.0} for n in range(50)]])
    observations = Observations.of(encoded)
    beta = np.ones((50, 2))
    with pytest.raises(LabSeqError, match=r"need at least .* raise memory"):
        KernelExpansion.of(RBF(1.0), observations, beta, np.zeros((2, 2)), memory=100).potentials(encoded)


def test_a_choice_that_depends_on_the_expansion_alone():
    """Few support observations with many attributes: kernel values; many with few: explicit features."""
    wide = encode_attributes([[[f"a{n}" for n in range(40)], [f"a{n}" for n in range(20, 60)]]])
    narrow = encode_attributes([[[f"a{n}", "b"] for n in range(300)]])
    for encoded, explicit in ((wide, False), (narrow, True)):
        observations = Observations.of(encoded)
        beta = np.ones((len(observations), 2))
        expansion = KernelExpansion.of(Polynomial(2), observations, beta, np.zeros((2, 2)))
        assert (expansion._explicit is not None) == explicit
        alone = np.concatenate(
            [expansion.potentials(encode_attributes([x], encoded.vocabulary)).node for x in [*encoded.attributes()]]
        )
        np.testing.assert_array_equal(alone, expansion.potentials(encoded).node)
    few = KernelExpansion.of(Polynomial(2), observations, beta, np.zeros((2, 2)), memory=1000)
    assert few._explicit is None
