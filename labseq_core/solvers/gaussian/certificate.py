"""The certificate of Gaussian process sequence classification: how far an objective can be from its minimum.

R(f) - min R <= ‖r‖² / (2λ),      ‖r‖² = tr(r_βᵀ G r_β) + η ‖r_δ‖²      (T Lemma 4, corrected; METHODS 5)

r is the functional gradient of R at f, G the Gram matrix over distinct observations.
"""

from __future__ import annotations

import numpy as np


def optimality_gap(squared_norm: float, l2: float, objective: float) -> float:
    """From ‖r‖². The objective is never negative: it cannot fall by more than it is."""
    return min(max(squared_norm, 0.0) / (2.0 * l2), objective)


def squared_gradient_norm(r_beta: np.ndarray, r_delta: np.ndarray, gram_product: np.ndarray, eta: float) -> float:
    """‖r‖²; gram_product: G r_β."""
    return float(np.sum(r_beta * gram_product)) + eta * float(np.sum(r_delta**2))
