"""The exponential loss, T 3.2: an upper bound on the number of labellings that beat the truth."""

from __future__ import annotations

import numpy as np

from labseq_core.chain import ChainPotentials, ChainStatistics, path_statistics, rest_of, subtract_path
from labseq_core.losses.base import Loss


def exponential_loss(
    potentials: ChainPotentials, labels: np.ndarray, log_weights: np.ndarray | None = None
) -> tuple[float, ChainStatistics]:
    """Σ_i w_i (1/p(y^i|x^i) - 1) = Σ_i w_i Σ_{y ≠ y^i} e^{F(x^i, y) - F(x^i, y^i)}, never forming 1/p; log w_i given.

    The derivative for sequence i is W_i (E_rest[statistics] - statistics of y^i), W_i = w_i (1/p - 1).
    """
    weights = np.zeros(len(potentials)) if log_weights is None else log_weights
    rest = rest_of(potentials, labels, weights)
    with np.errstate(over="ignore"):  # an infinite loss sends a line search back
        per_sequence = np.exp(rest.log_odds + weights)
    value = float(per_sequence.sum())
    if not np.isfinite(value):
        return np.inf, path_statistics(potentials, labels)
    lengths = np.diff(potentials.offsets)
    derivative = subtract_path(rest.statistics, labels, potentials.offsets, np.repeat(per_sequence, lengths))
    return value, derivative


EXPONENTIAL = Loss(
    name="exp",
    function=exponential_loss,
    formula="Σ_i π^{l_i} (1/p(y^i | x^i) - 1), π = length_decay",
    method_id="exp",
    title="Exponential CRF",
    summary="The chain model of the CRF under the loss of boosting: few labellings shall score higher than the true one.",
    where="thesis 3.2, 3.3.1; boosting paper 4",
    has_length_decay=True,
    iterations=220,
    seconds=8e-9,
)
