"""How much of what it could have used a fitted model uses: one figure for methods that are sparse in different things."""

from __future__ import annotations

from labseq_core.learners.base import SequenceLearner


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
