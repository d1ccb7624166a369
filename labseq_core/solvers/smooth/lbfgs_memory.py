"""The memory of L-BFGS: the last steps and gradient changes, and the direction that they give.

The two-loop recursion only adds up multiples of these vectors and of the gradient, so it runs on their inner products:
one pass over the memory makes the products, one pass makes the direction. Both are as fast as memory can be read, so the
pairs are kept in single precision: they only have to describe the curvature roughly, while gradient, sums and direction
are double. BLAS is not used, because its threads and those of the chain routines get in each other's way.

With a diagonal estimate D of the curvature the recursion runs in the variables D^{1/2} x, where directions are alike.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from labseq_core.chain.recursions.scores import copy_to
from labseq_core.compiling.routines import BatchRoutine, compiled_lanes, compiled_sum

BLOCK = 1024  # entries that stay in the fastest cache while all vectors are met with them
NEW_STEP, NEW_CHANGE, GRADIENT = range(3)
NO_SLOT = -1


class CurvatureMemory:
    """Up to `size` pairs (displacement s_k, gradient change y_k) of vectors with n entries."""

    def __init__(self, size: int, n: int, dtype: type = np.float32):
        self.size = size
        self.vectors = np.zeros((2 * size, n), dtype=dtype)  # s_0 .. s_{m-1}, y_0 .. y_{m-1}, all scaled
        self.scale = np.empty(0, dtype=np.float32)  # D^{1/2}; empty: 1
        self.products = np.zeros((2 * size + 1, 2 * size + 1))  # the last row and column: the gradient
        self.order: list[int] = []  # slots in use, oldest first
        self.arrived: tuple[np.ndarray, ...] = ()  # a step that is not among the pairs yet
        self.chunks = block_chunks(n)

    def clear(self) -> None:
        self.order.clear()
        self.arrived = ()

    def rescale(self, diagonal: np.ndarray) -> None:
        """Take another D > 0; what is remembered is carried over."""
        scale = np.sqrt(diagonal).astype(np.float32)
        ratio = scale / self.scale if self.scale.size else scale
        self.scale = scale
        for slot in self.order:
            step, change = self.vectors[slot], self.vectors[self.size + slot]
            step *= ratio
            change /= ratio
        used = self._rows(self.order)
        parts = np.zeros((len(self.chunks) - 1, used.size, used.size))
        mutual_products(self.vectors, used, self.chunks, parts, work=used.size**2 * self.vectors.shape[1])
        below = parts.sum(axis=0)
        self.products[np.ix_(used, used)] = below + np.tril(below, -1).T

    def add(
        self, before: np.ndarray, after: np.ndarray, gradient_before: np.ndarray, gradient_after: np.ndarray
    ) -> None:
        """Take in a step from one point to the next, with the gradients at both: kept until the next direction is asked for."""
        self.arrived = before, after, gradient_before, gradient_after

    def direction(self, gradient: np.ndarray) -> tuple[np.ndarray, float]:
        """-H·gradient, H the inverse Hessian that the pairs give; and its product with the gradient, the slope."""
        self._take_in(gradient)
        share = np.zeros(2 * self.size + 1)  # direction = share @ (vectors, gradient)
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
        return self._combined(share, gradient), float(self.products[-1] @ share)

    def _combined(self, share: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """share @ (vectors, gradient)."""
        direction, used = np.empty(gradient.size), self._rows(self.order)
        combine(self.vectors, used, share, gradient, self.scale, self.chunks, direction, work=used.size * gradient.size)
        return direction

    def _take_in(self, gradient: np.ndarray) -> None:
        """The pair that has arrived, unless it shows no curvature, and all inner products with it and with the gradient."""
        if not self.arrived:
            self._meet(NO_SLOT, (gradient,) * 4, gradient, self.order)
            return
        if len(self.order) == self.size:
            del self.order[0]
        slot = min(set(range(self.size)) - set(self.order))
        self.order.append(slot)
        self._meet(slot, self.arrived, gradient, self.order)
        self.arrived = ()
        change = self.size + slot
        if self.products[slot, change] <= 1e-12 * self.products[change, change]:
            self.order.pop()

    def _rows(self, slots: list[int]) -> np.ndarray:
        return np.array([*slots, *(self.size + slot for slot in slots)], dtype=np.int64)

    def _meet(self, slot: int, step: tuple[np.ndarray, ...], gradient: np.ndarray, slots: list[int]) -> None:
        """Products of the gradient, and of a new pair (if there is one), with the pairs in these slots."""
        used = self._rows(slots)
        products = self._products(slot, step, gradient, used)
        columns = np.append(used, 2 * self.size)
        rows = {2 * self.size: GRADIENT}
        if slot != NO_SLOT:
            rows |= {slot: NEW_STEP, self.size + slot: NEW_CHANGE}
        for row, place in rows.items():
            self.products[row, columns] = self.products[columns, row] = products[place]

    def _products(self, slot: int, step: tuple[np.ndarray, ...], gradient: np.ndarray, used: np.ndarray) -> np.ndarray:
        """(new step, new change, gradient) · (vectors[used], gradient), (3, used + 1); the new pair is kept on the way."""
        parts = np.zeros((len(self.chunks) - 1, 3, used.size + 1))
        inner_products(
            self.vectors, slot, self.size + slot, *step, gradient, self.scale, used, self.chunks, parts,
            work=3 * gradient.size * max(1, used.size),
        )  # fmt: skip
        return parts.sum(axis=0)


@functools.cache
def block_chunks(n: int) -> np.ndarray:
    """Bounds of at most 32 runs of blocks of a vector with n entries: what is added up does not depend on threads."""
    return np.unique(np.linspace(0, -(-n // BLOCK), 33).astype(np.int64))


# Loops run from 0 over slices: an index that might be negative, as far as the compiler knows, would spoil vector code.


@compiled_sum
def dot_range(a, b):
    total = 0.0
    for k in range(a.size):
        total += np.float64(a[k]) * np.float64(b[k])
    return total


@compiled_sum
def three_dots(a, b, c, vector):
    first = second = third = 0.0
    for k in range(vector.size):
        here = np.float64(vector[k])
        first += a[k] * here
        second += b[k] * here
        third += c[k] * here
    return first, second, third


@BatchRoutine
def inner_products(
    first_chunk,
    end_chunk,
    vectors,
    step_row,
    change_row,
    before,
    after,
    gradient_before,
    gradient_after,
    gradient,
    scale,
    used,
    chunks,
    parts,
):
    """parts[chunk, i, j]: the share in a chunk of (new step, new change, gradient)[i] · (vectors[used], gradient)[j].

    In the same pass over memory the new pair is made and kept, unless step_row is NO_SLOT.
    """
    n = gradient.size
    for chunk in range(first_chunk, end_chunk):
        rows = np.empty((3, BLOCK))
        rows[:] = 0.0
        for block in range(chunks[chunk], chunks[chunk + 1]):
            here = slice(block * BLOCK, min(n, (block + 1) * BLOCK))
            new_gradient = rows[GRADIENT, : here.stop - here.start]
            copy_to(gradient[here], new_gradient)
            if scale.size:
                divide(new_gradient, scale[here])
            new_step, new_change = rows[NEW_STEP, : new_gradient.size], rows[NEW_CHANGE, : new_gradient.size]
            if step_row != NO_SLOT:
                difference(after[here], before[here], new_step)
                difference(gradient_after[here], gradient_before[here], new_change)
                if scale.size:
                    multiply(new_step, scale[here])
                    divide(new_change, scale[here])
                keep(new_step, vectors[step_row, here])
                keep(new_change, vectors[change_row, here])
            for j in range(used.size):
                products = three_dots(new_step, new_change, new_gradient, vectors[used[j], here])
                for i in range(3):
                    parts[chunk, i, j] += products[i]
            products = three_dots(new_step, new_change, new_gradient, new_gradient)
            for i in range(3):
                parts[chunk, i, used.size] += products[i]


@BatchRoutine
def mutual_products(first_chunk, end_chunk, vectors, used, chunks, parts):
    """parts[chunk, i, j]: the share in a chunk of vectors[used[i]] · vectors[used[j]], j <= i."""
    n = vectors.shape[1]
    for chunk in range(first_chunk, end_chunk):
        for block in range(chunks[chunk], chunks[chunk + 1]):
            here = slice(block * BLOCK, min(n, (block + 1) * BLOCK))
            for i in range(used.size):
                for j in range(i + 1):
                    parts[chunk, i, j] += dot_range(vectors[used[i], here], vectors[used[j], here])


@compiled_lanes
def difference(a, b, result):
    for k in range(result.size):
        result[k] = a[k] - b[k]


@compiled_lanes
def multiply(vector, factors):
    for k in range(vector.size):
        vector[k] *= factors[k]


@compiled_lanes
def divide(vector, divisors):
    for k in range(vector.size):
        vector[k] /= divisors[k]


@compiled_lanes
def keep(vector, kept):
    """Write to memory in single precision; what is kept is what is used."""
    for k in range(vector.size):
        kept[k] = vector[k]
        vector[k] = kept[k]


@compiled_lanes
def add_to(result, amount, vector):
    for k in range(result.size):
        result[k] += amount * vector[k]


@BatchRoutine
def combine(first_chunk, end_chunk, vectors, used, share, gradient, scale, chunks, result):
    """result = (Σ_j share[used[j]] vectors[used[j]] + share[-1] gradient / scale) / scale."""
    n = gradient.size
    for chunk in range(first_chunk, end_chunk):
        for block in range(chunks[chunk], chunks[chunk + 1]):
            here = slice(block * BLOCK, min(n, (block + 1) * BLOCK))
            sums = result[here]
            sums[:] = 0.0
            add_to(sums, share[share.size - 1], gradient[here])
            if scale.size:
                divide(sums, scale[here])
            for j in range(used.size):
                add_to(sums, share[used[j]], vectors[used[j], here])
            if scale.size:
                divide(sums, scale[here])


@BatchRoutine
def dot_parts(first_chunk, end_chunk, a, b, chunks, parts):
    for chunk in range(first_chunk, end_chunk):
        here = slice(chunks[chunk] * BLOCK, min(a.size, chunks[chunk + 1] * BLOCK))
        parts[chunk] = dot_range(a[here], b[here])


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """a · b, added up in an order that does not depend on threads."""
    chunks = block_chunks(a.size)
    parts = np.empty(chunks.size - 1)
    dot_parts(a, b, chunks, parts, work=4 * a.size)
    return float(parts.sum())


def norm_of(vector: np.ndarray) -> float:
    return math.sqrt(dot(vector, vector))


@BatchRoutine
def add_multiple_parts(first_chunk, end_chunk, a, amount, b, chunks, result):
    for chunk in range(first_chunk, end_chunk):
        here = slice(chunks[chunk] * BLOCK, min(a.size, chunks[chunk + 1] * BLOCK))
        sums = result[here]
        copy_to(a[here], sums)
        add_to(sums, amount, b[here])


def add_multiple(a: np.ndarray, amount: float, b: np.ndarray, result: np.ndarray | None = None) -> np.ndarray:
    """a + amount b, in a new vector or in `result`, which may be a itself."""
    result = np.empty_like(a) if result is None else result
    add_multiple_parts(a, amount, b, block_chunks(a.size), result, work=4 * a.size)
    return result
