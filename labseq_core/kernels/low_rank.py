"""A Gram matrix as the product of few columns: Cholesky with pivots, row by row, without the whole matrix.

G = L Lᵀ + E,      E positive semi-definite, with a known diagonal      (METHODS 5, last point)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from labseq_core.kernels.base import Kernel
from labseq_core.kernels.blocks import KernelSide, diagonal, small_block
from labseq_core.kernels.observations import Observations

NEGLIGIBLE = 1e-12  # of the largest k(x, x): what is left of an observation that the pivots span


@dataclass(frozen=True)
class LowRank:
    """L over all observations, and what it leaves out."""

    factor: np.ndarray  # (n, rank) float64
    pivots: np.ndarray  # (rank,): the observations that L is made of, in order
    rest: np.ndarray  # (n,): the diagonal of E, not negative

    @property
    def rank(self) -> int:
        return len(self.pivots)

    def expansion_of(self, weights: np.ndarray) -> np.ndarray:
        """β at the pivots, (rank, S), of the function with scores L W: G[:, pivots] β = L W."""
        return np.linalg.solve(self.factor[self.pivots].T, weights)


def pivoted_cholesky(
    kernel: Kernel, observations: Observations, rank: int, go_on: Callable[[float], bool] = lambda done: True
) -> LowRank:
    """At most `rank` columns, each at the observation that is worst described so far; fewer where nothing is left.

    go_on(share done): False stops with the columns so far, at least one.
    """
    side, every = KernelSide(kernel, observations), np.arange(len(observations))
    rest = diagonal(kernel, observations)
    floor = NEGLIGIBLE * float(rest.max(initial=0.0))
    factor = np.zeros((len(every), min(rank, len(every))), order="F")
    pivots: list[int] = []
    while len(pivots) < factor.shape[1]:
        pivot = int(np.argmax(rest))
        if not rest[pivot] > floor:
            break
        done = len(pivots)
        # L[:, k] = (G[:, i] - Σ_{j<k} L[:, j] L[i, j]) / √(what is left of G[i, i])
        column = small_block(side, every, side, np.array([pivot]))[:, 0] - factor[:, :done] @ factor[pivot, :done]
        factor[:, done] = column / np.sqrt(rest[pivot])
        factor[pivots, done] = 0.0  # exactly: these are spanned already
        rest -= factor[:, done] ** 2
        np.maximum(rest, 0.0, out=rest)
        rest[pivot] = 0.0
        pivots.append(pivot)
        if not go_on(len(pivots) / factor.shape[1]):
            break
    return LowRank(np.ascontiguousarray(factor[:, : len(pivots)]), np.array(pivots, dtype=np.int64), rest)
