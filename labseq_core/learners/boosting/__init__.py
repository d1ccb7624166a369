"""Boosting, of whole sequences and of single tokens: one feature a round."""

from labseq_core.learners.boosting.base import BoostingLearner
from labseq_core.learners.boosting.sequence_boosting import LogitBoost, SequenceBoost
from labseq_core.learners.boosting.token_boosting import AdaBoostMR, ViterbiBoost

__all__ = ["AdaBoostMR", "BoostingLearner", "LogitBoost", "SequenceBoost", "ViterbiBoost"]
