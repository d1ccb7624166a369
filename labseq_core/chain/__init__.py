"""Inference on label chains: one layer under every method."""

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
    "BestLabelling", "ChainPotentials", "ChainStatistics", "Posterior", "forward_backward", "k_best", "max_marginals",
    "path_scores", "path_statistics", "subtract_path", "viterbi",
]  # fmt: skip
