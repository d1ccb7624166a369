"""The log loss against enumeration of all labellings and finite differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labseq_core import LabSeqError
from labseq_core.chain import ChainPotentials
from labseq_core.losses import log_loss
from tests.reference import enumeration
from tests.reference.strategies import join, single_chains

VALUE = {"rtol": 1e-11, "atol": 1e-9}  # scores of 1e4 a term lose about 1e-11 of them
PROBABILITY = {"rtol": 1e-9, "atol": 1e-11}
# Central differences with step h err by about h² from the cubic term and by 1e-16 / h from rounding.
STEP = 1e-5
DIFFERENCE = {"rtol": 1e-6, "atol": 1e-8}


def by_enumeration(chains: list[ChainPotentials], labels: list[tuple[int, ...]]) -> float:
    return sum(enumeration.log_partition(c) - enumeration.score(c, y) for c, y in zip(chains, labels))


def any_labels(chain: ChainPotentials, random) -> tuple[int, ...]:
    return tuple(random.randrange(chain.n_labels) for _ in range(len(chain.node)))


@given(single_chains(), st.randoms(use_true_random=False))
def test_value_and_gradient_equal_enumeration(chain, random):
    possible = [y for y, score in enumeration.scores(chain).items() if score > -np.inf]
    if not possible:
        return
    labels = random.choice(possible)
    value, gradient = log_loss(chain, np.array(labels))
    np.testing.assert_allclose(value, by_enumeration([chain], [labels]), **VALUE)
    assert value >= -VALUE["atol"]
    node, edge = enumeration.marginals(chain)
    for t, label in enumerate(labels):
        node[t, label] -= 1.0
        if t > 0:
            edge[t, labels[t - 1], label] -= 1.0
    np.testing.assert_allclose(gradient.node, node, **PROBABILITY)
    np.testing.assert_allclose(gradient.edge, edge if chain.edge_stride else edge.sum(axis=0), **PROBABILITY)
    np.testing.assert_allclose(gradient.start, node[0], **PROBABILITY)
    np.testing.assert_allclose(gradient.stop, node[-1], **PROBABILITY)


@pytest.mark.parametrize("per_position", [False, True])
@pytest.mark.parametrize("n_labels", [1, 2, 3])
def test_gradient_is_the_slope_of_the_value(n_labels, per_position):
    rng = np.random.default_rng(n_labels)
    offsets = np.array([0, 1, 3, 6])
    edge_shape = (6, n_labels, n_labels) if per_position else (n_labels, n_labels)
    parts = {
        "start": rng.normal(size=n_labels), "node": rng.normal(size=(6, n_labels)),
        "edge": rng.normal(size=edge_shape), "stop": rng.normal(size=n_labels),
    }  # fmt: skip
    labels = rng.integers(n_labels, size=6)
    _, gradient = log_loss(ChainPotentials(**parts, offsets=offsets), labels)
    for name, array in parts.items():
        for place in np.ndindex(array.shape):
            values = []
            for step in (STEP, -STEP):
                moved = array.copy()
                moved[place] += step
                values.append(log_loss(ChainPotentials(**(parts | {name: moved}), offsets=offsets), labels)[0])
            slope = (values[0] - values[1]) / (2 * STEP)
            np.testing.assert_allclose(getattr(gradient, name)[place], slope, **DIFFERENCE, err_msg=f"{name}{place}")


@given(st.lists(single_chains(max_length=3, forbid=False), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_a_batch_adds_up_its_sequences(chains, random):
    first = next((chain for chain in chains if not chain.edge_stride), None)
    if first is None:
        return
    shared = [
        ChainPotentials(first.start, chain.node, first.edge, first.stop)
        for chain in chains
        if chain.n_labels == first.n_labels
    ]
    labels = [any_labels(chain, random) for chain in shared]
    value, gradient = log_loss(join(shared), np.concatenate(labels).astype(np.int64))
    alone = [log_loss(chain, np.array(y)) for chain, y in zip(shared, labels)]
    np.testing.assert_allclose(value, sum(one for one, _ in alone), **VALUE)
    np.testing.assert_allclose(gradient.node, np.concatenate([g.node for _, g in alone]), **PROBABILITY)
    for name in ("start", "edge", "stop"):
        np.testing.assert_allclose(getattr(gradient, name), sum(getattr(g, name) for _, g in alone), **PROBABILITY)


def test_one_label_is_certain():
    chain = ChainPotentials([0.3], np.arange(4.0)[:, None], [[2.0]], [-1.0], [0, 1, 4])
    value, gradient = log_loss(chain, np.zeros(4, dtype=np.int64))
    assert value == pytest.approx(0.0, abs=1e-12)
    for array in (gradient.start, gradient.node, gradient.edge, gradient.stop):
        np.testing.assert_allclose(array, 0.0, atol=1e-12)


def test_length_one_is_softmax_cross_entropy():
    rng = np.random.default_rng(3)
    start, node, stop = rng.normal(size=4), rng.normal(size=(3, 4)), rng.normal(size=4)
    labels = np.array([2, 0, 3])
    value, gradient = log_loss(ChainPotentials(start, node, rng.normal(size=(4, 4)), stop, [0, 1, 2, 3]), labels)
    scores = node + start + stop
    softmax = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(value, -np.log(softmax[range(3), labels]).sum(), **VALUE)
    softmax[range(3), labels] -= 1.0
    np.testing.assert_allclose(gradient.node, softmax, **PROBABILITY)
    np.testing.assert_array_equal(gradient.edge, 0.0)


def test_given_labels_that_are_forbidden_are_named():
    edge = np.array([[0.0, -np.inf], [0.0, 0.0]])
    chain = ChainPotentials(np.zeros(2), np.zeros((4, 2)), edge, np.zeros(2), [0, 2, 4])
    with pytest.raises(LabSeqError, match="labels of sequence 1 use a forbidden transition"):
        log_loss(chain, np.array([1, 0, 0, 1]))
