"""Sparse rows by column: which positions have an attribute, and chunks of about equal cost."""

from __future__ import annotations

import numpy as np

from labseq_core.compiling.routines import compiled


def transposed(
    indptr: np.ndarray, indices: np.ndarray, values: np.ndarray, n_columns: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """By column: pointer, rows, values, and chunks of columns with about equally many entries."""
    pointer = np.zeros(n_columns + 1, dtype=np.int64)
    np.cumsum(np.bincount(indices, minlength=n_columns), out=pointer[1:])
    rows = np.empty(indices.size, dtype=np.int32)
    transposed_values = np.empty(values.size)
    _fill_transpose(indptr, indices, values, pointer[:-1].copy(), rows, transposed_values)
    return pointer, rows, transposed_values, even_chunks(pointer)


def even_chunks(pointer: np.ndarray, n_chunks: int = 64) -> np.ndarray:
    """Bounds of runs of ragged rows that cost about the same: a row costs its entries and one."""
    cost = pointer + np.arange(pointer.size)
    chunks = np.searchsorted(cost, np.linspace(0, cost[-1], n_chunks + 1))
    chunks[0], chunks[-1] = 0, pointer.size - 1
    return np.unique(chunks)


@compiled
def _fill_transpose(indptr, indices, values, place, rows, transposed_values):
    for t in range(indptr.size - 1):
        for k in range(indptr[t], indptr[t + 1]):
            a = indices[k]
            rows[place[a]] = t
            if values.size:
                transposed_values[place[a]] = values[k]
            place[a] += 1
