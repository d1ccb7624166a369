"""All losses: value by enumeration, derivative by finite differences, on the same corpora."""

import math
from itertools import pairwise

import numpy as np
import pytest

from labseq_core.chain import ChainPotentials
from labseq_core.losses import LOSSES, exponential_loss
from tests.reference import enumeration

VALUE = {"rtol": 1e-10}
STEP = 1e-5
DIFFERENCE = {"rtol": 2e-6, "atol": 1e-7}  # central differences err by about STEP² times the third derivative


def by_definition(name: str, chain: ChainPotentials, labels) -> float:
    p = enumeration.probabilities(chain)[tuple(labels)]
    node, _ = enumeration.marginals(chain)
    tokens = [node[t, label] for t, label in enumerate(labels)]
    return {
        "log": lambda: -math.log(p),
        "exp": lambda: 1.0 / p - 1.0,
        "marginal": lambda: -sum(map(math.log, tokens)) / len(tokens),
        "marginal-exp": lambda: sum(1.0 / q for q in tokens),
    }[name]()


def batch(seed: int, n_labels: int, per_position: bool, forbid: bool = False):
    rng = np.random.default_rng(seed)
    offsets = np.array([0, 1, 3, 7])
    edge = rng.normal(size=(7, n_labels, n_labels) if per_position else (n_labels, n_labels))
    if forbid:
        edge[..., 0, n_labels - 1] = -np.inf
    parts = {"start": rng.normal(size=n_labels), "node": rng.normal(size=(7, n_labels)), "edge": edge}
    labels = np.zeros(7, dtype=np.int64) if forbid else rng.integers(n_labels, size=7)
    return parts | {"stop": rng.normal(size=n_labels)}, offsets, labels


@pytest.mark.parametrize("forbid", [False, True])
@pytest.mark.parametrize("per_position", [False, True])
@pytest.mark.parametrize("n_labels", [1, 2, 3])
@pytest.mark.parametrize("name", LOSSES)
def test_value_and_slope(name, n_labels, per_position, forbid):
    if forbid and n_labels == 1:
        n_labels = 4
    parts, offsets, labels = batch(n_labels, n_labels, per_position, forbid)
    chain = ChainPotentials(**parts, offsets=offsets)
    value, derivative = LOSSES[name](chain, labels)
    pieces = [labels[begin:end] for begin, end in pairwise(offsets)]
    expected = sum(by_definition(name, one, piece) for one, piece in zip(chain, pieces))
    np.testing.assert_allclose(value, expected, **VALUE)
    for part, array in parts.items():
        slopes = np.zeros_like(array)
        for place in np.ndindex(array.shape):
            if array[place] == -np.inf:
                continue
            ends = []
            for sign in (1, -1):
                moved = array.copy()
                moved[place] += sign * STEP
                ends.append(LOSSES[name](ChainPotentials(**(parts | {part: moved}), offsets=offsets), labels)[0])
            slopes[place] = (ends[0] - ends[1]) / (2 * STEP)
        np.testing.assert_allclose(getattr(derivative, part), slopes, **DIFFERENCE)


def test_length_weights_of_the_exponential_loss():
    parts, offsets, labels = batch(5, 3, False)
    chain = ChainPotentials(**parts, offsets=offsets)
    log_weights = np.log(0.3) * np.diff(offsets)
    value, derivative = exponential_loss(chain, labels, log_weights)
    alone = [exponential_loss(one, labels[b:e]) for one, b, e in zip(chain, offsets[:-1], offsets[1:])]
    np.testing.assert_allclose(value, sum(np.exp(w) * v for w, (v, _) in zip(log_weights, alone)), **VALUE)
    edge = sum(np.exp(w) * d.edge for w, (_, d) in zip(log_weights, alone))
    np.testing.assert_allclose(derivative.edge, edge, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_a_hopeless_model_gives_a_large_or_infinite_loss_but_never_nan(name):
    """The truth is 1e4 behind at every position: 1/p is beyond any float."""
    node = np.tile([0.0, 1e4], (3, 1))
    chain = ChainPotentials(np.zeros(2), node, np.zeros((2, 2)), np.zeros(2))
    value, _ = LOSSES[name](chain, np.zeros(3, dtype=np.int64))
    assert value > 1e4 / 2
