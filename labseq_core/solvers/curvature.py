"""The memory of L-BFGS: the last steps and gradient changes, and the direction that they give.

The two-loop recursion only adds up multiples of these vectors and of the gradient, so it runs on their inner products:
one pass over the memory makes the products, one pass makes the direction. BLAS is not used, because its threads and
those of the chain routines get in each other's way.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from labseq_core._jit import BatchRoutine, compiled_sum

BLOCK = 4096  # entries that stay in the fastest cache while all vectors are met with them


class CurvatureMemory:
    """Up to `size` pairs (displacement s_k, gradient change y_k) of vectors with n entries."""

    def __init__(self, size: int, n: int):
        self.size = size
        self.vectors = np.zeros((2 * size + 1, n))  # s_0 .. s_{m-1}, y_0 .. y_{m-1}, the gradient
        self.products = np.zeros((2 * size + 1, 2 * size + 1))
        self.order: list[int] = []  # slots in use, oldest first
        self.fresh = False  # the newest pair has no products yet
        self.chunks = np.unique(np.linspace(0, -(-n // BLOCK), 33).astype(np.int64))

    def clear(self) -> None:
        self.order.clear()
        self.fresh = False

    def add(self, displacement: np.ndarray, change: np.ndarray) -> None:
        """Take in a step and by how much it changed the gradient."""
        if len(self.order) == self.size:
            del self.order[0]
        slot = min(set(range(self.size)) - set(self.order))
        self.vectors[slot] = displacement
        self.vectors[self.size + slot] = change
        self.order.append(slot)
        self.fresh = True

    def direction(self, gradient: np.ndarray) -> tuple[np.ndarray, float]:
        """-H·gradient, H the inverse Hessian that the pairs give; and its product with the gradient, the slope."""
        self.vectors[-1] = gradient
        self._refresh()
        share = np.zeros(len(self.vectors))  # direction = share @ vectors
        share[-1] = -1.0
        weight = {}
        for slot in reversed(self.order):
            s, y = slot, self.size + slot
            weight[slot] = float(self.products[s] @ share) / self.products[s, y]
            share[y] -= weight[slot]
        if self.order:
            s, y = self.order[-1], self.size + self.order[-1]
            share *= self.products[s, y] / self.products[y, y]
        for slot in self.order:
            s, y = slot, self.size + slot
            share[s] += weight[slot] - float(self.products[y] @ share) / self.products[s, y]
        direction = np.empty(self.vectors.shape[1])
        used = np.flatnonzero(share)
        combine(self.vectors, used, share, self.chunks, direction, work=used.size * direction.size)
        return direction, float(self.products[-1] @ share)

    def _refresh(self) -> None:
        """Inner products of the vectors that have changed with all in use; a pair without curvature is dropped."""
        newest = [self.order[-1], self.size + self.order[-1]] if self.fresh else []
        changed = np.array([*newest, 2 * self.size])
        used = np.array([*self.order, *(self.size + slot for slot in self.order), 2 * self.size])
        parts = np.zeros((len(self.chunks) - 1, changed.size, used.size))
        inner_products(self.vectors, changed, used, self.chunks, parts, work=self.vectors.shape[1] * used.size)
        for row, products in zip(changed, parts.sum(axis=0)):
            self.products[row, used] = products
            self.products[used, row] = products
        if newest and self.products[newest[0], newest[1]] <= 1e-12 * self.products[newest[1], newest[1]]:
            self.order.pop()
        self.fresh = False


@compiled_sum
def dot_range(a, b, begin, end):
    total = 0.0
    for k in range(begin, end):
        total += a[k] * b[k]
    return total


@BatchRoutine
def inner_products(vectors, rows, used, chunks, parts):
    """parts[chunk, i, j]: the share of vectors[rows[i]] · vectors[used[j]] that lies in the blocks of a chunk."""
    n = vectors.shape[1]
    for chunk in prange(chunks.size - 1):
        for block in range(chunks[chunk], chunks[chunk + 1]):
            begin, end = block * BLOCK, min(n, (block + 1) * BLOCK)
            for j in range(used.size):
                for i in range(rows.size):
                    parts[chunk, i, j] += dot_range(vectors[rows[i]], vectors[used[j]], begin, end)


@BatchRoutine
def combine(vectors, used, share, chunks, result):
    """result = Σ_j share[used[j]] vectors[used[j]]."""
    n = vectors.shape[1]
    for chunk in prange(chunks.size - 1):
        for block in range(chunks[chunk], chunks[chunk + 1]):
            begin, end = block * BLOCK, min(n, (block + 1) * BLOCK)
            for k in range(begin, end):
                result[k] = 0.0
            for j in range(used.size):
                amount = share[used[j]]
                vector = vectors[used[j]]
                for k in range(begin, end):
                    result[k] += amount * vector[k]


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """a · b on one thread."""
    return float(dot_range(a, b, 0, a.size))
