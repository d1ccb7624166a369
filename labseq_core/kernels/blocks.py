"""Blocks of kernel values: sparse inner products through an inverted index, then the formula of the kernel.

A block costs as much as its observations have attributes in common. It is made in tiles that stay within a budget.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from labseq_core.checks import LabSeqError, require
from labseq_core.compiling.routines import BatchRoutine, compiled
from labseq_core.features.transposed import transposed
from labseq_core.kernels.base import Kernel, Term
from labseq_core.kernels.observations import Observations, SparseRows

DEFAULT_MEMORY = 2 * 2**30  # bytes
TILE = 2**21  # kernel values that are made at a time, if the budget allows
WORK_ARRAYS = 2  # of the size of a tile: the sum so far and the term at work
SLACK = 2**20  # bytes for what does not grow with the data
LARGEST_KERNEL = 1e140  # value; 1e28 products of two of them add up to a number
_CHUNKS = 16
_AT_ONCE = 2**14  # kernel values: formulas go over blocks that stay in the cache


class KernelSide:
    """What a kernel needs to know of each observation by itself: ⟨x, x⟩ and the factor s(x) of each term."""

    def __init__(self, kernel: Kernel, observations: Observations):
        self.kernel, self.observations, self.terms = kernel, observations, kernel.terms()
        self.views = [observations.view(term.basic.attribute) for term in self.terms]
        self.scales = [term_scale(term, observations) for term in self.terms]
        refuse_infinite(kernel, observations)

    def __len__(self) -> int:
        return len(self.observations)


def diagonal(kernel: Kernel, observations: Observations) -> np.ndarray:
    """k(x, x) of each observation, (n,)."""
    total = np.zeros(len(observations))
    for term in kernel.terms():
        squares = observations.view(term.basic.attribute).squares[:, np.newaxis]
        values = squares.copy()
        with np.errstate(over="ignore", invalid="ignore"):  # see `refuse_infinite`
            term.basic.formula(values, squares, squares)
            total += values[:, 0] * term_scale(term, observations) ** 2
    return total


def refuse_infinite(kernel: Kernel, observations: Observations) -> None:
    """No kernel value is above the largest k(x, x). Solvers multiply two of them and add up."""
    if not (diagonal(kernel, observations) <= LARGEST_KERNEL).all():
        raise LabSeqError(f"values of {kernel!r} are too large for numbers; scale the attributes, or lower the degree")


def term_scale(term: Term, observations: Observations) -> np.ndarray:
    """s(x) = √factor / Π √N(x, x), (n,); 0 where a norm is."""
    scale = np.full(len(observations), np.sqrt(term.factor))
    for norm in term.norms:
        length = np.sqrt(diagonal(norm, observations))
        scale = np.divide(scale, length, out=np.zeros_like(scale), where=length > 0.0)
    return scale


class KernelColumns(KernelSide):
    """Observations z with an inverted index of their attributes, against which blocks of k(x, z) are made."""

    def __init__(self, kernel: Kernel, observations: Observations):
        super().__init__(kernel, observations)
        indices = {term.basic.attribute: _index(view) for term, view in zip(self.terms, self.views)}
        self._indices = [indices[term.basic.attribute] for term in self.terms]
        self._work_a_row = sum(_work_a_row(view, index) for view, index in zip(self.views, self._indices)) + len(self)
        self._space: np.ndarray | None = None

    @staticmethod
    def n_bytes(kernel: Kernel, observations: Observations) -> int:
        """What the index and the factors will take."""
        views = {term.basic.attribute: observations.view(term.basic.attribute) for term in kernel.terms()}
        index = sum(32 * (view.n_columns + 1) + 4 * view.indices.size + 8 * view.values.size for view in views.values())
        return index + 8 * len(observations) * (len(views) + len(kernel.terms()) + 6) + SLACK

    def fill(self, left: KernelSide, rows: np.ndarray, out: np.ndarray) -> None:
        """out[r, j] = k(x_rows[r], z_j), float64 of shape (rows, n)."""
        chunks = np.unique(np.linspace(0, len(rows), _CHUNKS + 1).astype(np.int64))
        for number, pointers in enumerate(self._indices):
            inner = self._work_space(out.shape) if number > 0 else out
            x = left.views[number]
            work = int(4 * self._work_a_row * len(rows))  # as slow as memory is
            inner_products(x.indptr, x.indices, x.values, rows, *pointers, chunks, inner, work=work)
            for some, columns in _pieces(*out.shape):
                piece = inner[some, columns]
                _term_values(piece, left, rows[some], self, columns, number)
                if number > 0:
                    out[some, columns] += piece

    def _work_space(self, shape: tuple[int, int]) -> np.ndarray:
        """Kept from tile to tile: taking memory anew costs more than filling it."""
        if self._space is None or len(self._space) < shape[0]:
            self._space = None  # first given back
            self._space = np.empty(shape)
        return self._space[: shape[0]]


def _term_values(inner: np.ndarray, left: KernelSide, rows, right: KernelSide, columns, number: int) -> None:
    """Inner products -> s(x) s(z) f(...) of one term, in place."""
    term = left.terms[number]
    term.basic.formula(
        inner, left.views[number].squares[rows, np.newaxis], right.views[number].squares[np.newaxis, columns]
    )
    if term.factor != 1.0 or term.norms:
        # The two factors first: from either side the same to the last bit.
        inner *= left.scales[number][rows, np.newaxis] * right.scales[number][columns]


def _pieces(n_rows: int, n_columns: int) -> Iterator[tuple[slice, slice]]:
    """A block cut into pieces of about _AT_ONCE values."""
    height, width = max(1, _AT_ONCE // max(n_columns, 1)), min(n_columns, _AT_ONCE)
    for row in range(0, n_rows, height):
        for column in range(0, n_columns, width):
            yield slice(row, row + height), slice(column, min(column + width, n_columns))


def small_block(left: KernelSide, rows: np.ndarray, right: KernelSide, others: np.ndarray) -> np.ndarray:
    """k(x_rows[r], z_others[j]) for a few observations, pair by pair; the same numbers as from the index."""
    total = np.zeros((len(rows), len(others)))
    inner = np.empty_like(total)
    for number in range(len(left.terms)):
        x, z = left.views[number], right.views[number]
        pair_products(x.indptr, x.indices, x.values, rows, z.indptr, z.indices, z.values, others, inner)
        _term_values(inner, left, rows, right, others, number)
        total += inner
    return total


def tile_rows(n_columns: int, n_bytes: int) -> int:
    """How many rows of kernel values can be made at a time within so many bytes; 0: not one."""
    width = max(n_columns, 1)
    return min(max(TILE // width, 1), n_bytes // (8 * WORK_ARRAYS * width))


def cross_blocks(
    kernel: Kernel, left: Observations, right: Observations, memory: int = DEFAULT_MEMORY
) -> Iterator[tuple[slice, np.ndarray]]:
    """k(left, right) in blocks of rows: which rows, and their values, which the next block overwrites."""
    fixed = KernelColumns.n_bytes(kernel, right) + 8 * len(left) * (2 * len(kernel.terms()) + 6)
    step = tile_rows(len(right), memory - fixed)
    require(
        step > 0,
        f"memory is {shown_bytes(memory)}, but kernel values of {len(left)} with {len(right)} observations need at least "
        f"{shown_bytes(fixed + 8 * WORK_ARRAYS * len(right))}; raise memory, or train on fewer sequences",
    )
    columns, rows = KernelColumns(kernel, right), KernelSide(kernel, left)
    tile = np.empty((min(step, len(left)), len(right)))
    for begin in range(0, len(left), step):
        part = slice(begin, min(begin + step, len(left)))
        block = tile[: part.stop - begin]
        columns.fill(rows, np.arange(begin, part.stop), block)
        yield part, block


def cross_product(
    kernel: Kernel, left: Observations, right: Observations, beta: np.ndarray, memory: int = DEFAULT_MEMORY
) -> np.ndarray:
    """k(left, right) @ beta, (left, S), without ever having the whole matrix."""
    product = np.zeros((len(left), beta.shape[1]))
    if len(right):
        for part, block in cross_blocks(kernel, left, right, memory):
            np.matmul(block, beta, out=product[part])
    return product


def shown_bytes(count: int) -> str:
    """1536 -> "1.5 KiB"; rounded up, so that the shown amount is enough."""
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{np.ceil(100 * count / size) / 100:g} {unit}"
    return f"{count} bytes"


def _index(view: SparseRows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    pointer, rows, values, _ = transposed(view.indptr, view.indices, view.values, view.n_columns)
    return pointer, rows, values


def _work_a_row(view: SparseRows, index: tuple[np.ndarray, ...]) -> float:
    """How many products a typical row of the same kind has with all of these."""
    lengths = np.diff(index[0]).astype(np.float64)
    return float(lengths @ lengths) / max(len(view), 1)


@BatchRoutine
def inner_products(first_chunk, end_chunk, indptr, indices, values, rows, pointer, members, member_values, chunks, out):
    """out[r, j] = Σ_a x[a] z_j[a], x the row rows[r]; attribute a is in the rows members[pointer[a] : pointer[a + 1]].

    Attributes come in order, so each sum is made in the same order from either side.
    """
    n_columns = out.shape[1]
    for chunk in range(first_chunk, end_chunk):
        for r in range(chunks[chunk], chunks[chunk + 1]):
            row = out[r]
            for j in range(n_columns):
                row[j] = 0.0
            for k in range(indptr[rows[r]], indptr[rows[r] + 1]):
                a = indices[k]
                amount = values[k] if values.size else 1.0
                begin = pointer[a]
                if member_values.size:
                    for q in range(pointer[a + 1] - begin):
                        row[members[begin + q]] += amount * member_values[begin + q]
                else:
                    for q in range(pointer[a + 1] - begin):
                        row[members[begin + q]] += amount


@compiled
def pair_products(indptr, indices, values, rows, other_indptr, other_indices, other_values, others, out):
    """out[r, j] = Σ_a x[a] z[a] for x = rows[r], z = others[j], both in order of attribute."""
    for r in range(rows.size):
        for j in range(others.size):
            k, end = indptr[rows[r]], indptr[rows[r] + 1]
            q, other_end = other_indptr[others[j]], other_indptr[others[j] + 1]
            total = 0.0
            while k < end and q < other_end:
                if indices[k] < other_indices[q]:
                    k += 1
                elif indices[k] > other_indices[q]:
                    q += 1
                else:
                    amount = values[k] if values.size else 1.0
                    total += amount * other_values[q] if other_values.size else amount
                    k += 1
                    q += 1
            out[r, j] = total
