"""The Gram matrix over training observations within a memory budget: whole where it fits, else the rows last used."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from labseq_core.checks import require
from labseq_core.compiling.routines import BatchRoutine, compiled_sum
from labseq_core.kernels.base import Kernel
from labseq_core.kernels.blocks import (
    DEFAULT_MEMORY,
    WORK_ARRAYS,
    KernelColumns,
    diagonal,
    shown_bytes,
    small_block,
    tile_rows,
)
from labseq_core.kernels.observations import Observations

_WORK_SHARE = 8  # at most one part in so many of the budget is for making new rows
_COLUMN_CHUNK = 4096
_ROW_CHUNKS = 64


class Gram:
    """G[i, j] = k(x_i, x_j) over distinct training observations. Rows are made when they are first asked for.

    memory: bytes for everything here, index and work space included; what a method returns is the caller's.
    The whole matrix is kept in float64 if that fits, else in float32 if that fits (values are made and summed in float64;
    `dtype` says which). Beyond that a part of the rows is kept in float64, those last used, and the rest are made anew.
    """

    def __init__(self, kernel: Kernel, observations: Observations, memory: int = DEFAULT_MEMORY):
        n = len(observations)
        fixed = KernelColumns.n_bytes(kernel, observations) + 24 * n
        smallest = fixed + 8 * n * (WORK_ARRAYS + 1)
        require(
            memory >= smallest,
            f"memory is {shown_bytes(memory)}, but kernel values of {n} distinct observations need at least "
            f"{shown_bytes(smallest)}, and {shown_bytes(fixed + n * (4 * n + 8 * WORK_ARRAYS))} to be kept; "
            "raise memory, or train on fewer sequences",
        )
        self.kernel, self.observations, self.memory = kernel, observations, memory
        self._tile_rows = max(tile_rows(n, (memory - fixed) // _WORK_SHARE), 1)
        for_rows = memory - fixed - 8 * n * WORK_ARRAYS * self._tile_rows
        small = bool((diagonal(kernel, observations) < np.finfo(np.float32).max).all())
        self.dtype = np.dtype(np.float32 if small and 4 * n * n <= for_rows < 8 * n * n else np.float64)
        self.capacity = min(n, for_rows // (self.dtype.itemsize * n))  # how many rows can be kept
        self._columns = KernelColumns(kernel, observations)
        self._stored = np.empty((self.capacity, n), dtype=self.dtype)  # memory is taken as rows are written
        self._tile = np.empty((self._tile_rows, n))
        self._slot_of_row = np.full(n, -1)
        self._row_of_slot = np.full(self.capacity, -1)
        self._last_used = np.zeros(self.capacity, dtype=np.int64)
        self._n_filled = 0
        self._clock = 0

    @staticmethod
    def n_bytes_whole(kernel: Kernel, observations: Observations) -> int:
        """What keeping all rows, in float32 at least, takes with everything around them."""
        n = len(observations)
        return KernelColumns.n_bytes(kernel, observations) + n * (24 + 8 * WORK_ARRAYS + 4 * n)

    def __len__(self) -> int:
        return len(self.observations)

    @property
    def is_whole(self) -> bool:
        """Whether all rows can be kept."""
        return self.capacity == len(self)

    def fill(self, go_on: Callable[[float], bool]) -> bool:
        """Make all rows that can be kept, telling the share done between tiles; False: told to stop."""
        for begin in range(0, self.capacity, self._tile_rows):
            end = min(begin + self._tile_rows, self.capacity)
            self._keep(np.arange(begin, end))
            if not go_on(end / self.capacity):
                return False
        return True

    def diagonal(self) -> np.ndarray:
        """k(x_i, x_i), (n,)."""
        return diagonal(self.kernel, self.observations)

    def rows(self, ids: np.ndarray) -> np.ndarray:
        """G[ids], (k, n): a copy."""
        ids = np.asarray(ids, dtype=np.int64)
        found = np.empty((len(ids), len(self)), dtype=self.dtype)
        for part, slots in self._in_store(ids):
            np.take(self._stored, slots, axis=0, out=found[part])
        return found

    def kept(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows of at most `capacity` observations for compiled loops: the store, and in which of its rows each one is.

        They stay there until other rows are asked for.
        """
        self._keep(ids)
        return self._stored, self._slot_of_row

    def between(self, ids: np.ndarray, others: np.ndarray) -> np.ndarray:
        """G[ids][:, others], float64 of shape (k, m), for a few observations: made pair by pair, nothing is kept."""
        ids, others = np.asarray(ids, dtype=np.int64), np.asarray(others, dtype=np.int64)
        return small_block(self._columns, ids, self._columns, others)

    def add_rows(self, scores: np.ndarray, ids: np.ndarray, change: np.ndarray) -> None:
        """scores[s] += Σ_k change[k, s] G[ids[k]]: what a change of coefficients does to all scores.

        scores: (S, n) float64, a row per label.   change: (k, S).
        """
        ids = np.asarray(ids, dtype=np.int64)
        for part, slots in self._in_store(ids):
            self._add(self._stored, slots, change[part], scores)

    def product(self, beta: np.ndarray) -> np.ndarray:
        """G @ beta, (n, S); beta: (n, S). Where not all rows can be kept, those with a coefficient are made anew."""
        if not self.is_whole:
            scores = np.zeros((beta.shape[1], len(self)))
            support = np.flatnonzero(beta.any(axis=1))
            for begin in range(0, len(support), self._tile_rows):
                ids = support[begin : begin + self._tile_rows]
                self._add(self._made(ids), np.arange(len(ids)), beta[ids], scores)
            return scores.T
        return self.row_products(np.arange(len(self)), beta)

    def row_products(self, ids: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """G[ids] @ beta, (k, S); beta: (n, S)."""
        ids = np.asarray(ids, dtype=np.int64)
        found, by_label = np.empty((len(ids), beta.shape[1])), np.ascontiguousarray(beta.T)
        for part, slots in self._in_store(ids):
            chunks = np.unique(np.linspace(0, len(slots), _ROW_CHUNKS + 1).astype(np.int64))
            work = len(slots) * by_label.size
            stored_product(self._stored, slots, by_label, chunks, found[part], work=work)
        return found

    def _add(self, rows: np.ndarray, slots: np.ndarray, change: np.ndarray, scores: np.ndarray) -> None:
        chunks = np.append(np.arange(0, len(self), _COLUMN_CHUNK), len(self))
        work = int(np.count_nonzero(change)) * len(self)
        add_stored_rows(rows, slots, np.ascontiguousarray(change), chunks, scores, work=work)

    def _in_store(self, ids: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Runs of ids that can be kept at once, and where their rows stand."""
        for begin in range(0, len(ids), self.capacity):
            part = slice(begin, begin + self.capacity)
            self._keep(ids[part])
            yield part, self._slot_of_row[ids[part]]

    def _keep(self, ids: np.ndarray) -> None:
        """Make the missing rows; the ones used longest ago give way."""
        self._clock += 1
        slots = self._slot_of_row[ids]
        self._last_used[slots[slots >= 0]] = self._clock
        missing = np.unique(ids[slots < 0])
        for begin in range(0, len(missing), self._tile_rows):
            wanted = missing[begin : begin + self._tile_rows]
            slots = self._free_slots(len(wanted))
            leaving = self._row_of_slot[slots]
            self._slot_of_row[leaving[leaving >= 0]] = -1
            self._stored[slots] = self._made(wanted)
            self._row_of_slot[slots], self._slot_of_row[wanted] = wanted, slots
            self._last_used[slots] = self._clock

    def _made(self, ids: np.ndarray) -> np.ndarray:
        """Rows in work space that the next ones overwrite."""
        tile = self._tile[: len(ids)]
        self._columns.fill(self._columns, ids, tile)
        return tile

    def _free_slots(self, count: int) -> np.ndarray:
        """Slots never used, or else those used longest ago."""
        if self._n_filled + count <= self.capacity:
            self._n_filled += count
            return np.arange(self._n_filled - count, self._n_filled)
        self._n_filled = self.capacity
        return np.argpartition(self._last_used, count - 1)[:count]


@BatchRoutine
def add_stored_rows(first_chunk, end_chunk, stored, slots, change, chunks, scores):
    """scores[s, j] += Σ_k change[k, s] stored[slots[k], j], in the order of k; chunks: bounds of columns j."""
    for chunk in range(first_chunk, end_chunk):
        begin, width = chunks[chunk], chunks[chunk + 1] - chunks[chunk]
        for k in range(slots.size):
            row = stored[slots[k], begin : begin + width]
            for s in range(scores.shape[0]):
                amount = change[k, s]
                if amount != 0.0:
                    total = scores[s, begin : begin + width]
                    for j in range(width):
                        total[j] += amount * row[j]


@compiled_sum
def dot(row, weights):
    """In float64, whatever the row is stored in."""
    total = 0.0
    for j in range(row.size):
        total += row[j] * weights[j]
    return total


@BatchRoutine
def stored_product(first_chunk, end_chunk, stored, slots, weights, chunks, product):
    """product[k, s] = Σ_j stored[slots[k], j] weights[s, j]; piece by piece of a row, which then stays in the cache."""
    n_labels, n_columns = weights.shape
    for chunk in range(first_chunk, end_chunk):
        for k in range(chunks[chunk], chunks[chunk + 1]):
            for s in range(n_labels):
                product[k, s] = 0.0
            for begin in range(0, n_columns, _COLUMN_CHUNK):
                end = min(begin + _COLUMN_CHUNK, n_columns)
                for s in range(n_labels):
                    product[k, s] += dot(stored[slots[k], begin:end], weights[s, begin:end])
