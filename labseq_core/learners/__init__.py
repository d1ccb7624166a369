"""The methods, one file per family, and their registry."""

from labseq_core.learners.base import SequenceLearner
from labseq_core.learners.boosting import AdaBoostMR, LogitBoost, SequenceBoost, ViterbiBoost
from labseq_core.learners.crf import CRF
from labseq_core.learners.dual_perceptron import DualPerceptron
from labseq_core.learners.gpsc import GPSC
from labseq_core.learners.hmm import HMM
from labseq_core.learners.hmsvm import HMSVM
from labseq_core.learners.maxent import MaxEnt
from labseq_core.learners.naive_bayes import NaiveBayes
from labseq_core.learners.options import Option
from labseq_core.learners.perceptron import StructuredPerceptron
from labseq_core.learners.registry import METHODS, Method, find_method, load_model, make_learner, method_options
from labseq_core.learners.sparse_gpsc import SparseGPSC

__all__ = [
    "CRF", "GPSC", "HMM", "HMSVM", "METHODS", "AdaBoostMR", "DualPerceptron", "LogitBoost", "MaxEnt", "Method", "NaiveBayes",
    "Option", "SequenceBoost", "SequenceLearner", "SparseGPSC", "StructuredPerceptron", "ViterbiBoost", "find_method",
    "load_model", "make_learner", "method_options",
]  # fmt: skip
