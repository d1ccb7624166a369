"""Inference on label chains: one layer under every method."""

from labseq_core.chain.derivatives import Rest, covariance_product, refuse_forbidden, rest_of
from labseq_core.chain.inference import (
    BestLabelling,
    Posterior,
    forward_backward,
    k_best,
    max_marginals,
    path_scores,
    path_statistics,
    subtract_path,
    viterbi,
)
from labseq_core.chain.potentials import ChainPotentials, ChainStatistics

__all__ = [
    "BestLabelling", "ChainPotentials", "ChainStatistics", "Posterior", "Rest", "covariance_product", "forward_backward",
    "k_best", "max_marginals", "path_scores", "path_statistics", "refuse_forbidden", "rest_of", "subtract_path", "viterbi",
]  # fmt: skip
