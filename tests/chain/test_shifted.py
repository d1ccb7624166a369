"""The rest of all labellings under a shift against enumeration, and against a batch whose scores were shifted by hand."""

import math
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from labseq_core.chain import ChainPotentials, rest_of
from labseq_core.chain.shifted import FeatureShift, ShiftedRest, shifted_rest
from labseq_core.compiling.routines import parallel_from
from tests.reference import enumeration
from tests.reference.strategies import join, single_chains

CLOSE = 1e-9  # relative and absolute


def count(shift: FeatureShift, labels, begin: int) -> float:
    """S_k(x, y) of one labelling of the sequence that begins at the given position."""
    if shift.amounts is not None:
        return sum(shift.amounts[begin + t] for t, label in enumerate(labels) if label == shift.label)
    return float(sum(pair == (shift.previous_label, shift.label) for pair in pairwise(labels)))


def shifted(batch: ChainPotentials, labels, shift: FeatureShift, step: float, sequences=None) -> ShiftedRest:
    return shifted_rest(batch, labels, shift, step, np.arange(len(batch)) if sequences is None else sequences)


def shifts(draw, n_positions: int, n_labels: int) -> FeatureShift:
    label = draw(st.integers(0, n_labels - 1))
    if draw(st.booleans()):
        return FeatureShift(label, None, draw(st.integers(0, n_labels - 1)))
    values = st.sampled_from([0.0, 1.0, 1.0, 0.5, -2.0])
    return FeatureShift(label, np.array(draw(st.lists(values, min_size=n_positions, max_size=n_positions))))


@given(st.data())
def test_against_enumeration(data):
    chains = data.draw(st.lists(single_chains(max_length=4, forbid=False), min_size=1, max_size=7))
    n_labels = min(chain.n_labels for chain in chains)
    chains = [
        ChainPotentials(c.start[:n_labels], c.node[:, :n_labels], np.zeros((n_labels, n_labels)), c.stop[:n_labels])
        for c in chains
    ]
    edge = np.array(data.draw(st.lists(st.floats(-3, 3), min_size=n_labels**2, max_size=n_labels**2)))
    batch = join(chains)
    batch = ChainPotentials(batch.start, batch.node, edge.reshape(n_labels, n_labels), batch.stop, batch.offsets)
    labels = np.array(
        data.draw(st.lists(st.integers(0, n_labels - 1), min_size=len(batch.node), max_size=len(batch.node)))
    )
    shift = shifts(data.draw, len(batch.node), n_labels)
    step = data.draw(st.sampled_from([0.0, 0.7, -1.3, 4.0]))
    found = shifted(batch, labels, shift, step)
    for i, one in enumerate(batch):
        begin, end = batch.offsets[i], batch.offsets[i + 1]
        truth = tuple(labels[begin:end])
        at_truth = count(shift, truth, begin)
        u = {y: count(shift, y, begin) - at_truth for y in enumeration.all_labellings(one)}
        scores = {y: enumeration.score(one, y) + step * (u[y] + at_truth) for y in u}
        rest = {y: score - scores[truth] for y, score in scores.items() if y != truth}
        if not rest:
            assert found.log_odds[i] == -np.inf
            continue
        top = max(rest.values())
        weight = {y: math.exp(score - top) for y, score in rest.items()}
        total = math.fsum(weight.values())
        np.testing.assert_allclose(found.log_odds[i], top + math.log(total), rtol=CLOSE, atol=CLOSE)
        mean = math.fsum(weight[y] * u[y] for y in rest) / total
        square = math.fsum(weight[y] * u[y] ** 2 for y in rest) / total
        np.testing.assert_allclose([found.mean[i], found.square[i]], [mean, square], rtol=CLOSE, atol=CLOSE)


def random_batch(seed: int, lengths: list[int], n_labels: int, scale: float) -> tuple[ChainPotentials, np.ndarray]:
    rng = np.random.default_rng(seed)
    offsets = np.cumsum([0, *lengths])
    node = rng.normal(scale=scale, size=(offsets[-1], n_labels))
    edge = rng.normal(scale=scale, size=(n_labels, n_labels))
    zero = np.zeros(n_labels)
    return ChainPotentials(zero, node, edge, zero, offsets), rng.integers(n_labels, size=offsets[-1])


def test_long_sequences_and_large_scores_and_a_choice_of_sequences():
    for scale in (1.0, 3000.0):
        batch, labels = random_batch(1, [1000, 3, 1, 40, 38, 37, 30, 29], 4, scale)
        amounts = np.random.default_rng(2).integers(0, 2, size=len(labels)).astype(float)
        for shift in (FeatureShift(2, amounts), FeatureShift(1, None, 3), FeatureShift(1, None, 1)):
            node, edge = batch.node.copy(), batch.edge.copy()
            if shift.amounts is None:
                edge[shift.previous_label, shift.label] += 0.8
            else:
                node[:, shift.label] += 0.8 * shift.amounts
            moved = ChainPotentials(batch.start, node, edge, batch.stop, batch.offsets)
            found = shifted(batch, labels, shift, 0.8)
            np.testing.assert_allclose(found.log_odds, rest_of(moved, labels).log_odds, rtol=CLOSE)
            with parallel_from(0):
                some = shifted(batch, labels, shift, 0.8, np.array([0, 3]))
            np.testing.assert_allclose(some.mean, found.mean[[0, 3]], rtol=CLOSE)
            np.testing.assert_allclose(some.log_odds, found.log_odds[[0, 3]], rtol=CLOSE)


def test_means_are_derivatives():
    batch, labels = random_batch(3, [6, 2, 9], 3, 1.0)
    shift = FeatureShift(1, np.random.default_rng(4).normal(size=len(labels)))
    width = 1e-5
    below, at, above = (shifted(batch, labels, shift, step) for step in (0.3 - width, 0.3, 0.3 + width))
    slope = (above.log_odds - below.log_odds) / (2 * width)
    np.testing.assert_allclose(at.mean, slope, rtol=1e-6, atol=1e-8)
    curvature = (above.mean - below.mean) / (2 * width)
    np.testing.assert_allclose(at.square - at.mean**2, curvature, rtol=1e-5, atol=1e-7)


def test_lanes_give_what_each_sequence_gives_alone():
    # A group that is much more work than the one before it leaves the last chunk empty.
    lengths = [30, *([14] * 16), 9, 8, 8, 7, 7, 7, 6, 6, 5, 5, 5, 5, 5, 5, 5, 5, 5, 4, 3, 1, 1, 1, 1]
    batch, labels = random_batch(5, lengths, 3, 1.5)
    only_two_groups = shifted(batch, labels, FeatureShift(1, None, 2), 0.5, np.arange(17))
    np.testing.assert_allclose(
        only_two_groups.mean, shifted(batch, labels, FeatureShift(1, None, 2), 0.5).mean[:17], rtol=CLOSE
    )
    amounts = np.random.default_rng(6).normal(size=len(labels))
    for shift in (FeatureShift(2, amounts), FeatureShift(1, None, 2), FeatureShift(0, None, 0)):
        for step in (0.0, 0.9, -2.0):
            together = shifted(batch, labels, shift, step)
            for i in range(len(batch)):
                alone = shifted(batch, labels, shift, step, np.array([i]))
                for name in ("log_odds", "mean", "square"):
                    one = getattr(alone, name)[0]
                    np.testing.assert_allclose(getattr(together, name)[i], one, rtol=CLOSE, atol=CLOSE)
