"""The polynomial kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labseq_core.kernels.base import BasicKernel, number_not_below_zero, number_text, whole_number

MAX_DEGREE = 20


@dataclass(frozen=True)
class Polynomial(BasicKernel):
    """k(x, z) = (⟨x, z⟩ + constant)^degree: conjunctions of up to `degree` attributes; with constant 0, of exactly as many."""

    degree: int = 2
    constant: float = 1.0
    name = "poly"

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", whole_number("degree", self.degree, 1, MAX_DEGREE))
        object.__setattr__(self, "constant", number_not_below_zero("constant", self.constant))

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

    def __str__(self) -> str:
        constant = "" if self.constant == 1.0 else f":{number_text(self.constant)}"
        return f"{self.name}:{self.degree}{constant}"
