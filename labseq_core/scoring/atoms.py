"""Scores of single labels at single positions, and changes of them, compiled: what labellings in working sets differ by.

The labellings of a working set share most of what they have wrong. So features are looked up once for each label at a
position, an *atom*, not for each labelling that has it: atoms are scored, and a labelling sums over its own. Scores come from
explicit weights, or from those of all observations (`RunningKernelScores`), which follow by rows of the Gram matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from labseq_core.compiling.routines import compiled, compiled_sum
from labseq_core.features import EncodedSequences


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

    @classmethod
    def of(cls, encoded: EncodedSequences, truth: np.ndarray, n_labels: int, eta: float) -> TrainingData:
        return cls(
            encoded.indptr, encoded.indices, encoded.values, encoded.offsets, truth, encoded.n_attributes, n_labels,
            float(np.sqrt(eta)),
        )  # fmt: skip


class Atoms(NamedTuple):
    """Atoms in the order in which they came up, with room for more."""

    number: (
        np.ndarray
    )  # (positions · S,) int32: that of label s at position t stands at t·S + s; -1: it has not come up
    place: np.ndarray  # (room,): t·S + s of each atom
    begin: np.ndarray  # (room + 1,): where its coordinates begin and those of the one before end
    index: np.ndarray  # (entries,) int32: coordinates of its features, in the order of the attributes of its position
    score: np.ndarray  # (room,): of the atoms of the set at work
    amount: np.ndarray  # (room,): what is to be added to a function at the atoms of the set at work; else 0


def no_atoms(data: TrainingData) -> Atoms:
    number = np.full((data.indptr.size - 1) * data.n_labels, -1, dtype=np.int32)
    return Atoms(number, np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32),
                 np.zeros(0), np.zeros(0))  # fmt: skip


def with_room(atoms: Atoms, n_atoms: int, n_entries: int) -> Atoms:
    """The same in arrays that hold so many atoms and coordinates; twice as many as before where there were too few."""
    if n_atoms > atoms.place.size:
        room = max(n_atoms, 2 * atoms.place.size)
        larger = {name: grown(getattr(atoms, name), room) for name in ("place", "score", "amount")}
        atoms = atoms._replace(begin=grown(atoms.begin, room + 1), **larger)
    if n_entries > atoms.index.size:
        atoms = atoms._replace(index=grown(atoms.index, max(n_entries, 2 * atoms.index.size)))
    return atoms


def grown(array: np.ndarray, size: int) -> np.ndarray:
    """The array with zeros behind it."""
    larger = np.zeros(size, dtype=array.dtype)
    larger[: array.size] = array
    return larger


@compiled
def number_atoms(data, candidates, is_new, number, place, count):
    """Numbers the labels that new candidates have wrong and the true ones in their place; gives how many atoms there are."""
    n_labels = data.n_labels
    for c in range(is_new.size):
        if is_new[c]:
            first, end = data.offsets[candidates.sequences[c]], data.offsets[candidates.sequences[c] + 1]
            for t in range(first, end):
                truth, guess = data.truth[t], candidates.labels[candidates.begins[c] + t - first]
                if truth != guess:
                    for label in (truth, guess):
                        if number[t * n_labels + label] < 0:
                            number[t * n_labels + label] = count
                            place[count] = t * n_labels + label
                            count += 1
    return count


@compiled
def coordinate_of(feature, coordinate, listed):
    """The coordinate of a feature; the next free one if it had none."""
    if coordinate[feature] < 0:
        coordinate[feature] = listed[0]
        listed[0] += 1
        listed[listed[0]] = feature
    return coordinate[feature]


@compiled
def fill_atoms(data, atoms, first, end, coordinate, listed):
    """The coordinates of the atoms from first to end."""
    for atom in range(first, end):
        t, label = atoms.place[atom] // data.n_labels, atoms.place[atom] % data.n_labels
        entry = atoms.begin[atom]
        for k in range(data.indptr[t], data.indptr[t + 1]):
            atoms.index[entry] = coordinate_of(data.indices[k] * data.n_labels + label, coordinate, listed)
            entry += 1
        atoms.begin[atom + 1] = entry


@compiled_sum
def gathered(index, values, vector):
    """Σ_e values[e] vector[index[e]]; no values: all are 1."""
    total = 0.0
    if values.size:
        for e in range(index.size):
            total += values[e] * vector[index[e]]
    else:
        for e in range(index.size):
            total += vector[index[e]]
    return total


@compiled
def values_at(data, place):
    """The values of the attributes of an atom's position."""
    t = place // data.n_labels
    return data.values[data.indptr[t] : data.indptr[t + 1]] if data.values.size else data.values


@compiled
def score_atoms(own, atoms, data, vector):
    """The score of each of these atoms: the inner product of its features with the vector."""
    for atom in own:
        index = atoms.index[atoms.begin[atom] : atoms.begin[atom + 1]]
        atoms.score[atom] = gathered(index, values_at(data, atoms.place[atom]), vector)


@compiled
def add_atoms(own, atoms, data, vector):
    """vector += Σ amount · features of these atoms; the amounts are 0 afterwards."""
    for atom in own:
        amount = atoms.amount[atom]
        if amount == 0.0:
            continue
        atoms.amount[atom] = 0.0
        index, values = atoms.index[atoms.begin[atom] : atoms.begin[atom + 1]], values_at(data, atoms.place[atom])
        if values.size:
            for e in range(index.size):
                vector[index[e]] += amount * values[e]
        else:
            for e in range(index.size):
                vector[index[e]] += amount


@compiled
def read_atoms(own, atoms, rows, by_label):
    """The score of each of these atoms, from the scores Gβ of all observations."""
    n_labels = by_label.shape[0]
    for atom in own:
        place = atoms.place[atom]
        atoms.score[atom] = by_label[place % n_labels, rows[place // n_labels]]


@compiled
def score_by_rows(own, atoms, rows, n_labels, stored, stored_at):
    """The score of each of these atoms by the function with their amounts: Σ_p amount[p, s] G[o, p] at (o, s)."""
    for atom in own:
        place, total = atoms.place[atom], 0.0
        for other in own:
            if atoms.amount[other] != 0.0 and atoms.place[other] % n_labels == place % n_labels:
                kernel_row = stored[stored_at[rows[atoms.place[other] // n_labels]]]
                total += atoms.amount[other] * kernel_row[rows[place // n_labels]]
        atoms.score[atom] = total


@compiled
def add_atoms_by_rows(own, atoms, vector, rows, by_label, stored, stored_at):
    """β += the amounts of these atoms, which are 0 afterwards; the scores Gβ follow. Gives how often they changed."""
    n_labels, changes = by_label.shape[0], 0
    for atom in own:
        amount, place = atoms.amount[atom], atoms.place[atom]
        if amount != 0.0:
            atoms.amount[atom] = 0.0
            vector[atoms.index[atoms.begin[atom]]] += amount
            add_row(by_label, place % n_labels, stored, stored_at[rows[place // n_labels]], amount)
            changes += 1
    return changes


@compiled
def add_row(by_label, label, stored, row, amount):
    """by_label[label] += amount · G[o]."""
    for j in range(by_label.shape[1]):
        by_label[label, j] += amount * stored[row, j]
