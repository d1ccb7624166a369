"""The linear kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labseq_core.kernels.base import BasicKernel


@dataclass(frozen=True)
class Linear(BasicKernel):
    """k(x, z) = ⟨x, z⟩: the methods with explicit weights in their dual form."""

    name = "linear"
    summary = "what they share"
    polynomial = 1, 0.0
    gp_iterations = 30

    @property
    def is_linear(self) -> bool:
        """A subclass may have another formula, or fewer attributes."""
        return type(self) is Linear

    def formula(self, inner: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        """Inner products are what it is."""
