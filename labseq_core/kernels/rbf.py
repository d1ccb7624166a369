"""The Gaussian kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labseq_core.kernels.base import BasicKernel
from labseq_core.kernels.parameters import parameter


@dataclass(frozen=True)
class RBF(BasicKernel):
    """k(x, z) = exp(-|x - z|² / (2 width²)).

    width: the distance at which similarity has fallen to exp(-1/2) = 0.61. For 0/1 attributes |x - z|² is the number of
    attributes that only one of the two has. Narrow: only near duplicates are alike; very wide: all are.
    """

    width: float = parameter(1.0, "The distance at which likeness has fallen to 0.61.", above=0.0)
    name = "rbf"
    summary = "by distance"
    gp_iterations = 150

    def formula(self, inner: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        # |x - z|² = ⟨x, x⟩ + ⟨z, z⟩ - 2 ⟨x, z⟩; rounding must not make it negative
        inner *= -2.0
        inner += left + right
        np.maximum(inner, 0.0, out=inner)
        with np.errstate(over="ignore"):  # at a tiny width, whose square would be 0: infinitely far
            inner /= self.width
            inner /= -2.0 * self.width
        np.exp(inner, out=inner)
