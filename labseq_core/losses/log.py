"""The log loss, T 2.2.2."""

from __future__ import annotations

import numpy as np

from labseq_core.chain import (
    ChainPotentials,
    ChainStatistics,
    forward_backward,
    path_scores,
    refuse_forbidden,
    subtract_path,
)


def log_loss(potentials: ChainPotentials, labels: np.ndarray) -> tuple[float, ChainStatistics]:
    """Σ_i -log p(y^i | x^i) = Σ_i (log Z_i - F(x^i, y^i)); its derivative is expected minus observed statistics (T 2.19)."""
    observed = path_scores(potentials, labels)
    refuse_forbidden(observed)
    posterior = forward_backward(potentials)
    value = float(np.sum(posterior.log_partition - observed))
    return value, subtract_path(posterior.statistics, labels, potentials.offsets)
