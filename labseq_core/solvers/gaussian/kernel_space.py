"""The space of kernel expansions: vectors of coefficients with the inner product of the functions that they stand for.

⟨a, b⟩ = tr(a_βᵀ G b_β) + η a_δ · b_δ = a · M b,      M = (G, η)      (METHODS 5)

A vector is kept together with its image M v, one after the other in a flat array. Sums of vectors then have their images for
nothing: only a new gradient takes a product with the Gram matrix, and a line search takes none.
"""

from __future__ import annotations

import numpy as np

from labseq_core.kernels import Gram
from labseq_core.solvers.smooth.lbfgs import Euclidean
from labseq_core.solvers.smooth.lbfgs_memory import GRADIENT, NEW_CHANGE, NEW_STEP, NO_SLOT, CurvatureMemory, dot


class KernelSpace(Euclidean):
    """Flat vectors (β, δ, Gβ, ηδ); β: (observations, S), δ: (S, S)."""

    def __init__(self, gram: Gram, n_labels: int, eta: float):
        self.gram, self.n_labels, self.eta = gram, n_labels, eta
        self.n_beta = len(gram) * n_labels
        self.size = self.n_beta + n_labels * n_labels  # of a vector without its image
        self.n_products = 0  # with the Gram matrix, so far

    def parts(self, half: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A vector, or an image, as its (β, δ): views."""
        beta, delta = half[: self.n_beta], half[self.n_beta :]
        return beta.reshape(-1, self.n_labels), delta.reshape(self.n_labels, self.n_labels)

    def zeros(self) -> np.ndarray:
        return np.zeros(2 * self.size)

    def dot(self, gradient: np.ndarray, direction: np.ndarray) -> float:
        """The gradient need not be complete."""
        return dot(gradient[: self.size], direction[self.size :])

    def complete(self, gradient: np.ndarray) -> None:
        beta, delta = self.parts(gradient[: self.size])
        image_beta, image_delta = self.parts(gradient[self.size :])
        image_beta[:], image_delta[:] = self.gram.product(beta), self.eta * delta
        self.n_products += 1

    def memory(self, size: int, n: int) -> CurvatureMemory:
        return ImageMemory(size, n, self.gram.dtype)


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
