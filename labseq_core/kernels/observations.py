"""The distinct observations of a batch: what Gram matrices are over."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from labseq_core.checks import require
from labseq_core.compiling.routines import compiled
from labseq_core.data.alphabet import Alphabet
from labseq_core.features.encoded import NO_VALUES, EncodedSequences, gather


@dataclass(frozen=True)
class SparseRows:
    """Vectors of attributes, one per row; within a row attributes are in order, each once, none with value 0.

    That order makes inner products come out the same from either side, to the last bit.
    """

    indptr: np.ndarray  # int64, (rows + 1,)
    indices: np.ndarray  # int32, (entries,)
    values: np.ndarray  # float64, (entries,), or empty: all values are 1
    n_columns: int

    @classmethod
    def of(cls, encoded: EncodedSequences) -> SparseRows:
        """A row per position. What stands twice at a position counts twice, as in linear scores."""
        indptr, indices, values = _in_order(encoded.indptr, encoded.indices, encoded.values)
        return cls(indptr, indices, NO_VALUES if (values == 1.0).all() else values, encoded.n_attributes)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @cached_property
    def squares(self) -> np.ndarray:
        """⟨x, x⟩ of each row, summed in the order in which inner products are."""
        squares = np.empty(len(self))
        _squares(self.indptr, self.values, squares)
        return squares

    def take(self, rows: np.ndarray) -> SparseRows:
        """Some of the rows, in the given order."""
        entries, indptr = gather(self.indptr, rows)
        return SparseRows(
            indptr, self.indices[entries], self.values[entries] if self.values.size else self.values, self.n_columns
        )

    def only(self, columns: np.ndarray) -> SparseRows:
        """The columns for which the mask is true, with value 1 wherever there is anything."""
        kept = columns[self.indices]
        indptr = np.concatenate([[0], np.cumsum(kept)])[self.indptr]
        return SparseRows(indptr, self.indices[kept], NO_VALUES, self.n_columns)


@dataclass(frozen=True)
class Observations:
    """Distinct vectors of attributes, numbered in order of appearance, and which of them each position has."""

    vectors: SparseRows
    rows: np.ndarray  # int64, (positions,): the number of the vector of each position
    vocabulary: Alphabet
    _views: dict[str, SparseRows] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, encoded: EncodedSequences) -> Observations:
        """The observations of all positions, exact duplicates merged."""
        every = SparseRows.of(encoded)
        firsts, rows = distinct_rows(every.indptr, every.indices, every.values)
        return cls(every.take(firsts), rows, encoded.vocabulary)

    @classmethod
    def of_positions(cls, encoded: EncodedSequences) -> Observations:
        """One for each position, duplicates or not."""
        every = SparseRows.of(encoded)
        return cls(every, np.arange(len(every)), encoded.vocabulary)

    def __len__(self) -> int:
        return len(self.vectors)

    def take(self, numbers: np.ndarray) -> Observations:
        """Some of the distinct observations, numbered anew, each at one position."""
        return Observations(self.vectors.take(numbers), np.arange(len(numbers)), self.vocabulary)

    def as_sequences(self) -> EncodedSequences:
        """The distinct observations, each as a sequence of length 1."""
        vectors, every = self.vectors, np.arange(len(self) + 1)
        return EncodedSequences(vectors.indptr, vectors.indices, vectors.values, every, self.vocabulary)

    def view(self, attribute: str | None) -> SparseRows:
        """The vectors as a kernel looks at them: all attributes, or whether there are those named "attribute=..."."""
        if attribute is None:
            return self.vectors
        if attribute not in self._views:
            start = f"{attribute}="
            named = np.fromiter((name.startswith(start) for name in self.vocabulary.names), np.bool_)
            fix = "name another one in TokenMatch(attribute=...), or add it to the features"
            require(bool(named.any()), f"X has no attribute {start!r}...; {fix}")
            self._views[attribute] = self.vectors.only(named)
        return self._views[attribute]


@compiled
def _in_order(indptr, indices, values):
    """Rows with their entries in order of attribute, equal attributes added up, zeros left out."""
    own_indptr = np.zeros_like(indptr)
    own_indices, own_values = np.empty_like(indices), np.empty(indices.size)
    end = 0
    for t in range(indptr.size - 1):
        begin = end
        for k in range(indptr[t], indptr[t + 1]):
            a, amount = indices[k], values[k] if values.size else 1.0
            place = end
            while place > begin and own_indices[place - 1] > a:
                place -= 1
            if place > begin and own_indices[place - 1] == a:
                own_values[place - 1] += amount
                continue
            for later in range(end, place, -1):
                own_indices[later], own_values[later] = own_indices[later - 1], own_values[later - 1]
            own_indices[place], own_values[place] = a, amount
            end += 1
        kept = begin
        for k in range(begin, end):
            if own_values[k] != 0.0:
                own_indices[kept], own_values[kept] = own_indices[k], own_values[k]
                kept += 1
        end = kept
        own_indptr[t + 1] = end
    return own_indptr, own_indices[:end].copy(), own_values[:end].copy()


@compiled
def _squares(indptr, values, squares):
    for row in range(indptr.size - 1):
        total = 0.0
        for k in range(indptr[row], indptr[row + 1]):
            total += values[k] * values[k] if values.size else 1.0
        squares[row] = total


@compiled
def distinct_rows(indptr, indices, values):
    """The first position of each distinct row, and for each position the number of its row: by an open hash table."""
    n_positions = indptr.size - 1
    size = 1
    while size < 2 * n_positions:
        size *= 2
    table = np.full(size, -1, dtype=np.int64)  # numbers of distinct rows
    firsts, rows = np.empty(n_positions, dtype=np.int64), np.empty(n_positions, dtype=np.int64)
    bits = values.view(np.int64)
    found = 0
    for t in range(n_positions):
        begin, length = indptr[t], indptr[t + 1] - indptr[t]
        code = np.uint64(length)
        for k in range(begin, begin + length):
            code = (code ^ np.uint64(indices[k])) * np.uint64(0x9E3779B97F4A7C15)
            if values.size:
                code = (code ^ np.uint64(bits[k])) * np.uint64(0xC2B2AE3D27D4EB4F)
            code ^= code >> np.uint64(29)
        slot = np.int64(code & np.uint64(size - 1))
        while True:
            number = table[slot]
            if number < 0:
                table[slot] = rows[t] = found
                firsts[found] = t
                found += 1
                break
            other = firsts[number]
            same = indptr[other + 1] - indptr[other] == length
            for k in range(length):
                if not same:
                    break
                same = indices[begin + k] == indices[indptr[other] + k]
                if values.size and values[begin + k] != values[indptr[other] + k]:
                    same = False
            if same:
                rows[t] = number
                break
            slot = (slot + 1) & (size - 1)
    return firsts[:found].copy(), rows
