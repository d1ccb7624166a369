"""Label sequence learning: data, features, chains, learners. The dashboard stands on this; it stands on its own."""

from labseq_core._lazy import offered

__version__ = "0.1.0"
__all__ = [
    "CRF", "GPSC", "HMM", "HMSVM", "RBF", "AdaBoostMR", "DualPerceptron", "FeatureTemplate", "LabSeqError", "Linear",
    "LogitBoost", "MaxEnt", "NaiveBayes", "Normalized", "Polynomial", "SequenceBoost", "SparseGPSC", "StructuredPerceptron",
    "TokenMatch", "ViterbiBoost", "load_dataset", "load_model", "read_conll",
]  # fmt: skip
__getattr__, __dir__ = offered(
    __name__,
    {
        "checks": ["LabSeqError"],
        "data.catalogue": ["load_dataset"],
        "data.formats.registry": ["read_conll"],
        "features": ["FeatureTemplate"],
        "kernels": ["RBF", "Linear", "Normalized", "Polynomial", "TokenMatch"],
        "learners": [
            "CRF", "GPSC", "HMM", "HMSVM", "AdaBoostMR", "DualPerceptron", "LogitBoost", "MaxEnt", "NaiveBayes",
            "SequenceBoost", "SparseGPSC", "StructuredPerceptron", "ViterbiBoost", "load_model",
        ],
    },
)  # fmt: skip
