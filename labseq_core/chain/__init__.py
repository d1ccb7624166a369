"""Inference on label chains: one layer under every method."""

from labseq_core.chain.derivatives import Rest, covariance_product, independent_variances, refuse_forbidden, rest_of
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
from labseq_core.chain.most_violated import (
    RivalLists,
    Rivals,
    best_rivals,
    diverse_rivals,
    slack_rescaled_rivals,
)
from labseq_core.chain.potentials import ChainPotentials, ChainStatistics
from labseq_core.chain.recursions.lazy_k_best import LabellingsInOrder

__all__ = [
    "BestLabelling", "ChainPotentials", "ChainStatistics", "LabellingsInOrder", "Posterior", "Rest", "RivalLists", "Rivals",
    "best_rivals", "covariance_product", "diverse_rivals", "forward_backward", "independent_variances", "k_best",
    "max_marginals", "path_scores", "path_statistics", "refuse_forbidden", "rest_of",
    "slack_rescaled_rivals", "subtract_path", "viterbi",
]  # fmt: skip
