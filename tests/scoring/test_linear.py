"""Linear scoring against dense matrices, its transpose, and both of its compiled twins."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labseq_core import LabSeqError
from labseq_core.chain import ChainStatistics
from labseq_core.compiling.routines import parallel_from
from labseq_core.features import EncodedSequences, encode_attributes
from labseq_core.losses import log_loss
from labseq_core.scoring.linear import LinearScoring, LinearWeights, RunningWeights
from labseq_core.scoring.sparse_products import collect_batch, score_batch
from tests.reference.features import dense

# Sums of at most a few dozen terms of size about one.
SUM = {"rtol": 1e-12, "atol": 1e-12}


def random_statistics(encoded: EncodedSequences, n_labels: int, rng: np.random.Generator) -> ChainStatistics:
    shapes = (n_labels,), (encoded.n_positions, n_labels), (n_labels, n_labels), (n_labels,)
    return ChainStatistics(*(rng.normal(size=shape) for shape in shapes))


names = st.sampled_from("abcdefgh")
binary = st.lists(names, max_size=5)
real = st.dictionaries(names, st.floats(-3, 3), max_size=5)
batches = st.one_of(
    *(st.lists(st.lists(token, min_size=1, max_size=4), min_size=1, max_size=5) for token in (binary, real))
)


@given(batches, st.integers(1, 4), st.booleans(), st.integers(0, 2**32 - 1))
def test_potentials_and_gradient_are_dense_products(X, n_labels, start_stop, seed):
    rng = np.random.default_rng(seed)
    encoded = encode_attributes(X)
    scoring = LinearScoring(encoded, n_labels, start_stop)
    weights = scoring.weights(rng.normal(size=scoring.weights().flat.size))
    potentials = scoring.potentials(weights)
    matrix = dense(encoded)
    np.testing.assert_allclose(potentials.node, matrix @ weights.node, **SUM)
    np.testing.assert_array_equal(potentials.edge, weights.edge)
    np.testing.assert_array_equal(potentials.offsets, encoded.offsets)

    statistics = random_statistics(encoded, n_labels, rng)
    gradient = scoring.gradient(statistics)
    np.testing.assert_allclose(scoring.weights(gradient).node, matrix.T @ statistics.node, **SUM)
    squares = scoring.weights(scoring.diagonal(statistics)).node
    np.testing.assert_allclose(squares, (matrix * matrix).T @ statistics.node, **SUM)
    # The adjoint: <Xw, s> = <w, X's>.
    parts = [(potentials.node, statistics.node), (potentials.edge, statistics.edge)]
    parts += [(potentials.start, statistics.start), (potentials.stop, statistics.stop)]
    forward = sum(float(np.sum(score * statistic)) for score, statistic in parts)
    np.testing.assert_allclose(forward, weights.flat @ gradient, **SUM)


@given(batches, st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_scores_follow_single_weights(X, n_labels, seed):
    rng, encoded = np.random.default_rng(seed), encode_attributes(X)
    scoring = LinearScoring(encoded, n_labels)
    weights = scoring.weights(rng.normal(size=scoring.weights().flat.size))
    running = RunningWeights(scoring.potentials(weights), encoded.n_attributes, scoring.entries_of)
    for feature, step in zip(rng.integers(weights.flat.size, size=9).tolist(), rng.normal(size=9).tolist()):
        running.update(feature, step)
        weights.flat[feature] += step
    anew = scoring.potentials(weights)
    np.testing.assert_allclose(running.potentials().node, anew.node, **SUM)
    np.testing.assert_allclose(running.potentials().edge, anew.edge, **SUM)


def test_start_and_stop_are_zero_unless_asked_for():
    encoded = encode_attributes([["a", "b"]])
    without, with_them = LinearScoring(encoded, 3), LinearScoring(encoded, 3, start_stop=True)
    assert without.weights().flat.size == 2 * 3 + 9
    assert with_them.weights().flat.size == 2 * 3 + 9 + 6
    flat = np.arange(21.0)
    potentials = with_them.potentials(with_them.weights(flat))
    np.testing.assert_array_equal(potentials.start, [15.0, 16.0, 17.0])
    np.testing.assert_array_equal(potentials.stop, [18.0, 19.0, 20.0])
    plain = without.potentials(without.weights(flat[:15]))
    np.testing.assert_array_equal([plain.start, plain.stop], np.zeros((2, 3)))


def test_weights_are_views_of_one_vector():
    weights = LinearWeights.zeros(2, 3, True)
    weights.node[1, 2], weights.edge[0, 1], weights.start[0], weights.stop[2] = 1.0, 2.0, 3.0, 4.0
    assert weights.flat[weights.flat != 0].tolist() == [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(LabSeqError, match="a weight vector has 3 entries, expected 21"):
        LinearWeights.of(np.zeros(3), 2, 3, True)


def test_a_second_call_does_not_change_the_first_result():
    """Arrays may be reused inside, but what was handed out must stay as it was."""
    rng = np.random.default_rng(0)
    encoded = encode_attributes([["a", "b", "a"], ["c"]])
    scoring = LinearScoring(encoded, 2)
    statistics = [random_statistics(encoded, 2, rng) for _ in range(2)]
    first = scoring.gradient(statistics[0])
    kept = first.copy()
    scoring.gradient(statistics[1])
    np.testing.assert_array_equal(first, kept)


def test_no_attributes_and_no_sequences():
    nothing = LinearScoring(encode_attributes([[[], []]]), 2)
    assert nothing.potentials(nothing.weights()).node.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    statistics = ChainStatistics(np.ones(2), np.ones((2, 2)), np.full((2, 2), 3.0), np.ones(2))
    assert nothing.gradient(statistics).tolist() == [3.0] * 4
    empty = LinearScoring(encode_attributes([]), 2)
    assert empty.potentials(empty.weights()).node.shape == (0, 2)


@pytest.mark.parametrize("real_valued", [False, True])
def test_main_thread_and_other_threads_give_the_same_bits(real_valued):
    """The parallel twin runs on the main thread, the serial one elsewhere."""
    rng = np.random.default_rng(4)
    attributes = [f"a{number}" for number in range(300)]

    def token():
        chosen = rng.choice(attributes, size=rng.integers(0, 12), replace=False).tolist()
        return dict(zip(chosen, rng.normal(size=len(chosen)))) if real_valued else chosen

    encoded = encode_attributes([[token() for _ in range(rng.integers(1, 20))] for _ in range(150)])
    assert bool(encoded.values.size) is real_valued
    labels = rng.integers(5, size=encoded.n_positions)
    flat = rng.normal(size=encoded.n_attributes * 5 + 25)

    def compute() -> list[np.ndarray]:
        scoring = LinearScoring(encoded, 5)
        potentials = scoring.potentials(scoring.weights(flat))
        value, statistics = log_loss(potentials, labels)
        return [potentials.node, np.array(value), scoring.gradient(statistics)]

    there: list[np.ndarray] = []
    with parallel_from(0):
        here = compute()
        worker = threading.Thread(target=lambda: there.extend(compute()))
        worker.start()
        worker.join()
    for one, other in zip(here, there, strict=True):
        np.testing.assert_array_equal(one, other)
    for routine in (score_batch, collect_batch):
        assert len(routine.serial.signatures) == 1, "an array reached the compiled code in another layout or type"
