"""Differences of features of the labellings in working sets, in coordinates that come into use one after the other.

Features are numbered in one flat row: attribute a at label s is feature a·S + s, label r before s is (A + r)·S + s. The pair of
labels has the value √η and the weight u = √η δ, so that ‖u‖² is the norm of the sequence kernel (T 2.9, 4.22) and the edge
scores are √η u = ηδ (T 4.24). Most features are never confused with others: a feature gets a coordinate when a difference
first has it, so that the vectors that sweeps run through stay short.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from labseq_core.chain import ChainPotentials
from labseq_core.compiling.routines import compiled
from labseq_core.features import EncodedSequences
from labseq_core.scoring.atoms import (
    TrainingData,
    add_atoms,
    coordinate_of,
    fill_atoms,
    grown,
    no_atoms,
    number_atoms,
    with_room,
)
from labseq_core.scoring.linear import LinearWeights
from labseq_core.solvers.margin.working_set_qp import VANISHING, ascend, project
from labseq_core.solvers.margin.working_sets import (
    Candidates,
    LabelSets,
    atoms_of,
    count_members,
    empty_sets,
    gram_of,
    keep_members,
    list_atoms,
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


class Differences:
    """Working sets of all training sequences and u = Σ α g, with u of one sweep ago."""

    def __init__(self, encoded: EncodedSequences, truth: np.ndarray, n_labels: int, eta: float):
        self.data = TrainingData.of(encoded, truth, n_labels, eta)
        self.sets, self.atoms, self._n_atoms = empty_sets(len(encoded)), no_atoms(self.data), 0
        self.coordinate = np.full((encoded.n_attributes + n_labels) * n_labels, -1, dtype=np.int32)  # of each feature
        self.listed = np.zeros(1, dtype=np.int64)  # how many features have one; then the feature of each coordinate
        self.vector, self.previous = np.zeros(0), np.zeros(0)  # u, and u before the last sweep
        self.mark = np.zeros(0)  # a vector in the same coordinates, zero between calls
        self._filled = 0  # entries of pairs so far, those of dropped labellings included
        self._touched = np.empty(2 * int(np.diff(encoded.offsets).max()), dtype=np.int32)

    @property
    def n_used(self) -> int:
        return int(self.listed[0])

    @property
    def features(self) -> np.ndarray:
        """The feature of each coordinate in use."""
        return self.listed[1 : 1 + self.n_used]

    def fill(self, weights: LinearWeights) -> LinearWeights:
        """u as the weights that score; those of features that are not in use stay as they are."""
        weights.put(self.features, self.vector[: self.n_used], self.data.root_eta)
        return weights

    def extend(self, candidates: Candidates, rescale: str | None) -> tuple[int, np.ndarray]:
        """As in `MarginFeatures`, but for the inner products; gives too the first new member of each sequence."""
        data, old = self.data, self.sets
        is_new = np.empty(candidates.sequences.size, dtype=np.bool_)
        refuse_known(old, data.offsets, data.truth, candidates, is_new)
        bounds = np.zeros_like(old.bounds)
        differences, entries, more = count_members(old, data.offsets, data.truth, candidates, is_new, bounds)
        self._add_atoms(candidates, is_new, 2 * more)
        index, value, added = old.index, old.value, 4 * more
        if self._filled + added > index.size:
            index, value = np.empty(2 * (entries + added), dtype=np.int32), np.empty(2 * (entries + added))
            self._filled = pack_entries(old, index, value)
        self.sets, first_new = room_for(bounds, differences + more, index, value), np.empty_like(bounds[1:])
        self._filled = fill_sets(
            data, old, candidates, is_new, rescale is not None, rescale == "slack", self.atoms.number, self.coordinate,
            self.listed, self.mark, self._touched, self._filled, np.zeros(self._n_atoms, dtype=np.bool_), first_new, self.sets,
        )  # fmt: skip
        return int(is_new.sum()), first_new

    def _add_atoms(self, candidates: Candidates, is_new: np.ndarray, at_most: int) -> None:
        """The atoms of new candidates, and room for the coordinates of their features and of all pairs of labels."""
        data, first = self.data, self._n_atoms
        self.atoms = with_room(self.atoms, first + at_most, 0)
        self._n_atoms = number_atoms(data, candidates, is_new, self.atoms.number, self.atoms.place, first)
        positions = self.atoms.place[first : self._n_atoms] // data.n_labels
        entries = int((data.indptr[positions + 1] - data.indptr[positions]).sum())
        self.atoms = with_room(self.atoms, self._n_atoms, int(self.atoms.begin[first]) + entries)
        size = min(self.n_used + entries + data.n_labels**2, self.coordinate.size)
        if size > self.vector.size:
            size = min(max(size, 2 * self.vector.size), self.coordinate.size)
            self.vector, self.previous, self.mark = (grown(v, size) for v in (self.vector, self.previous, self.mark))
            self.listed = grown(self.listed, 1 + size)
        fill_atoms(data, self.atoms, first, self._n_atoms, self.coordinate, self.listed)

    def extrapolate(self, share: float, cap: float, upper: float) -> np.ndarray:
        """As in `MarginFeatures`; gives what the constraints changed of u + share (u - previous)."""
        extrapolate_vector(self.vector[: self.n_used], self.previous, share)
        correction = np.zeros(self.n_used)
        extrapolate_sets(self.sets, self.atoms, self.data, share, cap, upper, correction)
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
def add_pair(feature, amount, coordinate, listed, mark, touched, count):
    """Adds to a pair of labels in `mark`; what is nonzero is listed, perhaps twice if it was zero in between."""
    place = coordinate_of(feature, coordinate, listed)
    if mark[place] == 0.0:
        touched[count] = place
        count += 1
    mark[place] += amount
    return count


@compiled
def spread_pairs(data, begin, labels, scale, coordinate, listed, mark, touched):
    """scale · (Ψ(x, y*) - Ψ(x, y)) at pairs of labels into `mark`; gives how many coordinates are listed in `touched`."""
    count, n_labels, amount = 0, data.n_labels, scale * data.root_eta
    for t in range(1, labels.size):
        before, truth = data.truth[begin + t - 1], data.truth[begin + t]
        if truth != labels[t] or before != labels[t - 1]:
            right = (data.n_attributes + before) * n_labels + truth
            wrong = (data.n_attributes + labels[t - 1]) * n_labels + labels[t]
            count = add_pair(right, amount, coordinate, listed, mark, touched, count)
            count = add_pair(wrong, -amount, coordinate, listed, mark, touched, count)
    return count


@compiled
def fill_sets(
    data, old, candidates, is_new, target_is_distance, scale_is_distance, number, coordinate, listed, mark, touched, filled,
    is_listed, first_new, new,
):  # fmt: skip
    """The kept members of each sequence, then its new ones, without their inner products; gives where entries end."""
    c = 0
    for i in range(new.bounds.size - 1):
        member, begin = keep_members(old, i, new), data.offsets[i]
        first_new[i] = member
        while c < is_new.size and candidates.sequences[c] == i:
            if is_new[c]:
                labels = candidates.labels[candidates.begins[c] : candidates.begins[c] + data.offsets[i + 1] - begin]
                distance = put_labelling(new, member, data.truth, labels, begin, number, data.n_labels)
                new.target[member] = distance if target_is_distance else 1.0
                new.scale[member] = distance if scale_is_distance else 1.0
                new.entry_begin[member] = filled
                for entry in range(
                    spread_pairs(data, begin, labels, new.scale[member], coordinate, listed, mark, touched)
                ):
                    amount = mark[touched[entry]]
                    if amount != 0.0:
                        new.index[filled], new.value[filled] = touched[entry], amount
                        mark[touched[entry]] = 0.0
                        filled += 1
                new.entry_end[member] = filled
                member += 1
            c += 1
        list_atoms(new, i, is_listed)
    return filled


@compiled
def product(sets, member, atoms, vector):
    """⟨g, vector⟩, from the scores that the vector gives to atoms."""
    total = 0.0
    for d in range(sets.difference_bounds[member], sets.difference_bounds[member + 1]):
        total += atoms.score[sets.right[d]] - atoms.score[sets.wrong[d]]
    total *= sets.scale[member]
    for e in range(sets.entry_begin[member], sets.entry_end[member]):
        total += sets.value[e] * vector[sets.index[e]]
    return total


@compiled
def add_multiple_of(sets, member, factor, atoms, vector):
    """vector += factor · g at pairs of labels; what is to be added at atoms is added to their amounts."""
    amount = factor * sets.scale[member]
    for d in range(sets.difference_bounds[member], sets.difference_bounds[member + 1]):
        atoms.amount[sets.right[d]] += amount
        atoms.amount[sets.wrong[d]] -= amount
    for e in range(sets.entry_begin[member], sets.entry_end[member]):
        vector[sets.index[e]] += factor * sets.value[e]


@compiled
def visit(i, sets, atoms, vector, cap, upper, ridge):
    """T Algorithm 5, line 7: α of a working set whose atoms are scored to its optimum; u follows as in `add_multiple_of`."""
    first, end = sets.bounds[i], sets.bounds[i + 1]
    before, residual = sets.alpha[first:end].copy(), np.empty(end - first)
    total = before.sum()
    for k in range(end - first):
        residual[k] = sets.target[first + k] - product(sets, first + k, atoms, vector) - ridge * total
    if not ascend(sets.alpha[first:end], residual, gram_of(sets, i), cap, upper, ridge):
        return False
    for k in range(end - first):
        change = sets.alpha[first + k] - before[k]
        if change != 0.0:
            add_multiple_of(sets, first + k, change, atoms, vector)
    return True


@compiled
def extrapolate_vector(vector, previous, share):
    """u + share (u - previous); previous becomes u."""
    for j in range(vector.size):
        here = vector[j]
        vector[j] = here + share * (here - previous[j])
        previous[j] = here


@compiled
def extrapolate_sets(sets, atoms, data, share, cap, upper, correction):
    """α + share (α - before), projected; before becomes α. correction += what projection does to Σ α g."""
    largest = 0
    for i in range(sets.bounds.size - 1):
        largest = max(largest, sets.bounds[i + 1] - sets.bounds[i])
    free, point = np.empty(largest), np.empty(largest)
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
        project(point[:size], cap, upper)
        for k in range(size):
            if point[k] < VANISHING * scale:
                point[k] = 0.0
            sets.alpha[first + k] = point[k]
            if point[k] != free[k]:
                add_multiple_of(sets, first + k, point[k] - free[k], atoms, correction)
        add_atoms(atoms_of(sets, i), atoms, data, correction)
