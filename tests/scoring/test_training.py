"""What all twins of models promise: the gradient is the transpose of potentials, and a direction is their derivative."""

import numpy as np
import pytest

from labseq_core.chain.constraints import Constraints
from labseq_core.features import encode_attributes
from labseq_core.kernels import Gram, Observations, Polynomial
from labseq_core.scoring.kernel_features import DenseFeatures, ExplicitFeatures, FeatureScoring
from labseq_core.scoring.kernel_training import KernelScoring
from labseq_core.scoring.linear import LinearScoring
from labseq_core.scoring.training import TrainingScores
from tests.scoring.test_linear import random_statistics

SUM = {"rtol": 1e-9, "atol": 1e-9}  # of a few hundred terms of up to 10
N_LABELS, ETA = 3, 0.6


def made(kind: str, constraints: Constraints | None = None) -> TrainingScores:
    encoded = encode_attributes([[["a", "b"], ["c"]], [{"b": 0.5, "d": -1.5}, ["a"], ["c", "a", "d"], ["c"]]])
    if kind == "linear":
        return LinearScoring(encoded, N_LABELS, True, constraints)
    observations = Observations.of(encoded)
    gram, shared = Gram(Polynomial(2), observations), (encoded.offsets, N_LABELS, ETA, constraints)
    if kind == "gram":
        return KernelScoring(gram, *shared)
    dense = np.linalg.cholesky(gram.product(np.eye(len(gram))) + 1e-9 * np.eye(len(gram)))
    features = DenseFeatures(dense) if kind == "dense" else ExplicitFeatures(Polynomial(2), observations)
    return FeatureScoring(features, observations.rows, *shared)


def random_vector(twin: TrainingScores, rng: np.random.Generator) -> np.ndarray:
    vector = twin.weights().flat if isinstance(twin, LinearScoring) else twin.zeros()
    vector[:] = rng.normal(size=vector.size)
    if isinstance(twin, KernelScoring):
        (beta, delta), (image, pairs) = twin.coefficients(vector), twin.images(vector)
        image[:], pairs[:] = twin.gram.product(beta), twin.eta * delta
    return vector


def potentials(twin: TrainingScores, vector: np.ndarray):
    return twin.potentials(twin.weights(vector) if isinstance(twin, LinearScoring) else vector)


def inner(one, other) -> float:
    return sum(float(np.sum(getattr(one, part) * getattr(other, part))) for part in ("start", "node", "edge", "stop"))


KINDS = {"linear": LinearScoring, "gram": KernelScoring, "explicit": FeatureScoring, "dense": FeatureScoring}


def test_all_twins_are_here():
    assert set(KINDS.values()) == set(TrainingScores.__subclasses__())


@pytest.mark.parametrize("kind", KINDS)
def test_the_gradient_is_the_transpose_of_potentials(kind):
    rng, twin = np.random.default_rng(1), made(kind)
    encoded = made("linear").encoded
    for _ in range(5):
        vector, statistics = random_vector(twin, rng), random_statistics(encoded, N_LABELS, rng)
        gradient, scores = twin.gradient(statistics), potentials(twin, vector)
        assert gradient.shape == vector.shape
        # That of functions in a kernel is taken with the image of the other one.
        size = twin.size if kind == "gram" else 0
        back = float(gradient[: gradient.size - size] @ vector[size:])
        np.testing.assert_allclose(inner(scores, statistics), back, **SUM)
        if kind != "linear":
            direction = twin.direction(vector)
            np.testing.assert_allclose(inner(direction, statistics), back, **SUM)


@pytest.mark.parametrize("kind", KINDS)
def test_potentials_are_arrays_of_their_own(kind):
    rng, twin = np.random.default_rng(2), made(kind)
    vector = random_vector(twin, rng)
    first = potentials(twin, vector)
    parts = first.start, first.node, first.edge, first.stop
    kept = [part.copy() for part in parts]
    vector[:] = random_vector(twin, rng)
    potentials(twin, vector)
    for before, now in zip(kept, parts):
        np.testing.assert_array_equal(now, before)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_forbidden_stays_so(kind):
    no_second = np.array([False, True, False])
    twin = made(kind, Constraints(np.tile(no_second, (N_LABELS, 1)), no_second))
    found = potentials(twin, random_vector(twin, np.random.default_rng(3)))
    assert (found.start[1], *found.edge[:, 1]) == (-np.inf,) * 4
    assert np.isfinite(found.edge[:, [0, 2]]).all()
