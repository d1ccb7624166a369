"""Steps of perceptrons against Ψ(x, y*) - Ψ(x, y) by the transpose of scoring, with their sums."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from labseq_core.chain import path_statistics
from labseq_core.features import encode_attributes
from labseq_core.scoring import labelling_differences as module
from labseq_core.scoring.linear import LinearScoring
from tests.scoring.test_linear import SUM, batches

ETA = 0.5


@given(batches, st.integers(1, 4), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_a_step_is_the_difference_of_features(X, n_labels, step, seed):
    rng, encoded = np.random.default_rng(seed), encode_attributes(X)
    scoring = LinearScoring(encoded, n_labels, start_stop=True)
    truth, guess = rng.integers(n_labels, size=(2, encoded.n_positions))
    scale = rng.random(encoded.n_attributes)
    nothing = scoring.potentials(scoring.weights())
    features = [scoring.gradient(path_statistics(nothing, labels)) for labels in (truth, guess)]
    expected = scoring.weights(features[0] - features[1])
    # As `compiled` has them, and as they are written.
    for routines in (vars(module), {name: getattr(each, "py_func", each) for name, each in vars(module).items()}):
        weights, sums, scaled, edge = scoring.weights(), scoring.weights(), scoring.weights(), np.zeros((n_labels,) * 2)
        wrong = 0
        for begin, end in zip(encoded.offsets[:-1], encoded.offsets[1:]):
            right, other, arrays = truth[begin:end], guess[begin:end], (encoded.indptr, encoded.indices, encoded.values)
            wrong += routines["add_attribute_difference"](
                *arrays, np.empty(0), begin, right, other, weights.node, sums.node, step
            )
            routines["add_attribute_difference"](
                *arrays, scale, begin, right, other, scaled.node, np.empty((0, 0)), step
            )
            routines["add_pair_difference"](right, other, weights.edge, sums.edge, step, ETA, edge)
            routines["add_end_difference"](right[0], other[0], weights.start, sums.start, step)
            routines["add_end_difference"](right[-1], other[-1], weights.stop, sums.stop, step)
        assert wrong == np.count_nonzero(truth != guess)
        np.testing.assert_allclose(weights.flat, expected.flat, **SUM)
        np.testing.assert_allclose(sums.flat, step * expected.flat, **SUM)
        np.testing.assert_allclose(scaled.node, scale[:, np.newaxis] * expected.node, **SUM)
        np.testing.assert_array_equal(edge, ETA * weights.edge)


def test_a_forbidden_pair_stays_so():
    edge, pairs, sums = np.zeros((2, 2)), np.zeros((2, 2)), np.zeros((2, 2))
    edge[1, 0] = -np.inf
    module.add_pair_difference(np.array([0, 1]), np.array([0, 0]), pairs, sums, 3, 2.0, edge)
    assert edge.tolist() == [[-2.0, 2.0], [-np.inf, 0.0]]
    assert sums.tolist() == [[-3.0, 3.0], [0.0, 0.0]]
