"""How much of what it could have used a fitted model uses: one figure for methods that are sparse in different things."""

from __future__ import annotations

import numpy as np

from labseq_core.checks import require
from labseq_core.learners.base import SequenceLearner
from labseq_core.learners.maxent import MaxEnt
from labseq_core.learners.token_boosting import AdaBoostMR
from labseq_core.scoring.dual_features import ExplicitExpansion


def used_share(learner: SequenceLearner) -> float | None:
    """A share from 0 to 1; None for models of counts (naive Bayes, HMM), which have nothing to leave out.

    Explicit weights, of boosting too: weights other than 0, of attributes x labels and transitions (methods that look at
    single tokens have no transitions). Boosting's own `feature_fraction_` may be above 1: it is relative to features seen in
    training, and features may be chosen that were not.   Kernels: distinct training observations with a coefficient; a GP
    fitted by explicit features: weights of these other than 0.
    """
    name = type(learner).__name__
    require(hasattr(learner, "classes_"), f"this {name} is not fitted yet; call fit first")
    if isinstance(learner, MaxEnt | AdaBoostMR):
        return _nonzero(learner.weights_.node)
    if hasattr(learner, "weights_"):
        return _nonzero(learner.weights_.flat)
    expansion = getattr(learner, "expansion_", None)
    if isinstance(expansion, ExplicitExpansion):
        return _nonzero(expansion.weights, expansion.delta)
    if expansion is not None:
        return len(expansion.support) / learner.n_observations_
    return None


def _nonzero(*parts: np.ndarray) -> float:
    return sum(int(np.count_nonzero(part)) for part in parts) / sum(part.size for part in parts)
