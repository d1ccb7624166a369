"""Boosting one feature a round on chains: T Algorithms 3 and 4, B 5; and its twin for the log loss, T 3.7.

A round takes the feature with the smallest bound and moves its weight.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from labseq_core.solvers.boosting import selection
from labseq_core.solvers.boosting.exact_steps import exact_step, majorised_log_step
from labseq_core.solvers.boosting.state import BoostingState

ROUNDING = 1e-12  # a reduction below this part of the loss may be one of rounding only


@dataclass(frozen=True)
class Round:
    """One round: what was chosen, and what it did."""

    feature: int
    step: float
    pseudo_accuracy: float  # T 3.28
    bound: float  # the loss is multiplied by at most this
    ratio: float  # the loss was multiplied by this: Z for the exponential loss
    log_loss: float  # logarithm of the training loss after the round
    sequences: float  # share of sequences that were touched
    tokens: float  # share of positions in them
    looked_at: float  # share of positions in those of them, and others, that inference was repeated on
    evaluations: int  # passes over them to find an exact step


class Booster(BoostingState):
    """A fit, round by round."""

    def round(self) -> Round | None:
        """Choose a feature, move its weight; None where no feature reduces the bound any more."""
        feature, step, gain = self.select()
        if feature < 0 or step == 0.0 or not gain > ROUNDING * self.total:
            return None
        slope = float(self.slopes.flat[feature])
        upper, lower = self.range_of(feature)
        accuracy = float(selection.pseudo_accuracy_of(slope, upper, lower, self.total))
        before, before_log = self.loss(), self.log_loss
        evaluations = 0
        if self.bound == "exact":
            step, evaluations = exact_step(self, feature, step)
        elif not self.inverse_probability and self.bound == "tight":
            step, gain = majorised_log_step(self, feature, step)
        self.last_gain = gain
        looked_at = self.move(feature, step)
        after = self.log_loss
        sequences, touched = self.lists.share_of(feature)
        return Round(
            feature, step, accuracy, 1.0 - gain / before, math.exp(after - before_log), after, sequences, touched,
            float(self.lengths[looked_at].sum() / self.lengths.sum()), evaluations,
        )  # fmt: skip
