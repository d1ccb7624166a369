"""Differences of features of the labellings in working sets, in coordinates that come into use one after the other.

Features are numbered in one flat row: attribute a at label s is feature a·S + s, label r before s is (A + r)·S + s. The pair of
labels has the value √η and the weight u = √η δ, so that ‖u‖² is the norm of the sequence kernel (T 2.9, 4.22) and the edge
scores are √η u = ηδ (T 4.24). Most features are never confused with others: a feature gets a coordinate when a difference
first has it, so that the vectors that sweeps run through stay short.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from labseq_core._jit import compiled
from labseq_core.chain import ChainPotentials
from labseq_core.features import EncodedSequences
from labseq_core.scoring.linear import LinearWeights
from labseq_core.solvers.block_ascent import VANISHING, project
from labseq_core.solvers.label_sets import (
    Candidates,
    LabelSets,
    count_slots,
    empty_sets,
    keep_slots,
    pack_entries,
    put_labelling,
    refuse_known,
    room_for,
)


class MarginFeatures(Protocol):
    """What the ascent asks of a way of scoring: the dual variables of all training sequences, and the function they make."""

    sets: LabelSets

    def potentials(self, sequences: np.ndarray | None = None) -> ChainPotentials:
        """Scores of all sequences, or of some of them (then the others may have old scores)."""

    def squared_norm(self) -> float:
        """‖w‖²."""

    def extend(self, candidates: Candidates, rescale: str | None) -> int:
        """Adds the candidates that are new, drops what has had no weight for long; gives how many are new."""

    def sweep(self, order: np.ndarray, cap: float, upper: float, ridge: float) -> bool:
        """Re-optimises the working sets of these sequences in turn; False where a step has no end."""

    def extrapolate(self, share: float, cap: float, upper: float) -> None:
        """Goes on in the direction of the last sweep by this share of it, as far as constraints allow.

        Either way the present point is remembered for `take_back` and for the next extrapolation.
        """

    def take_back(self) -> None:
        """Back to where the last `extrapolate` started."""

    def scale(self, factor: float) -> None:
        """Multiplies all α and with them the function."""


class TrainingData(NamedTuple):
    """The training data as compiled code takes them."""

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray  # empty: all are 1
    offsets: np.ndarray
    truth: np.ndarray  # (positions,): the true labels
    n_attributes: int
    n_labels: int
    root_eta: float


class Differences:
    """Working sets of all training sequences, their vectors g and u = Σ α g, with u of one sweep ago."""

    def __init__(self, encoded: EncodedSequences, truth: np.ndarray, n_labels: int, eta: float):
        self.data = TrainingData(
            encoded.indptr, encoded.indices, encoded.values, encoded.offsets, truth, encoded.n_attributes, n_labels,
            float(np.sqrt(eta)),
        )  # fmt: skip
        self.sets = empty_sets(len(encoded))
        self.coordinate = np.full((encoded.n_attributes + n_labels) * n_labels, -1, dtype=np.int32)  # of each feature
        self.listed = np.zeros(1, dtype=np.int64)  # how many features have one; then the feature of each coordinate
        self.vector, self.previous = np.zeros(0), np.zeros(0)  # u, and u before the last sweep
        self._mark = np.zeros(0)  # a difference of features, spread out; zero between calls
        self._filled = 0  # entries of vectors so far, those of dropped labellings included
        entries = np.diff(encoded.indptr[encoded.offsets]) + np.diff(encoded.offsets)
        self._touched = np.empty(2 * int(entries.max()), dtype=np.int32)

    @property
    def n_used(self) -> int:
        return int(self.listed[0])

    @property
    def features(self) -> np.ndarray:
        """The feature of each coordinate in use."""
        return self.listed[1 : 1 + self.n_used]

    def fill(self, weights: LinearWeights) -> LinearWeights:
        """u as the weights that score, which are zero before."""
        weights.flat[self.features] = self.vector[: self.n_used]
        weights.edge[:] *= self.data.root_eta
        return weights

    def extend(self, candidates: Candidates, rescale: str | None) -> tuple[int, int]:
        """As in `MarginFeatures`; gives too where the entries of the new vectors begin."""
        data, old = self.data, self.sets
        is_new = np.empty(candidates.sequences.size, dtype=np.bool_)
        refuse_known(old, data.offsets, data.truth, candidates, is_new)
        bounds = np.zeros_like(old.bounds)
        differences, entries, more = count_slots(old, data.offsets, data.truth, candidates, is_new, bounds)
        added = new_entries(data, candidates, is_new)
        self._make_room(added)
        index, value = old.index, old.value
        if self._filled + added > index.size:
            size = 2 * (entries + added)
            index, value = np.empty(size, dtype=np.int32), np.empty(size)
            self._filled = pack_entries(old, index, value)
        self.sets, first_new = room_for(bounds, differences + more, index, value), self._filled
        self._filled = fill_sets(
            data, old, candidates, is_new, rescale is not None, rescale == "slack", self.coordinate, self.listed,
            self._mark, self._touched, self._filled, self.sets,
        )  # fmt: skip
        return int(is_new.sum()), first_new

    def _make_room(self, more: int) -> None:
        """So many coordinates more may be needed."""
        size = min(self.n_used + more, self.coordinate.size)
        if size > self.vector.size:
            size = min(max(size, 2 * self.vector.size), self.coordinate.size)
            self.vector, self.previous, self._mark = (
                np.concatenate([array, np.zeros(size - array.size)])
                for array in (self.vector, self.previous, self._mark)
            )
            self.listed = np.concatenate([self.listed, np.zeros(1 + size - self.listed.size, dtype=np.int64)])

    def extrapolate(self, share: float, cap: float, upper: float) -> np.ndarray:
        """As in `MarginFeatures`; gives what the constraints changed of u + share (u - previous)."""
        extrapolate_vector(self.vector[: self.n_used], self.previous, share)
        correction = np.zeros(self.n_used)
        extrapolate_sets(self.sets, share, cap, upper, correction)
        self.vector[: self.n_used] += correction
        return correction

    def take_back(self) -> None:
        self.vector[:] = self.previous
        self.sets.alpha[:] = self.sets.before

    def scale(self, factor: float) -> None:
        self.vector *= factor
        self.previous *= factor
        self.sets.alpha[:] *= factor
        self.sets.before[:] *= factor


@compiled
def add_to(coordinate, features, feature, amount, mark, touched, count):
    """Adds to a feature that is spread out; what is nonzero is listed, perhaps twice if it was zero in between."""
    place = coordinate[feature]
    if place < 0:
        place = features[0]
        coordinate[feature] = place
        features[0] += 1
        features[1 + place] = feature
    if mark[place] == 0.0:
        touched[count] = place
        count += 1
    mark[place] += amount
    return count


@compiled
def spread_difference(data, begin, labels, scale, coordinate, features, mark, touched):
    """scale · (Ψ(x, y*) - Ψ(x, y)) into `mark`; gives how many coordinates are listed in `touched`."""
    count, n_labels = 0, data.n_labels
    pair = scale * data.root_eta
    for t in range(labels.size):
        truth, guess = data.truth[begin + t], labels[t]
        if truth != guess:
            for k in range(data.indptr[begin + t], data.indptr[begin + t + 1]):
                amount = scale * data.values[k] if data.values.size else scale
                feature = data.indices[k] * n_labels
                count = add_to(coordinate, features, feature + truth, amount, mark, touched, count)
                count = add_to(coordinate, features, feature + guess, -amount, mark, touched, count)
        if t > 0 and (truth != guess or data.truth[begin + t - 1] != labels[t - 1]):
            true_pair = (data.n_attributes + data.truth[begin + t - 1]) * n_labels + truth
            guessed_pair = (data.n_attributes + labels[t - 1]) * n_labels + guess
            count = add_to(coordinate, features, true_pair, pair, mark, touched, count)
            count = add_to(coordinate, features, guessed_pair, -pair, mark, touched, count)
    return count


@compiled
def new_entries(data, candidates, is_new):
    """How many coordinates the differences of the new candidates have at most."""
    total = 0
    for c in range(is_new.size):
        if is_new[c]:
            begin, end = data.offsets[candidates.sequences[c]], data.offsets[candidates.sequences[c] + 1]
            for t in range(end - begin):
                if candidates.labels[candidates.begins[c] + t] != data.truth[begin + t]:
                    total += 2 * (data.indptr[begin + t + 1] - data.indptr[begin + t]) + 4
    return total


@compiled
def fill_sets(
    data, old, candidates, is_new, target_is_distance, scale_is_distance, coordinate, features, mark, touched, filled, new
):  # fmt: skip
    """The kept slots of each sequence, then its new ones with their vectors and inner products; gives where entries end."""
    c = 0
    for i in range(new.bounds.size - 1):
        slot, begin = keep_slots(old, i, new), data.offsets[i]
        size = new.bounds[i + 1] - new.bounds[i]
        gram = new.gram[new.gram_bounds[i] : new.gram_bounds[i + 1]].reshape((size, size))
        while c < is_new.size and candidates.sequences[c] == i:
            if is_new[c]:
                labels = candidates.labels[candidates.begins[c] : candidates.begins[c] + data.offsets[i + 1] - begin]
                distance = put_labelling(new, slot, data.truth, labels, begin)
                new.target[slot] = distance if target_is_distance else 1.0
                new.scale[slot] = distance if scale_is_distance else 1.0
                listed = spread_difference(data, begin, labels, new.scale[slot], coordinate, features, mark, touched)
                row, square = slot - new.bounds[i], 0.0
                new.entry_begin[slot] = filled
                for k in range(row):
                    gram[row, k] = gram[k, row] = product(new, new.bounds[i] + k, mark)
                for entry in range(listed):
                    amount = mark[touched[entry]]
                    if amount != 0.0:
                        new.index[filled], new.value[filled] = touched[entry], amount
                        square += amount * amount
                        mark[touched[entry]] = 0.0
                        filled += 1
                gram[row, row] = square
                new.entry_end[slot] = filled
                slot += 1
            c += 1
    return filled


@compiled
def product(sets, slot, vector):
    """⟨g, vector⟩."""
    total = 0.0
    for e in range(sets.entry_begin[slot], sets.entry_end[slot]):
        total += sets.value[e] * vector[sets.index[e]]
    return total


@compiled
def add_multiple_of(sets, slot, amount, vector):
    """vector += amount · g."""
    for e in range(sets.entry_begin[slot], sets.entry_end[slot]):
        vector[sets.index[e]] += amount * sets.value[e]


@compiled
def extrapolate_vector(vector, previous, share):
    """u + share (u - previous); previous becomes u."""
    for j in range(vector.size):
        here = vector[j]
        vector[j] = here + share * (here - previous[j])
        previous[j] = here


@compiled
def extrapolate_sets(sets, share, cap, upper, correction):
    """α + share (α - before), projected; before becomes α. correction += what projection does to Σ α g."""
    largest = 0
    for i in range(sets.bounds.size - 1):
        largest = max(largest, sets.bounds[i + 1] - sets.bounds[i])
    free, point, work = np.empty(largest), np.empty(largest), np.empty(largest)
    for i in range(sets.bounds.size - 1):
        first, size, moved, scale = sets.bounds[i], sets.bounds[i + 1] - sets.bounds[i], False, 0.0
        for k in range(size):
            here = sets.alpha[first + k]
            free[k] = point[k] = here + share * (here - sets.before[first + k])
            moved = moved or free[k] != here
            scale = max(scale, here)
            sets.before[first + k] = here
        if not moved:
            continue
        project(point[:size], cap, upper, work)
        for k in range(size):
            if point[k] < VANISHING * scale:
                point[k] = 0.0
            sets.alpha[first + k] = point[k]
            if point[k] != free[k]:
                add_multiple_of(sets, first + k, point[k] - free[k], correction)
