"""How much of what it could have used a fitted model uses: one figure for methods that are sparse in different things."""

from __future__ import annotations

from typing import cast

from labseq_core.explain.boosting import has_rounds, sizes_by_round
from labseq_core.explain.sparse_gp import is_sparse_gp, sparse_path
from labseq_core.learners.base import SequenceLearner
from labseq_core.learners.boosting import BoostingLearner
from labseq_core.learners.sparse_gpsc import SparseGPSC


def used_share(learner: SequenceLearner) -> float | None:
    """A share from 0 to 1 of what `used_of` says; None for a learner from outside that does not say.

    Explicit weights, of boosting too: weights other than 0, of attributes x labels and transitions (methods that look at
    single tokens have no transitions). Boosting's own `feature_fraction_` may be above 1: it is relative to features seen in
    training, and features may be chosen that were not.   Kernels, of sparse GPs too: distinct training observations with a
    coefficient; a GP fitted by explicit features: weights of these other than 0.   Counts leave nothing out.
    """
    return learner.fitted_model().used_share


def used_of(learner: SequenceLearner) -> str:
    """What that is a share of: features, kernel features, training observations or parameters; empty where it is unknown."""
    return learner.fitted_model().used_of


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
