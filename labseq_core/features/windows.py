"""Attributes of neighbours: what a position has from the places of the window around it, and how that is called.

Attribute a at place o of the window (o = 0: farthest before) has the number a * window + o.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labseq_core.compiling.routines import compiled
from labseq_core.data.alphabet import Alphabet
from labseq_core.features.encoded import WindowTypes
from labseq_core.features.word_types import WordTypes


def marks(window: int) -> list[str]:
    """What a name has behind its key, by place: "[-1]", nothing, "[+1]"."""
    return [f"[{offset:+d}]" if offset else "" for offset in range(-(window // 2), window // 2 + 1)]


def window_names(names: list[str], numbers: np.ndarray, window: int) -> list[str]:
    """The names of attributes at places, given as numbers."""
    shown_marks = marks(window)
    parts = [name.partition("=") for name in names]
    attributes, places = np.divmod(numbers, window)
    shown = []
    for attribute, place in zip(attributes.tolist(), places.tolist()):
        key, equals, value = parts[attribute]
        shown.append(f"{key}{shown_marks[place]}{equals}{value}")
    return shown


class WindowLookup:
    """The attributes of words that a vocabulary knows: from name without mark to its numbers at all places.

    It is made from the vocabulary's names once, so that the words of a batch need no names for each place.
    """

    def __init__(self, vocabulary: Alphabet, window: int):
        self.vocabulary = vocabulary
        self._words: dict[str, int] = {}  # word -> row of the table
        self._shared: dict[str, int] = {}  # any other name -> row
        place_of_mark = {mark: place for place, mark in enumerate(marks(window))}
        key_parts: dict[str, tuple[str, int | None]] = {}  # keys are few
        rows, places, numbers = [], [], []
        n_rows = 1  # row 0 is for what the vocabulary does not have
        for number, name in enumerate(vocabulary.names):
            marked, equals, value = name.partition("=")
            if marked not in key_parts:
                # No key of a word's attributes has a bracket itself (see `Template.names_of`).
                key, bracket, rest = marked.partition("[")
                key_parts[marked] = key, place_of_mark.get(bracket + rest)
            key, place = key_parts[marked]
            if place is None:
                continue
            if key == "word" and equals:
                row = self._words.setdefault(value, n_rows)
            else:
                row = self._shared.setdefault(key + equals + value, n_rows)
            n_rows += row == n_rows
            rows.append(row)
            places.append(place)
            numbers.append(number)
        self._table = np.full((n_rows, window), -1, dtype=np.int32)
        self._table[rows, places] = numbers

    def numbers(self, types: WordTypes) -> np.ndarray:
        """By number of attribute at place: its number in the vocabulary, or -1."""
        found = np.empty((types.n_attributes, self._table.shape[1]), dtype=np.int32)
        found[types.word_numbers] = self._table[_looked_up(self._words, types.words)]
        found[types.shared_numbers] = self._table[_looked_up(self._shared, types.shared)]
        return found.ravel()


def _looked_up(places: dict[str, int], names: list[str]) -> np.ndarray:
    return np.array([places.get(name, 0) for name in names], dtype=np.int64)


@dataclass(frozen=True)
class TypePlaces:
    """Positions of one type each, and the places that their neighbours take in the window."""

    rows: np.ndarray  # int32, (positions,): the type of each position
    before: np.ndarray  # int8, (positions,): how many positions before it are in its sentence and window
    after: np.ndarray  # int8, (positions,): and how many after it
    window: int
    table: tuple[np.ndarray, np.ndarray]  # (indptr, indices): the attributes of each type

    @classmethod
    def of(cls, rows: np.ndarray, table: tuple[np.ndarray, np.ndarray], offsets: np.ndarray, window: int) -> TypePlaces:
        lengths, half = np.diff(offsets), window // 2
        place = np.arange(rows.size) - np.repeat(offsets[:-1], lengths)
        before = np.minimum(place, half).astype(np.int8)
        after = np.minimum(np.repeat(lengths, lengths) - 1 - place, half).astype(np.int8)
        return cls(rows.astype(np.int32), before, after, window, table)

    def used(self, n_attributes: int) -> np.ndarray:
        """By number of attribute at place, whether any position has it."""
        return used_places(self.rows, self.before, self.after, self.window, *self.table, n_attributes)

    def numbered(self, numbers: np.ndarray) -> WindowTypes:
        """In the numbers given by number of attribute at place; those of -1 are left out."""
        bundles = widen_types(*self.table, numbers, self.window)
        return WindowTypes(self.rows, self.before, self.after, self.window, *bundles)


@compiled
def used_places(rows, before, after, window, table_indptr, table_indices, n_attributes):
    """Which attributes at places any position has, where attributes come by type."""
    half = window // 2
    used_types = np.zeros((table_indptr.size - 1, window), dtype=np.bool_)
    for source in range(rows.size):
        for place in range(half - after[source], half + before[source] + 1):
            used_types[rows[source], place] = True
    used = np.zeros(n_attributes * window, dtype=np.bool_)
    for w in range(table_indptr.size - 1):
        for k in range(table_indptr[w], table_indptr[w + 1]):
            for place in range(window):
                used[table_indices[k] * window + place] |= used_types[w, place]
    return used


@compiled
def widen_types(table_indptr, table_indices, numbers, window):
    """The attributes of each type at each place, in the numbers given by number of attribute at place; not those of -1."""
    n_types = table_indptr.size - 1
    indptr = np.zeros(n_types * window + 1, dtype=np.int64)
    indices = np.empty(table_indices.size * window, dtype=np.int32)
    filled = 0
    for w in range(n_types):
        for place in range(window):
            for k in range(table_indptr[w], table_indptr[w + 1]):
                number = numbers[table_indices[k] * window + place]
                if number >= 0:
                    indices[filled] = number
                    filled += 1
            indptr[w * window + place + 1] = filled
    return indptr, indices[:filled].copy()


@compiled
def gather_types(rows, before, after, window, type_indptr, type_indices):
    """The attributes of each position: those of the types at all places around it, one after the other."""
    half = window // 2
    indptr = np.zeros(rows.size + 1, dtype=np.int64)
    for t in range(rows.size):
        entries = 0
        for source in range(t - before[t], t + after[t] + 1):
            bundle = rows[source] * window + (source - t + half)
            entries += type_indptr[bundle + 1] - type_indptr[bundle]
        indptr[t + 1] = indptr[t] + entries
    indices = np.empty(indptr[-1], dtype=np.int32)
    filled = 0
    for t in range(rows.size):
        for source in range(t - before[t], t + after[t] + 1):
            bundle = rows[source] * window + (source - t + half)
            for k in range(type_indptr[bundle], type_indptr[bundle + 1]):
                indices[filled] = type_indices[k]
                filled += 1
    return indptr, indices


@compiled
def widen(indptr, indices, values, offsets, window):
    """The attributes of each position from its own and those of its neighbours; values are empty if all are 1."""
    half = window // 2
    n_positions = indptr.size - 1
    wide_indptr = np.zeros(n_positions + 1, dtype=np.int64)
    for i in range(offsets.size - 1):
        for t in range(offsets[i], offsets[i + 1]):
            first, last = max(t - half, offsets[i]), min(t + half, offsets[i + 1] - 1)
            wide_indptr[t + 1] = wide_indptr[t] + indptr[last + 1] - indptr[first]
    wide_indices = np.empty(wide_indptr[-1], dtype=np.int64)
    wide_values = np.empty(wide_indptr[-1] if values.size else 0)
    for i in range(offsets.size - 1):
        for t in range(offsets[i], offsets[i + 1]):
            place = wide_indptr[t]
            for source in range(max(t - half, offsets[i]), min(t + half, offsets[i + 1] - 1) + 1):
                for k in range(indptr[source], indptr[source + 1]):
                    wide_indices[place] = indices[k] * window + (source - t + half)
                    if values.size:
                        wide_values[place] = values[k]
                    place += 1
    return wide_indptr, wide_indices, wide_values
