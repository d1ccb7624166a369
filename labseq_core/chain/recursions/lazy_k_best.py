"""All labellings of one sequence in descending order of score, as many as are asked for and no more.

A labelling is the best one of the set that shares its prefix up to the position where it was made to deviate from its
parent; taking it out leaves the sets that deviate from it at one later position. Each labelling is in one set only, so none
comes twice. What a set offers is known without search: the score of its prefix plus that of the best way to go on.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from labseq_core.chain.potentials import ChainPotentials
from labseq_core.chain.recursions.scores import node_score
from labseq_core.checks import require
from labseq_core.compiling.routines import compiled

FIRST_BLOCK = 8  # labellings per call of compiled code, doubled from call to call
LARGEST_BLOCK = 1024


class LabellingsInOrder:
    """Iterates over (labels, score) of the sequence, best first; among equals in a fixed order.

    threshold: only labellings with at least this score.
    """

    def __init__(self, potentials: ChainPotentials, threshold: float = -np.inf):
        require(
            len(potentials) == 1, f"potentials hold {len(potentials)} sequences; give one of them, as potentials[i]"
        )
        require(not np.isnan(threshold), "threshold is NaN; give a score, or -inf for all labellings")
        self._arguments = (
            potentials.node, potentials.start, potentials.stop, potentials.edge_matrices, potentials.edge_stride,
        )  # fmt: skip
        length, n_labels = potentials.node.shape
        self._threshold = max(threshold, np.nextafter(-np.inf, 0.0))  # a forbidden labelling is none
        self._ahead, self._follower = np.zeros((length, n_labels)), np.zeros((length, n_labels), dtype=np.int64)
        self._counts = np.zeros(2, dtype=np.int64)  # labellings taken out, sets in the heap
        self._taken = np.empty((FIRST_BLOCK, length), dtype=np.int64)  # labels of all that were taken out
        self._scores = np.empty(FIRST_BLOCK)
        self._heap_score = np.empty(4 * length * n_labels)
        self._heap_set = np.empty((4 * length * n_labels, 3), dtype=np.int64)  # parent, position, label there
        best_ahead(*self._arguments, self._ahead, self._follower)
        first_sets(*self._arguments[:3], self._ahead, self._threshold, self._counts, self._heap_score, self._heap_set)

    def __iter__(self) -> Iterator[tuple[np.ndarray, float]]:
        done, block = 0, FIRST_BLOCK
        while True:
            if done == self._counts[0]:
                self.take(block)
                block = min(LARGEST_BLOCK, 2 * block)
                if done == self._counts[0]:
                    return
            yield self._taken[done].copy(), float(self._scores[done])
            done += 1

    def take(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """The next labellings, at most so many: labels (number, l) and scores; fewer where there are no more."""
        before = int(self._counts[0])
        if before + number > len(self._scores):
            size = max(before + number, 2 * len(self._scores))
            self._taken, self._scores = _grown(self._taken, size), _grown(self._scores, size)
        length, n_labels = self._ahead.shape
        while self._counts[0] < before + number and self._counts[1] > 0:
            room = int(self._counts[1]) + length * n_labels
            if room > len(self._heap_score):
                self._heap_score = _grown(self._heap_score, 2 * room)
                self._heap_set = _grown(self._heap_set, 2 * room)
            take_out(
                *self._arguments, self._ahead, self._follower, self._threshold, before + number, self._counts,
                self._heap_score, self._heap_set, self._taken, self._scores,
            )  # fmt: skip
        new = slice(before, int(self._counts[0]))
        return self._taken[new], self._scores[new]


def _grown(array: np.ndarray, size: int) -> np.ndarray:
    larger = np.empty((size, *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


@compiled
def best_ahead(node, start, stop, edge, stride, ahead, follower):
    """ahead_t(r) = max_s (E[r, s] + ψ_{t+1}(s) + ahead_{t+1}(s)), follower[t, r] the maximising s; 0 at the end."""
    length, n_labels = node.shape
    for t in range(length - 2, -1, -1):
        m = stride * (t + 1)
        for r in range(n_labels):
            ahead[t, r] = -np.inf
            for s in range(n_labels):
                score = edge[m, r, s] + node_score(node, start, stop, t + 1, s) + ahead[t + 1, s]
                if score > ahead[t, r]:
                    ahead[t, r] = score
                    follower[t, r] = s


@compiled
def comes_first(score, other_score, one, other):
    """The order of the heap: higher scores, then what was made by an earlier labelling, at an earlier position."""
    if score != other_score:
        return score > other_score
    for k in range(3):
        if one[k] != other[k]:
            return one[k] < other[k]
    return False


@compiled
def push(parent, t, s, score, counts, heap_score, heap_set):
    place = counts[1]
    counts[1] += 1
    heap_score[place] = score
    heap_set[place, 0], heap_set[place, 1], heap_set[place, 2] = parent, t, s
    while place > 0:
        above = (place - 1) // 2
        if not comes_first(heap_score[place], heap_score[above], heap_set[place], heap_set[above]):
            return
        swap(place, above, heap_score, heap_set)
        place = above


@compiled
def swap(one, other, heap_score, heap_set):
    heap_score[one], heap_score[other] = heap_score[other], heap_score[one]
    for k in range(3):
        heap_set[one, k], heap_set[other, k] = heap_set[other, k], heap_set[one, k]


@compiled
def remove_top(counts, heap_score, heap_set):
    """The top was looked at: the last takes its place and sinks."""
    counts[1] -= 1
    swap(0, counts[1], heap_score, heap_set)
    place = 0
    while True:
        first = place
        for below in range(2 * place + 1, min(2 * place + 3, counts[1])):
            if comes_first(heap_score[below], heap_score[first], heap_set[below], heap_set[first]):
                first = below
        if first == place:
            return
        swap(place, first, heap_score, heap_set)
        place = first


@compiled
def first_sets(node, start, stop, ahead, threshold, counts, heap_score, heap_set):
    """One set for each first label; parent -1: nothing comes before."""
    for s in range(node.shape[1]):
        score = node_score(node, start, stop, 0, s) + ahead[0, s]
        if score >= threshold:
            push(-1, 0, s, score, counts, heap_score, heap_set)


@compiled
def take_out(
    node, start, stop, edge, stride, ahead, follower, threshold, until, counts, heap_score, heap_set, taken, scores
):
    """Takes labellings out, in order, until there are so many, the heap is empty, or it has no room for one more."""
    length, n_labels = node.shape
    while counts[0] < until and counts[1] > 0 and counts[1] + length * n_labels <= heap_score.size:
        place = counts[0]
        counts[0] += 1
        scores[place] = heap_score[0]
        parent, deviation, label = heap_set[0, 0], heap_set[0, 1], heap_set[0, 2]
        remove_top(counts, heap_score, heap_set)
        labels = taken[place]
        for t in range(deviation):
            labels[t] = taken[parent, t]
        labels[deviation] = label
        for t in range(deviation + 1, length):
            labels[t] = follower[t - 1, labels[t - 1]]
        prefix = 0.0  # F of the labels before t
        for t in range(length):
            if t > deviation:
                for s in range(n_labels):
                    if s != labels[t]:
                        here = edge[stride * t, labels[t - 1], s] + node_score(node, start, stop, t, s)
                        # No set has anything better than its parent: what says so is rounding.
                        score = min(scores[place], prefix + here + ahead[t, s])
                        if score >= threshold:
                            push(place, t, s, score, counts, heap_score, heap_set)
            if t > 0:
                prefix += edge[stride * t, labels[t - 1], labels[t]]
            prefix += node_score(node, start, stop, t, labels[t])
