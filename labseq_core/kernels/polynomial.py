"""The polynomial kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labseq_core.kernels.base import BasicKernel
from labseq_core.kernels.parameters import parameter


@dataclass(frozen=True)
class Polynomial(BasicKernel):
    """k(x, z) = (⟨x, z⟩ + constant)^degree: conjunctions of up to `degree` attributes; with constant 0, of exactly as many."""

    degree: int = parameter(2, "Conjunctions of up to this many attributes.", low=1, high=20)
    constant: float = parameter(1.0, "The larger, the less conjunctions count.", low=0.0)
    name = "poly"
    summary = "and conjunctions of what they share"

    @property
    def polynomial(self) -> tuple[int, float]:
        return self.degree, self.constant

    def formula(self, inner: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        inner += self.constant
        if self.degree == 2:
            np.multiply(inner, inner, out=inner)
        elif self.degree > 2:
            base = inner.copy()
            for _ in range(self.degree - 1):
                np.multiply(inner, base, out=inner)
