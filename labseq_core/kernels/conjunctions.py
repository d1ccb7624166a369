"""Conjunctions of attributes as features: generated from sparse rows, numbered by a hash table, named on demand.

A conjunction of attributes a < b < ... is one integer, its *key*: the digits a + 1, b + 1, ... to the base n + 1; 0 is the
constant. With real values a & a is the square of a.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np

from labseq_core.checks import require
from labseq_core.compiling.routines import compiled
from labseq_core.data.alphabet import Alphabet
from labseq_core.features.encoded import NO_VALUES
from labseq_core.kernels.observations import SparseRows

MAX_DEGREE, MAX_REAL_DEGREE = 3, 2
CONSTANT_NAME = "(constant)"
CONSTANT, SINGLE, PAIR, TRIPLE, SQUARE = range(5)  # kinds of conjunctions
_SMALLEST_TABLE = 2**10


@dataclass(frozen=True)
class Polynomials:
    """(⟨x, z⟩ + constant)^degree = Σ_f c_f ψ_f(x) ψ_f(z) over conjunctions f, with c_f by kind.

    0/1 attributes: x_a² = x_a, so one feature per set of attributes, ψ = 1:
        c = Σ_k C(degree, k) constant^(degree - k) · (number of maps of k things onto the set)
    Degree 2: constant², 1 + 2 constant, 2 for nothing, a, a & b. Real values: constant², 2 constant, 2 and 1 for a & a.
    """

    degree: int
    constant: float
    is_real: bool

    @property
    def exists(self) -> bool:
        return self.degree <= (MAX_REAL_DEGREE if self.is_real else MAX_DEGREE)

    @cached_property
    def coefficients(self) -> np.ndarray:
        """c by kind, (5,); 0: such features are left out."""
        degree, constant = self.degree, self.constant
        if self.is_real:
            single, pair, square = (1.0, 0.0, 0.0) if degree == 1 else (2.0 * constant, 2.0, 1.0)
            return np.array([constant**degree, single, pair, 0.0, square])
        onto = (
            lambda k: k == 0,
            lambda k: k > 0,
            lambda k: 2**k - 2 if k else 0,
            lambda k: 3**k - 3 * 2**k + 3 if k else 0,
        )
        by_size = [
            sum(comb(degree, k) * constant ** (degree - k) * maps(k) for k in range(degree + 1)) for maps in onto
        ]
        return np.array([*by_size, 0.0], dtype=np.float64)

    def sizes(self, vectors: SparseRows) -> np.ndarray:
        """How many conjunctions each row has."""
        m = np.diff(vectors.indptr)
        counts = np.ones_like(m), m, m * (m - 1) // 2, m * (m - 1) * (m - 2) // 6, m
        return sum(count for count, coefficient in zip(counts, self.coefficients) if coefficient > 0.0)

    def arguments(self, vectors: SparseRows, values: np.ndarray) -> tuple:
        """What the compiled routines take first."""
        coefficients = self.coefficients
        return vectors.indptr, vectors.indices, values, vectors.n_columns + 1, coefficients, self.constant, self.is_real

    def count_features(self, vectors: SparseRows) -> int:
        """About how many distinct conjunctions there are, within a percent: by the share of bits that their hashes set."""
        sizes = self.sizes(vectors)
        bits = np.zeros(max(_power_of_two(int(sizes.sum())), _SMALLEST_TABLE) // 8, dtype=np.uint8)
        _mark_features(*self.arguments(vectors, NO_VALUES), int(sizes.max(initial=0)), bits)
        n_bits = 8 * bits.size
        free = n_bits - int(np.bitwise_count(bits).sum())
        return round(-n_bits * np.log(max(free, 1) / n_bits))


class FeatureTable:
    """The numbers of the conjunctions of training data, in order of appearance."""

    def __init__(self, polynomials: Polynomials, n_attributes: int):
        largest = (n_attributes + 1) ** max(polynomials.degree, 1)
        fix = "use a lower degree or fewer attributes"
        require(largest < 2**62, f"degree {polynomials.degree} over {n_attributes} attributes is too much; {fix}")
        self.polynomials, self.base = polynomials, n_attributes + 1
        self._table = np.full(_SMALLEST_TABLE, -1, dtype=np.int64)
        self._numbers = np.zeros(_SMALLEST_TABLE, dtype=np.int32)
        self.n_features = 0

    def expand(self, vectors: SparseRows, learn: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """ψ of each row: indptr, numbers, values (empty: all are 1). Conjunctions that were never learned are left out."""
        sizes = self.polynomials.sizes(vectors)
        total, longest = int(sizes.sum()), int(sizes.max(initial=0))
        require(total < 2**40, f"the data have {total} conjunctions; use a lower degree")
        indptr, indices = np.zeros(len(vectors) + 1, dtype=np.int64), np.empty(total, dtype=np.int32)
        values = np.empty(total if self.polynomials.is_real or vectors.values.size else 0)
        # A real-valued row against features of 0/1 attributes, or the other way round: 1 must be written out.
        own = vectors.values if vectors.values.size or not values.size else np.ones(vectors.indices.size)
        self._table, self._numbers, self.n_features = _expand(
            *self.polynomials.arguments(vectors, own), self.polynomials.degree, longest, learn,
            self._table, self._numbers, self.n_features, indptr, indices, values,
        )  # fmt: skip
        if indptr[-1] < total:
            indices, values = indices[: indptr[-1]].copy(), values[: indptr[-1]].copy()
        return indptr, indices, values

    def keys(self) -> np.ndarray:
        """The key of each feature."""
        used = self._table >= 0
        keys = np.empty(self.n_features, dtype=np.int64)
        keys[self._numbers[used]] = self._table[used]
        return keys

    def coefficients(self) -> np.ndarray:
        """c of each feature, (features,)."""
        keys = self.keys()
        last, before, first = keys % self.base, keys // self.base % self.base, keys // self.base**2
        kinds = np.sum([last > 0, before > 0, first > 0], axis=0)
        kinds[(kinds == PAIR) & (last == before)] = SQUARE
        return self.polynomials.coefficients[kinds]


class Conjunctions(Alphabet):
    """The features of one or more tables as a vocabulary. Names are made when they are asked for: there may be millions."""

    def __init__(self, attributes: Alphabet, tables: Sequence[FeatureTable]):
        self.attributes, self.tables = attributes, tuple(tables)
        self._size = sum(table.n_features for table in tables)

    __eq__, __hash__ = object.__eq__, object.__hash__

    def __len__(self) -> int:
        return self._size

    def __contains__(self, name: object) -> bool:
        return name in self._places

    @cached_property
    def names(self) -> Sequence[str]:
        return _Names(self)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}


class _Names(Sequence):
    def __init__(self, conjunctions: Conjunctions):
        self._attributes = conjunctions.attributes.names
        self._parts = [(table.keys(), table.base) for table in conjunctions.tables]
        self._ends = np.cumsum([len(keys) for keys, _ in self._parts])

    def __len__(self) -> int:
        return int(self._ends[-1])

    def __getitem__(self, place):
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(f"feature {place} of {len(self)}")
        place %= len(self)
        number = int(np.searchsorted(self._ends, place, side="right"))
        keys, base = self._parts[number]
        key, digits = int(keys[place - int(self._ends[number])]), []  # from the end: ends count up to the next part
        while key:
            key, digit = divmod(key, base)
            digits.append(self._attributes[digit - 1])
        name = " & ".join(reversed(digits)) or CONSTANT_NAME
        return f"{name} ({number + 1})" if number else name


def _power_of_two(least: int) -> int:
    return 1 << max(least - 1, 0).bit_length()


@compiled
def _single(x, constant, degree, is_real):
    """ψ of a by itself. Features of 0/1 attributes: what all powers of x_a together bring, which is 1 at x = 1."""
    if is_real or degree == 1:
        return x
    if degree == 2:
        return (x * x + 2.0 * constant * x) / (1.0 + 2.0 * constant)
    return (
        x
        * (x * x + 3.0 * constant * x + 3.0 * constant * constant)
        / (1.0 + 3.0 * constant + 3.0 * constant * constant)
    )


@compiled
def _pair(x, y, constant, degree):
    if degree == 2:
        return x * y
    return x * y * (0.5 * (x + y) + constant) / (1.0 + constant)


@compiled
def _row_features(indices, values, begin, end, base, coefficients, constant, is_real, degree, keys, psi):
    """The keys of the conjunctions of one row and, if it has values, ψ of each; gives how many."""
    count = 0
    with_values = values.size > 0
    if coefficients[CONSTANT] > 0.0:
        keys[0], psi[0] = 0, 1.0
        count = 1
    for k in range(begin, end):
        first = np.int64(indices[k]) + 1
        x = values[k] if with_values else 1.0
        if coefficients[SINGLE] > 0.0:
            keys[count], psi[count] = first, _single(x, constant, degree, is_real) if with_values else 1.0
            count += 1
        if coefficients[SQUARE] > 0.0:
            keys[count], psi[count] = first * base + first, x * x
            count += 1
        if coefficients[PAIR] > 0.0:
            for q in range(k + 1, end):
                second = np.int64(indices[q]) + 1
                y = values[q] if with_values else 1.0
                keys[count] = first * base + second
                psi[count] = _pair(x, y, constant, degree) if with_values else 1.0
                count += 1
                if coefficients[TRIPLE] > 0.0:
                    for p in range(q + 1, end):
                        keys[count] = (first * base + second) * base + indices[p] + 1
                        psi[count] = x * y * values[p] if with_values else 1.0
                        count += 1
    return count


@compiled
def _hash(key):
    code = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((code ^ (code >> np.uint64(32))) & np.uint64(0x7FFFFFFFFFFFFFFF))


@compiled
def _slot(table, key):
    """Where the key stands in an open hash table, or the free place where it would."""
    slot = _hash(key) & (table.size - 1)
    while table[slot] != key and table[slot] >= 0:
        slot = (slot + 1) & (table.size - 1)
    return slot


@compiled
def _mark_features(indptr, indices, values, base, coefficients, constant, is_real, longest, bits):
    keys, psi = np.empty(longest, dtype=np.int64), np.empty(longest)
    for row in range(indptr.size - 1):
        count = _row_features(
            indices, values, indptr[row], indptr[row + 1], base, coefficients, constant, is_real, 1, keys, psi
        )
        for k in range(count):
            bit = _hash(keys[k]) & (8 * bits.size - 1)
            bits[bit >> 3] |= np.uint8(1 << (bit & 7))


@compiled
def _expand(
    indptr, indices, values, base, coefficients, constant, is_real, degree, longest, learn,
    table, numbers, n_features, out_indptr, out_indices, out_values,
):  # fmt: skip
    """Fill the rows of features; gives the table, grown if it had to be, and the number of features."""
    keys, psi = np.empty(longest, dtype=np.int64), np.empty(longest)
    entries = 0
    for row in range(indptr.size - 1):
        count = _row_features(
            indices, values, indptr[row], indptr[row + 1], base, coefficients, constant, is_real, degree, keys, psi
        )
        while learn and 2 * (n_features + count) > table.size:
            larger, larger_numbers = (
                np.full(2 * table.size, -1, dtype=np.int64),
                np.zeros(2 * table.size, dtype=np.int32),
            )
            for slot in range(table.size):
                if table[slot] >= 0:
                    place = _slot(larger, table[slot])
                    larger[place], larger_numbers[place] = table[slot], numbers[slot]
            table, numbers = larger, larger_numbers
        for k in range(count):
            slot = _slot(table, keys[k])
            if table[slot] < 0:
                if not learn:
                    continue
                table[slot], numbers[slot] = keys[k], n_features
                n_features += 1
            out_indices[entries] = numbers[slot]
            if out_values.size:
                out_values[entries] = psi[k]
            entries += 1
        out_indptr[row + 1] = entries
    return table, numbers, n_features
