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
from labseq_core.losses.base import Loss


def log_loss(potentials: ChainPotentials, labels: np.ndarray) -> tuple[float, ChainStatistics]:
    """Σ_i -log p(y^i | x^i) = Σ_i (log Z_i - F(x^i, y^i)); its derivative is expected minus observed statistics (T 2.19)."""
    observed = path_scores(potentials, labels)
    refuse_forbidden(observed)
    posterior = forward_backward(potentials)
    value = float(np.sum(posterior.log_partition - observed))
    return value, subtract_path(posterior.statistics, labels, potentials.offsets)


LOG = Loss(
    name="log",
    function=log_loss,
    formula="Σ_i -log p(y^i | x^i)",
    method_id="crf",
    title="CRF",
    summary="Conditional random field: the probability of the whole labelling is made as large as possible.",
    where="thesis 2.2.2, 2.3.1",
    curves_like_log=True,
    may_overflow=False,
    iterations=110,
    seconds=2e-9,
)
