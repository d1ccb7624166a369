"""One over the marginals of the given labels, token by token: B 6. Not convex."""

from __future__ import annotations

import numpy as np

from labseq_core.chain import ChainPotentials, ChainStatistics
from labseq_core.losses.base import Loss
from labseq_core.losses.marginal import sum_over_marginals


def marginal_exponential_loss(potentials: ChainPotentials, labels: np.ndarray) -> tuple[float, ChainStatistics]:
    """F^exp = Σ_i Σ_t 1 / p(y_t^i | x^i)      (B Eq. 24)"""
    return sum_over_marginals(potentials, labels, lambda p: (1.0 / p, -1.0 / (p * p)))


MARGINAL_EXPONENTIAL = Loss(
    name="marginal-exp",
    function=marginal_exponential_loss,
    formula="Σ_i Σ_t 1/p(y_t^i | x^i)",
    method_id="crf-marginal-exp",
    title="Marginal exponential CRF",
    summary="The marginal CRF with a loss that is hard on labels held for improbable: one over their probability.",
    where="boosting paper 6, Eq. 24-26",
    pointwise=True,
    convex=False,
    iterations=170,
    seconds=4e-9,
)
