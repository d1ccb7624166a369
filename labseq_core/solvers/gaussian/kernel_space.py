"""The space of kernel expansions: vectors of coefficients with the inner product of the functions that they stand for.

⟨a, b⟩ = tr(a_βᵀ G b_β) + η a_δ · b_δ = a · M b,      M = (G, η)      (METHODS 5)

A vector is kept together with its image M v, as `KernelScoring` lays them out. Sums of vectors then have their images for
nothing: only a new gradient takes a product with the Gram matrix, and a line search takes none.
"""

from __future__ import annotations

import numpy as np

from labseq_core.scoring.kernel_training import KernelScoring
from labseq_core.solvers.smooth.lbfgs import Euclidean
from labseq_core.solvers.smooth.lbfgs_memory import GRADIENT, NEW_CHANGE, NEW_STEP, NO_SLOT, CurvatureMemory, dot


class KernelSpace(Euclidean):
    """Flat vectors (β, δ, Gβ, ηδ)."""

    def __init__(self, scoring: KernelScoring):
        self._scoring, self.size = scoring, scoring.size
        self.n_products = 0  # with the Gram matrix, so far

    def dot(self, gradient: np.ndarray, direction: np.ndarray) -> float:
        """The gradient need not be complete."""
        return dot(gradient[: self.size], direction[self.size :])

    def complete(self, gradient: np.ndarray) -> None:
        scoring = self._scoring
        (beta, delta), (image_beta, image_delta) = scoring.coefficients(gradient), scoring.images(gradient)
        image_beta[:], image_delta[:] = scoring.gram.product(beta), scoring.eta * delta
        self.n_products += 1

    def memory(self, size: int, n: int) -> CurvatureMemory:
        return ImageMemory(size, n, self._scoring.gram.dtype)


class ImageMemory(CurvatureMemory):
    """Pairs with their images, as precise as the Gram matrix is: a vector and its image drift apart by no more than it errs."""

    def _products(self, slot: int, step: tuple[np.ndarray, ...], gradient: np.ndarray, used: np.ndarray) -> np.ndarray:
        half = gradient.size // 2
        met: dict[int, np.ndarray] = {GRADIENT: gradient}
        if slot != NO_SLOT:
            before, after, gradient_before, gradient_after = step
            np.subtract(after, before, out=self.vectors[slot])
            np.subtract(gradient_after, gradient_before, out=self.vectors[self.size + slot])
            met |= {NEW_STEP: self.vectors[slot], NEW_CHANGE: self.vectors[self.size + slot]}
        products = np.zeros((3, used.size + 1))
        for row, vector in met.items():
            others = [*(self.vectors[other] for other in used), gradient]
            products[row] = [dot(vector[:half], other[half:]) for other in others]
        return products

    def _combined(self, share: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        direction = share[-1] * gradient
        for row in self._rows(self.order):
            direction += share[row] * self.vectors[row]
        return direction
