"""Label sequence learning: data, features, chains, learners. The dashboard stands on this; it stands on its own."""

from labseq_core._checks import LabSeqError
from labseq_core.data.catalogue import load_dataset
from labseq_core.data.readers import read_conll
from labseq_core.features import FeatureTemplate
from labseq_core.kernels import RBF, Linear, Normalized, Polynomial, TokenMatch
from labseq_core.learners import (
    CRF,
    GPSC,
    HMM,
    HMSVM,
    AdaBoostMR,
    DualPerceptron,
    LogitBoost,
    MaxEnt,
    NaiveBayes,
    SequenceBoost,
    SparseGPSC,
    StructuredPerceptron,
    ViterbiBoost,
    load_model,
)

__version__ = "0.1.0"
__all__ = [
    "CRF", "GPSC", "HMM", "HMSVM", "RBF", "AdaBoostMR", "DualPerceptron", "FeatureTemplate", "LabSeqError", "Linear",
    "LogitBoost", "MaxEnt", "NaiveBayes", "Normalized", "Polynomial", "SequenceBoost", "SparseGPSC", "StructuredPerceptron",
    "TokenMatch",
    "ViterbiBoost", "load_dataset", "load_model", "read_conll",
]  # fmt: skip
