"""Propositions 1-3 of the thesis: each loss bounds the number of mistakes that it stands for."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from labseq_core.chain import ChainPotentials, forward_backward, viterbi
from labseq_core.losses import exponential_loss, log_loss, marginal_exponential_loss, marginal_log_loss
from tests.reference import enumeration
from tests.reference.strategies import single_chains

ROUNDING = 1e-9  # relative, and absolute: scores of 1e4 leave about 1e-12 of a difference
LOG_2 = math.log(2.0)
EQUAL = {"rtol": 1e-12, "atol": 1e-12}


def holds(smaller: float, larger: float) -> bool:
    return smaller <= larger + ROUNDING * (1.0 + abs(smaller))


@st.composite
def labelled_chains(draw) -> tuple[ChainPotentials, tuple[int, ...]]:
    """A chain and a labelling that it allows; the best one as often as any other."""
    chain = draw(single_chains(max_length=4))
    scores = enumeration.scores(chain)
    possible = [y for y, score in scores.items() if score > -np.inf]
    assume(possible)
    best = max(possible, key=scores.get)
    return chain, draw(st.one_of(st.just(best), st.sampled_from(possible)))


def n_ranked_higher(chain: ChainPotentials, truth: tuple[int, ...]) -> int:
    """Σ_{y ≠ truth} [[F(y) >= F(truth)]]      (T 2.14)"""
    scores = enumeration.scores(chain)
    return sum(score >= scores[truth] for y, score in scores.items() if y != truth)


@given(labelled_chains())
def test_proposition_1_log_loss_bounds_wrong_sequences(case):
    chain, truth = case
    wrong = tuple(viterbi(chain).labels.tolist()) != truth
    assert holds(LOG_2 * wrong, log_loss(chain, np.array(truth))[0])


@given(labelled_chains())
def test_proposition_2_marginal_loss_bounds_wrong_labels(case):
    chain, truth = case
    by_token = forward_backward(chain).node_marginals.argmax(axis=1)
    wrong = int(np.sum(by_token != truth))
    assert holds(LOG_2 * wrong / len(truth), marginal_log_loss(chain, np.array(truth))[0])
    # The same argument for 1/p: at least 1 for a label that is right, at least 2 for a wrong one (B 6).
    assert holds(len(truth) + wrong, marginal_exponential_loss(chain, np.array(truth))[0])


@given(labelled_chains(), st.sampled_from([1.0, 0.5, 0.1]))
def test_proposition_3_exponential_loss_bounds_the_rank(case, decay):
    chain, truth = case
    weight = decay ** len(truth)
    value, _ = exponential_loss(chain, np.array(truth), np.array([len(truth) * math.log(decay)]))
    assert holds(weight * n_ranked_higher(chain, truth), value)


@given(st.lists(labelled_chains(), min_size=2, max_size=4))
def test_the_bounds_add_up_over_sequences(cases):
    """Summed risks, as the losses are: 2.13 and 2.17 both carry 1/n, 2.14, 2.15 and 2.18 do not."""
    wrong = rank = hamming = 0.0
    log = exponential = marginal = 0.0
    for chain, truth in cases:
        labels = np.array(truth)
        wrong += tuple(viterbi(chain).labels.tolist()) != truth
        hamming += np.mean(forward_backward(chain).node_marginals.argmax(axis=1) != labels)
        rank += n_ranked_higher(chain, truth)
        log += log_loss(chain, labels)[0]
        exponential += exponential_loss(chain, labels)[0]
        marginal += marginal_log_loss(chain, labels)[0]
    assert holds(LOG_2 * wrong, log)
    assert holds(LOG_2 * hamming, marginal)
    assert holds(rank, exponential)
    assert holds(wrong, rank)  # what is not first has something before it


@pytest.mark.parametrize("length", [1, 4])
def test_the_bounds_are_attained(length):
    """Two labellings tie and no other is possible: p = 1/2 for the sequence and for each label of it."""
    edge = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    chain = ChainPotentials(np.zeros(2), np.zeros((length, 2)), edge, np.zeros(2))
    truth = 1 - viterbi(chain).labels
    np.testing.assert_allclose(log_loss(chain, truth)[0], LOG_2, **EQUAL)
    np.testing.assert_allclose(marginal_log_loss(chain, truth)[0], LOG_2, **EQUAL)
    np.testing.assert_allclose(marginal_exponential_loss(chain, truth)[0], 2.0 * length, **EQUAL)
    np.testing.assert_allclose(exponential_loss(chain, truth)[0], n_ranked_higher(chain, tuple(truth)), **EQUAL)
