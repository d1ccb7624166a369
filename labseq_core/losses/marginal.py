"""The log loss of the marginals of the given labels, token by token: T 2.2.3. Not convex."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from labseq_core.chain import (
    ChainPotentials,
    ChainStatistics,
    covariance_product,
    forward_backward,
    path_scores,
    refuse_forbidden,
)
from labseq_core.losses.base import Loss


def marginal_log_loss(potentials: ChainPotentials, labels: np.ndarray) -> tuple[float, ChainStatistics]:
    """R^mg = Σ_i (1/l_i) Σ_t -log p(y_t^i | x^i)      (T 2.10, with the factor 1/l in its derivative too)"""
    share = 1.0 / np.repeat(np.diff(potentials.offsets), np.diff(potentials.offsets))
    return sum_over_marginals(potentials, labels, lambda p: (-share * np.log(p), -share / p))


def sum_over_marginals(
    potentials: ChainPotentials, labels: np.ndarray, of: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
) -> tuple[float, ChainStatistics]:
    """Σ_t f(p_t(y_t)). Its derivative is the covariance-vector product with v_t(s) = f'(p_t) [s = y_t]."""
    refuse_forbidden(path_scores(potentials, labels))
    positions = np.arange(len(labels))
    posterior = forward_backward(potentials).statistics
    marginals = posterior.node[positions, labels]
    with np.errstate(divide="ignore", over="ignore"):  # an infinite loss sends a line search back
        values, slopes = of(marginals)
    value = float(values.sum())
    node = np.zeros_like(potentials.node)
    nothing = np.zeros(potentials.n_labels)
    if np.isfinite(value) and np.isfinite(slopes).all():
        node[positions, labels] = slopes
    else:
        value = np.inf
    direction = ChainStatistics(nothing, node, np.zeros_like(potentials.edge), nothing)
    return value, replace(covariance_product(potentials, direction), in_log_domain=posterior.in_log_domain)


MARGINAL = Loss(
    name="marginal",
    function=marginal_log_loss,
    formula="Σ_i (1/l_i) Σ_t -log p(y_t^i | x^i)",
    method_id="crf-marginal",
    title="Marginal CRF",
    summary="The CRF made for single labels: the probability of each true label is made large, not that of all at once.",
    where="thesis 2.2.3, 2.3.2",
    pointwise=True,
    convex=False,
    iterations=60,
    seconds=4e-9,
)
