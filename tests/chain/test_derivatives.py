"""Covariance-vector products and the rest of all labellings, against enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labseq_core.chain import ChainPotentials, ChainStatistics, covariance_product, rest_of
from labseq_core.checks import LabSeqError
from labseq_core.compiling.routines import parallel_from
from tests.reference import enumeration
from tests.reference.strategies import single_chains

AGREE = {"rtol": 1e-8, "atol": 1e-9}


def statistics_of(chain: ChainPotentials, labels) -> np.ndarray:
    """All four statistics of a labelling as one vector: start, node, edge, stop."""
    node, edge = np.zeros_like(chain.node), np.zeros_like(chain.edge)
    for t, label in enumerate(labels):
        node[t, label] = 1.0
        if t > 0:
            place = (t, labels[t - 1], label) if chain.edge_stride else (labels[t - 1], label)
            edge[place] += 1.0
    return np.concatenate([node[0], node.ravel(), edge.ravel(), node[-1]])


def flat(statistics: ChainStatistics) -> np.ndarray:
    return np.concatenate(
        [part.ravel() for part in (statistics.start, statistics.node, statistics.edge, statistics.stop)]
    )


@given(single_chains(max_length=4), st.integers(0, 10))
def test_the_covariance_product_equals_enumeration(chain, seed):
    if not enumeration.best_scores(chain):
        return
    rng = np.random.default_rng(seed)
    direction = ChainStatistics(
        *(rng.normal(size=part.shape) for part in (chain.start, chain.node, chain.edge, chain.stop))
    )
    v = flat(direction)
    probabilities = enumeration.probabilities(chain)
    vectors = {labels: statistics_of(chain, labels) for labels in probabilities}
    mean = sum(p * vectors[labels] for labels, p in probabilities.items())
    expected = sum(p * (vectors[labels] - mean) * ((vectors[labels] - mean) @ v) for labels, p in probabilities.items())
    np.testing.assert_allclose(flat(covariance_product(chain, direction)), expected, **AGREE)


@given(single_chains(max_length=4), st.randoms(use_true_random=False), st.sampled_from([None, 0.0, -3.0]))
def test_the_rest_equals_enumeration(chain, random, log_weight):
    scores = enumeration.scores(chain)
    possible = [labels for labels, score in scores.items() if score > -np.inf]
    if not possible:
        return
    truth = random.choice(possible)
    # The best labelling is the near-certain case when scores are huge, the worst one the opposite.
    truth = max(possible, key=scores.get) if random.random() < 0.3 else truth
    rest = [labels for labels in possible if labels != truth]
    odds = np.array([scores[labels] - scores[truth] for labels in rest])
    log_odds = np.logaddexp.reduce(odds) if rest else -np.inf
    if log_weight is not None and log_odds > 600:
        return
    found = rest_of(chain, np.array(truth), None if log_weight is None else np.array([log_weight]))
    np.testing.assert_allclose(found.log_odds, [log_odds], **AGREE)
    weights = np.exp(odds - log_odds) if log_weight is None else np.exp(odds + log_weight)
    expected = sum(
        (w * statistics_of(chain, labels) for w, labels in zip(weights, rest)),
        np.zeros_like(statistics_of(chain, truth)),
    )
    np.testing.assert_allclose(flat(found.statistics), expected, **AGREE)


def test_near_certain_sequences_keep_all_digits():
    """p(y*) = 1 - 2e-31: one minus p would be zero."""
    node = np.array([[35.0, 0.0], [35.0, 0.0]])
    chain = ChainPotentials(np.zeros(2), node, np.zeros((2, 2)), np.zeros(2))
    found = rest_of(chain, np.array([0, 0]))
    np.testing.assert_allclose(found.log_odds, np.log(2 * np.exp(-35.0) + np.exp(-70.0)), rtol=1e-14)
    np.testing.assert_allclose(found.statistics.node[0], [0.5, 0.5], rtol=1e-12)


def test_batches_and_threads_give_the_same_bits():
    rng = np.random.default_rng(3)
    offsets = np.cumsum([0, *rng.integers(1, 12, size=60)])
    parts = (rng.normal(size=3), rng.normal(size=(offsets[-1], 3)), rng.normal(size=(3, 3)), rng.normal(size=3))
    chain = ChainPotentials(*parts, offsets)
    labels = rng.integers(3, size=offsets[-1])
    direction = ChainStatistics(*(rng.normal(size=part.shape) for part in parts))
    serial = covariance_product(chain, direction), rest_of(chain, labels)
    with parallel_from(0):
        parallel = covariance_product(chain, direction), rest_of(chain, labels)
    np.testing.assert_array_equal(flat(serial[0]), flat(parallel[0]))
    np.testing.assert_array_equal(flat(serial[1].statistics), flat(parallel[1].statistics))
    alone = [rest_of(chain[i], labels[offsets[i] : offsets[i + 1]]) for i in range(len(chain))]
    np.testing.assert_array_equal(serial[1].log_odds, [one.log_odds[0] for one in alone])
    np.testing.assert_allclose(serial[1].statistics.edge, sum(one.statistics.edge for one in alone), **AGREE)


def test_forbidden_truth_is_named():
    chain = ChainPotentials(np.zeros(2), np.zeros((2, 2)), np.array([[0.0, -np.inf], [0.0, 0.0]]), np.zeros(2))
    with pytest.raises(LabSeqError, match="labels of sequence 0 use a forbidden transition"):
        rest_of(chain, np.array([0, 1]))
