"""Working sets: for each training sequence some labellings, their weights α and the differences of features that they make.

A member of a set is a labelling y of its sequence, as the positions where it differs from the truth. It stands for the vector
g = scale · (Ψ(x, y*) - Ψ(x, y)), and comes with its target (what ⟨w, g⟩ should reach) and with the inner products ⟨g_k, g_l⟩ in
its set. Of g the part of the attributes is given by atoms, the true and the wrong label of each difference, the part of the
pairs of labels by entries. Members are put in the order of the sequences anew whenever sets change; entries stay where they are
until there is no room for more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from labseq_core.compiling.routines import compiled


class LabelSets(NamedTuple):
    """Ragged arrays: sequence i owns members `bounds[i] : bounds[i + 1]`, member k entries `entry_begin[k] : entry_end[k]`."""

    bounds: np.ndarray  # (sequences + 1,)
    alpha: np.ndarray  # (members,): the dual weights, in the units of g
    before: np.ndarray  # (members,): the same before the last sweep
    target: np.ndarray  # (members,): what ⟨w, g⟩ should be at least
    scale: np.ndarray  # (members,)
    entry_begin: np.ndarray  # (members,)
    entry_end: np.ndarray  # (members,)
    index: np.ndarray  # (entries,) int32: coordinates of pairs of labels in g
    value: np.ndarray  # (entries,): of g there
    difference_bounds: np.ndarray  # (members + 1,)
    position: np.ndarray  # (differences,) int32: where the labelling differs from the truth, in the flat batch
    label: np.ndarray  # (differences,) int32: its label there
    right: np.ndarray  # (differences,) int32: the atom of the true label there
    wrong: np.ndarray  # (differences,) int32: the atom of its label
    atom_bounds: np.ndarray  # (sequences + 1,): sequence i owns these of `atoms`
    atoms: np.ndarray  # int32: each atom of its labellings once
    gram_bounds: np.ndarray  # (sequences + 1,): sequence i owns a square of ⟨g_k, g_l⟩
    gram: np.ndarray

    @property
    def n_members(self) -> int:
        return self.alpha.size

    @property
    def distance(self) -> np.ndarray:
        """(members,): in how many positions a labelling differs from the truth."""
        return np.diff(self.difference_bounds)

    def sequence_of_members(self) -> np.ndarray:
        return np.repeat(np.arange(self.bounds.size - 1), np.diff(self.bounds))

    def largest_square(self) -> float:
        """The largest ‖g‖²."""
        owner = self.sequence_of_members()
        place = np.arange(self.n_members) - self.bounds[owner]
        diagonal = self.gram_bounds[owner] + place * (np.diff(self.bounds)[owner] + 1)
        return float(self.gram[diagonal].max(initial=0.0))


class Candidates(NamedTuple):
    """Labellings that may join: candidate c is of `sequences[c]` (ascending), its labels start at `labels[begins[c]]`."""

    sequences: np.ndarray
    begins: np.ndarray
    labels: np.ndarray

    @classmethod
    def whole(cls, sequences: np.ndarray, labels: np.ndarray, offsets: np.ndarray) -> Candidates:
        """One for each of the sequences (ascending), from labels of all positions."""
        return cls(np.ascontiguousarray(sequences), offsets[sequences], labels)

    def and_those_of(self, other: Candidates) -> Candidates:
        """Both, those of one sequence one after the other."""
        sequences = np.concatenate([self.sequences, other.sequences])
        begins = np.concatenate([self.begins, other.begins + self.labels.size])
        order = np.argsort(sequences, kind="stable")
        return Candidates(sequences[order], begins[order], np.concatenate([self.labels, other.labels]))


def empty_sets(n_sequences: int) -> LabelSets:
    return room_for(np.zeros(n_sequences + 1, dtype=np.int64), 0, np.zeros(0, dtype=np.int32), np.zeros(0))


def room_for(bounds: np.ndarray, n_differences: int, index: np.ndarray, value: np.ndarray) -> LabelSets:
    """Arrays for sets with these bounds, on these entries."""
    sizes, members = np.diff(bounds), int(bounds[-1])
    gram_bounds = np.concatenate([[0], np.cumsum(sizes * sizes)])

    def numbers(size: int) -> np.ndarray:
        return np.zeros(size, dtype=np.int64)

    def small_numbers(size: int) -> np.ndarray:
        return np.empty(size, dtype=np.int32)

    return LabelSets(
        bounds, np.zeros(members), np.zeros(members), np.empty(members), np.empty(members), numbers(members), numbers(members),
        index, value, numbers(members + 1), *(small_numbers(n_differences) for _ in range(4)), numbers(bounds.size),
        small_numbers(2 * n_differences), gram_bounds, np.empty(int(gram_bounds[-1])),
    )  # fmt: skip


@compiled
def is_kept(sets, member):
    """Only what has no weight may go (T Algorithm 5, line 9, with ε = 0), now or when the last sweep is taken back."""
    return sets.alpha[member] > 0.0 or sets.before[member] > 0.0


@compiled
def is_labelling(sets, member, truth, labels, begin):
    """Whether a member is this labelling of the sequence that begins there."""
    d, end = sets.difference_bounds[member], sets.difference_bounds[member + 1]
    for t in range(labels.size):
        if labels[t] != truth[begin + t]:
            if d == end or sets.position[d] != begin + t or sets.label[d] != labels[t]:
                return False
            d += 1
    return d == end


@compiled
def refuse_known(sets, offsets, truth, candidates, is_new):
    """is_new[c]: neither the truth, nor in the part of its set that is kept, nor a candidate before."""
    for c in range(candidates.sequences.size):
        i = candidates.sequences[c]
        begin = offsets[i]
        labels = candidates.labels[candidates.begins[c] : candidates.begins[c] + offsets[i + 1] - begin]
        different = False
        for t in range(labels.size):
            different = different or labels[t] != truth[begin + t]
        is_new[c] = different
        for member in range(sets.bounds[i], sets.bounds[i + 1]):
            if is_new[c] and is_kept(sets, member) and is_labelling(sets, member, truth, labels, begin):
                is_new[c] = False
        before = c - 1
        while is_new[c] and before >= 0 and candidates.sequences[before] == i:
            same = True
            for t in range(labels.size):
                same = same and candidates.labels[candidates.begins[before] + t] == labels[t]
            is_new[c] = not same
            before -= 1


@compiled
def count_members(sets, offsets, truth, candidates, is_new, bounds):
    """Fills the bounds of the sets to be; gives how many differences and how many entries of vectors are kept, and how many
    differences are new.
    """
    differences, entries, more, c = 0, 0, 0, 0
    for i in range(bounds.size - 1):
        size = 0
        for member in range(sets.bounds[i], sets.bounds[i + 1]):
            if is_kept(sets, member):
                size += 1
                differences += sets.difference_bounds[member + 1] - sets.difference_bounds[member]
                entries += sets.entry_end[member] - sets.entry_begin[member]
        while c < candidates.sequences.size and candidates.sequences[c] == i:
            if is_new[c]:
                size += 1
                for t in range(offsets[i + 1] - offsets[i]):
                    more += candidates.labels[candidates.begins[c] + t] != truth[offsets[i] + t]
            c += 1
        bounds[i + 1] = bounds[i] + size
    return differences, entries, more


@compiled
def pack_entries(sets, index, value):
    """Moves the entries of all members that are kept to new arrays, one after the other; gives how many there are."""
    place = 0
    for member in range(sets.alpha.size):
        if is_kept(sets, member):
            begin = place
            for e in range(sets.entry_begin[member], sets.entry_end[member]):
                index[place], value[place] = sets.index[e], sets.value[e]
                place += 1
            sets.entry_begin[member], sets.entry_end[member] = begin, place
    return place


@compiled
def gram_of(sets, i):
    """⟨g_k, g_l⟩ of sequence i, (members, members): a view."""
    size = sets.bounds[i + 1] - sets.bounds[i]
    return sets.gram[sets.gram_bounds[i] : sets.gram_bounds[i + 1]].reshape((size, size))


@compiled
def keep_members(old, i, new):
    """Copies what is kept of sequence i to its place in the new sets; gives the first place that is still free."""
    member, old_size = new.bounds[i], old.bounds[i + 1] - old.bounds[i]
    gram, old_gram = gram_of(new, i), gram_of(old, i)
    for k in range(old_size):
        source = old.bounds[i] + k
        if not is_kept(old, source):
            continue
        new.alpha[member], new.before[member] = old.alpha[source], old.before[source]
        new.target[member], new.scale[member] = old.target[source], old.scale[source]
        new.entry_begin[member], new.entry_end[member] = old.entry_begin[source], old.entry_end[source]
        place = new.difference_bounds[member]
        for d in range(old.difference_bounds[source], old.difference_bounds[source + 1]):
            new.position[place], new.label[place] = old.position[d], old.label[d]
            new.right[place], new.wrong[place] = old.right[d], old.wrong[d]
            place += 1
        new.difference_bounds[member + 1] = place
        row, column = member - new.bounds[i], 0
        for l in range(old_size):
            if is_kept(old, old.bounds[i] + l):
                gram[row, column] = old_gram[k, l]
                column += 1
        member += 1
    return member


@compiled
def put_labelling(new, member, truth, labels, begin, number, n_labels):
    """Writes where the labelling differs from the truth; gives in how many positions. number: as of `Atoms`."""
    place = new.difference_bounds[member]
    for t in range(labels.size):
        right, wrong, here = truth[begin + t], labels[t], (begin + t) * n_labels
        if wrong != right:
            new.position[place], new.label[place] = begin + t, wrong
            new.right[place], new.wrong[place] = number[here + right], number[here + wrong]
            place += 1
    new.difference_bounds[member + 1] = place
    return place - new.difference_bounds[member]


@compiled
def list_atoms(new, i, is_listed):
    """The atoms of all labellings of sequence i, each once; is_listed: of those that are."""
    place = new.atom_bounds[i]
    for d in range(new.difference_bounds[new.bounds[i]], new.difference_bounds[new.bounds[i + 1]]):
        for atom in (new.right[d], new.wrong[d]):
            if not is_listed[atom]:
                is_listed[atom] = True
                new.atoms[place] = atom
                place += 1
    new.atom_bounds[i + 1] = place


@compiled
def atoms_of(sets, i):
    return sets.atoms[sets.atom_bounds[i] : sets.atom_bounds[i + 1]]
