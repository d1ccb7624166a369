"""Rivals of a given labelling against enumeration of all labellings."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from labseq_core.chain import (
    ChainPotentials,
    LabellingsInOrder,
    best_rivals,
    diverse_rivals,
    k_best,
    path_scores,
    slack_rescaled_rivals,
    viterbi,
)
from labseq_core.chain import most_violated as module
from labseq_core.chain.recursions.most_violated import hamming_sequence, loss_augmented_sequence, trace_distance
from labseq_core.checks import LabSeqError
from labseq_core.compiling.routines import parallel_from
from tests.reference import enumeration
from tests.reference.strategies import single_chains

# Scores of up to 1e5 in size have an absolute rounding error of about 1e-11 a term.
SCORE = {"rtol": 1e-12, "atol": 1e-9}
# Slack rescaling multiplies differences of scores by distances.
SLACK = {"rtol": 1e-9, "atol": 1e-7}


@st.composite
def chains_with_truth(draw, **options) -> tuple[ChainPotentials, np.ndarray]:
    chain = draw(single_chains(**options))
    length, n_labels = chain.node.shape
    truth = draw(st.lists(st.integers(0, n_labels - 1), min_size=length, max_size=length))
    return chain, np.array(truth)


def scores_of(chain: ChainPotentials) -> tuple:
    """A single chain as the recursions take it."""
    return chain.node, chain.start, chain.stop, chain.edge_matrices, chain.edge_stride


def hamming_maxima(chain: ChainPotentials, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """M[h], h = 0 .. l, the highest F(x, y) at distance h; and all maxima on the way."""
    length, n_labels = chain.node.shape
    best = np.empty((length, length + 1, n_labels))
    hamming_sequence(*scores_of(chain), truth, best, np.empty(n_labels))
    return best[-1].max(axis=1), best


def possible_truth(chain: ChainPotentials, truth: np.ndarray) -> bool:
    return enumeration.score(chain, tuple(truth.tolist())) > -np.inf


@given(chains_with_truth(), st.sampled_from([0.0, 0.5, 1.0, 20.0]))
def test_every_rival_equals_enumeration(case, loss):
    chain, truth = case
    own = tuple(truth.tolist())

    rival = best_rivals(chain, truth)
    expected = enumeration.best_rival(chain, own)
    np.testing.assert_allclose(rival.scores[0], expected, **SCORE)
    if expected > -np.inf:
        assert tuple(rival.labels.tolist()) != own
        np.testing.assert_allclose(path_scores(chain, rival.labels)[0], expected, **SCORE)
    else:
        np.testing.assert_array_equal(rival.labels, truth)

    labels = np.empty_like(truth)
    reached = loss_augmented_sequence(*scores_of(chain), truth, loss, labels, np.empty(chain.node.shape))
    np.testing.assert_allclose(reached, enumeration.loss_augmented(chain, own, loss), **SCORE)
    if reached > -np.inf:
        best = viterbi(chain.loss_augmented(truth)).scores[0]
        np.testing.assert_allclose(best, enumeration.loss_augmented(chain, own, 1.0), **SCORE)
        augmented = path_scores(chain, labels)[0] + loss * np.sum(labels != truth)
        np.testing.assert_allclose(augmented, reached, **SCORE)

    maxima, best = hamming_maxima(chain, truth)
    np.testing.assert_allclose(maxima, enumeration.hamming_maxima(chain, own), **SCORE)
    for h in np.flatnonzero(maxima > -np.inf):
        trace_distance(chain.edge_matrices, chain.edge_stride, truth, h, best, labels)
        assert np.sum(labels != truth) == h
        np.testing.assert_allclose(path_scores(chain, labels)[0], maxima[h], **SCORE)


@given(chains_with_truth(max_length=6))
def test_slack_rescaling_is_exact_where_distances_are_counted(case):
    chain, truth = case
    if not possible_truth(chain, truth):
        with pytest.raises(LabSeqError, match="the given labels of sequence 0 use a forbidden transition"):
            slack_rescaled_rivals(chain, truth)
        return
    expected = enumeration.slack_rescaled(chain, tuple(truth.tolist()))
    found = slack_rescaled_rivals(chain, truth)
    np.testing.assert_allclose(found.scores[0], expected, **SLACK)
    assert found.bounds[0] == found.scores[0]
    own, reached = path_scores(chain, truth)[0], path_scores(chain, found.labels)[0]
    np.testing.assert_allclose(np.sum(found.labels != truth) * (1.0 - own + reached), expected, **SLACK)


@given(chains_with_truth(max_length=6))
def test_without_counting_there_is_a_labelling_and_a_bound(case):
    chain, truth = case
    assume(possible_truth(chain, truth))
    expected = enumeration.slack_rescaled(chain, tuple(truth.tolist()))
    found = slack_rescaled_rivals(chain, truth, cells=0)
    below, above = found.scores[0], found.bounds[0]
    room = SLACK["atol"] + SLACK["rtol"] * abs(expected)
    assert below - room <= expected <= above + room
    own, reached = path_scores(chain, truth)[0], path_scores(chain, found.labels)[0]
    np.testing.assert_allclose(np.sum(found.labels != truth) * (1.0 - own + reached), below, **SLACK)


def test_the_search_misses_what_only_counting_finds():
    """Distance 2 lies above the line between its neighbours: no weight of the loss brings it out, and it is the best."""
    # Distance times (1 - margin) is 0, 0.70, 0.92, 0.90; the lower hull of the margins has only the first and the last.
    margins = np.array([0.0, 0.30, 0.54, 0.70])
    node = np.zeros((3, 2))
    node[0, 1] = -margins[1]
    edge = np.zeros((3, 2, 2))
    edge[1, 1, 1] = -(margins[2] - margins[1])
    edge[1, 0, 1] = edge[2, 0, 1] = -5.0
    edge[2, 1, 1] = -(margins[3] - margins[2])
    chain, truth = ChainPotentials(np.zeros(2), node, edge, np.zeros(2)), np.zeros(3, dtype=np.int64)
    np.testing.assert_allclose(hamming_maxima(chain, truth)[0], -margins, **SCORE)
    exact, searched = slack_rescaled_rivals(chain, truth), slack_rescaled_rivals(chain, truth, cells=0)
    np.testing.assert_allclose(exact.scores, max(h * (1.0 - margins[h]) for h in range(4)), **SCORE)
    assert np.sum(exact.labels) == 2
    assert searched.scores[0] < exact.scores[0] <= searched.bounds[0]


@given(chains_with_truth())
def test_the_rival_is_that_of_2_best_decoding(case):
    """T Algorithm 5, line 4: where the truth is best its rival is the second, else it is the best."""
    chain, truth = case
    assume(enumeration.best_scores(chain))
    first, *second = [score for _, score in k_best(chain, 2)[0]]
    rival = best_rivals(chain, truth).scores[0]
    best = path_scores(chain, truth)[0] >= first - 1e-9
    expected = (second[0] if second else -np.inf) if best else first
    np.testing.assert_allclose(rival, expected, **SCORE)


@given(chains_with_truth(), st.sampled_from([0.0, 1.0]), st.integers(1, 5), st.sampled_from([0.0, 0.5, 1.0]))
def test_diverse_rivals_each_bring_a_new_wrong_label(case, loss, k, share):
    chain, truth = case
    own = tuple(truth.tolist())
    values = {y: v + loss * enumeration.distance(y, own) for y, v in enumeration.scores(chain).items() if y != own}
    least = max(values.values(), default=0.0) - 3.0
    least = least if least > -np.inf else 0.0
    found = diverse_rivals(chain, truth, k=k, loss=loss, least=np.array([least]), share=share)
    assert (found.scores[0, found.counts[0] :] == -np.inf).all()
    seen = set()
    for number in range(found.counts[0]):
        labels = tuple(found.labels[number].tolist())
        np.testing.assert_allclose(values[labels], found.scores[0, number], **SCORE)
        # It is the best of all labellings with a wrong label that is new.
        rest = {
            y: v
            for y, v in values.items()
            if any(b != a and (t, b) not in seen for t, (a, b) in enumerate(zip(own, y)))
        }
        np.testing.assert_allclose(found.scores[0, number], max(rest.values()), **SCORE)
        seen |= {(t, label) for t, label in enumerate(labels) if label != own[t]}
    if found.counts[0] < k:  # what is left is impossible, has nothing new, or is too far below the first
        rest = [
            v for y, v in values.items() if any(b != a and (t, b) not in seen for t, (a, b) in enumerate(zip(own, y)))
        ]
        highest = max(rest, default=-np.inf)
        assert highest == -np.inf or highest <= least + share * (found.scores[0, 0] - least) + SCORE["atol"] * 1e3


@given(single_chains())
def test_lazy_labellings_come_in_order_and_once(chain):
    expected = enumeration.best_scores(chain)
    found = list(LabellingsInOrder(chain))
    np.testing.assert_allclose([score for _, score in found], expected, **SCORE)
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    assert len({tuple(labels.tolist()) for labels, _ in found}) == len(found)
    for labels, score in found:
        np.testing.assert_allclose(enumeration.score(chain, tuple(labels.tolist())), score, **SCORE)


@given(single_chains(max_length=6), st.integers(1, 9), st.integers(0, 40))
def test_lazy_labellings_stop_at_the_threshold_and_go_on_from_where_they_were(chain, step, above):
    expected = enumeration.best_scores(chain)
    assume(expected)
    threshold = expected[min(above, len(expected) - 1)] - 1e-6
    wanted = [score for score in expected if score >= threshold]
    ordered = LabellingsInOrder(chain, threshold)
    scores = []
    while len(block := ordered.take(step)[1]):
        assert len(block) <= step
        scores += block.tolist()
    np.testing.assert_allclose(scores, wanted, **SCORE)
    first = list(itertools.islice(LabellingsInOrder(chain), 5))
    np.testing.assert_allclose([score for _, score in first], expected[:5], **SCORE)


def test_lazy_labellings_ask_for_one_sequence_and_a_number():
    two = ChainPotentials(np.zeros(2), np.zeros((3, 2)), np.zeros((2, 2)), np.zeros(2), [0, 1, 3])
    with pytest.raises(LabSeqError, match="potentials hold 2 sequences; give one of them"):
        LabellingsInOrder(two)
    with pytest.raises(LabSeqError, match="threshold is NaN"):
        LabellingsInOrder(two[0], float("nan"))
    assert len(list(LabellingsInOrder(two[1]))) == 4


def random_batch(seed: int = 1, n: int = 200) -> tuple[ChainPotentials, np.ndarray]:
    rng = np.random.default_rng(seed)
    offsets = np.cumsum([0, *rng.integers(1, 30, size=n)])
    node = rng.normal(size=(offsets[-1], 6))
    chain = ChainPotentials(rng.normal(size=6), node, rng.normal(size=(6, 6)), rng.normal(size=6), offsets)
    return chain, rng.integers(6, size=offsets[-1])


ROUTINES = (best_rivals, slack_rescaled_rivals)


def test_a_batch_equals_its_sequences_one_by_one_and_some_of_them():
    chain, truth = random_batch(n=60)
    some = np.array([7, 3, 59, 0])
    for routine in ROUTINES:
        whole, part = routine(chain, truth), routine(chain, truth, some)
        expected = truth.copy()
        for place, i in enumerate(some):
            own = slice(chain.offsets[i], chain.offsets[i + 1])
            alone = routine(chain[i], truth[own])
            np.testing.assert_array_equal(alone.labels, whole.labels[own])
            assert alone.scores[0] == whole.scores[i] == part.scores[place]
            expected[own] = alone.labels
        np.testing.assert_array_equal(part.labels, expected)
    lists, part = diverse_rivals(chain, truth, k=3), diverse_rivals(chain, truth, some, k=3)
    np.testing.assert_allclose(lists.scores[:, 0], best_rivals(chain, truth).scores, **SCORE)
    for place, i in enumerate(some):
        own = slice(chain.offsets[i], chain.offsets[i + 1])
        alone = diverse_rivals(chain[i], truth[own], k=3)
        np.testing.assert_array_equal(alone.labels[: alone.counts[0]], lists.labels[: lists.counts[i], own])
        np.testing.assert_array_equal(alone.scores[0], part.scores[place])


def test_results_do_not_depend_on_threads_and_routines_have_one_signature():
    chain, truth = random_batch()
    serial = [routine(chain, truth) for routine in ROUTINES]
    lists = diverse_rivals(chain, truth, k=3)
    with parallel_from(0):
        np.testing.assert_array_equal(diverse_rivals(chain, truth, k=3).scores, lists.scores)
        for one, routine in zip(serial, ROUTINES):
            other = routine(chain, truth)
            np.testing.assert_array_equal(one.labels, other.labels)
            np.testing.assert_array_equal(one.scores, other.scores)
    for name, routine in vars(module).items():
        if name.endswith("_batch"):
            assert len(routine.serial.signatures) == 1, name


def test_long_sequences_with_huge_scores():
    """l = 10 000: rivals are found; slack rescaling says how far it is from exact where it cannot count."""
    rng = np.random.default_rng(0)
    node = 1e4 * rng.uniform(-1, 1, size=(10_000, 4))
    chain = ChainPotentials(np.zeros(4), node, 1e3 * rng.normal(size=(4, 4)), np.zeros(4))
    best = viterbi(chain)
    rival = best_rivals(chain, best.labels)
    np.testing.assert_allclose(rival.scores[0], k_best(chain, 2)[0][1][1], rtol=1e-12)
    assert np.sum(rival.labels != best.labels) >= 1
    np.testing.assert_allclose(path_scores(chain, rival.labels), rival.scores, rtol=1e-12)
    truth = rng.integers(4, size=10_000)
    found = slack_rescaled_rivals(chain, truth)
    assert 0.0 < found.scores[0] <= found.bounds[0]
    assert found.bounds[0] <= 1.05 * found.scores[0]  # here nearly all of it lies on the hull
    assert slack_rescaled_rivals(chain, best.labels).bounds[0] < 10.0


def test_wrong_arguments_are_named():
    chain, truth = random_batch(n=3)
    with pytest.raises(LabSeqError, match="labels has shape"):
        best_rivals(chain, truth[1:])
    with pytest.raises(LabSeqError, match="k is 0"):
        diverse_rivals(chain, truth, k=0)
