"""How the share that a model uses, and its accuracy, grew while it was trained."""

from __future__ import annotations

from typing import cast

from labseq_core.explain.boosting import has_rounds, sizes_by_round
from labseq_core.explain.sparse_gp import is_sparse_gp, sparse_path
from labseq_core.learners.base import SequenceLearner
from labseq_core.learners.boosting import BoostingLearner
from labseq_core.learners.sparse_gpsc import SparseGPSC


def share_path(learner: SequenceLearner) -> list[dict[str, float]]:
    """How a model that takes one thing after the other came to its share: `share` and `dev_accuracy`, by Viterbi, a row per
    step. Empty for all other models, and where accuracy was not followed on development data.
    """
    if has_rounds(type(learner)):
        boosted = cast(BoostingLearner, learner)
        rounds = sizes_by_round(boosted)[: boosted.best_round_]
        rows = [(row["features"] / boosted.n_parameters_, row["dev_accuracy"]) for row in rounds]
    elif is_sparse_gp(type(learner)) and learner.basis == "observation":
        sparse = cast(SparseGPSC, learner)
        # Coordinates over coordinates per observation: how many observations have any.
        taken = [row for row in sparse_path(sparse) if row["coordinates"]]
        touched = [round(row["coordinates"] / row["pairs_per_observation"]) for row in taken]
        rows = [(count / sparse.n_observations_, row["dev_accuracy"]) for count, row in zip(touched, taken)]
    else:
        rows = []
    return [{"share": share, "dev_accuracy": accuracy} for share, accuracy in rows if accuracy is not None]
