"""What a model costs: its size, the time to train it and to label with it, memory."""

from __future__ import annotations

from dataclasses import dataclass

from labseq_core.evaluation.metric import Metric


@dataclass(frozen=True)
class ModelSize:
    """How large a trained model is."""

    n_attributes: int
    n_parameters: int
    used_share: float | None  # None where a model from outside does not say
    model_bytes: int


@dataclass(frozen=True)
class Timing:
    """What was measured while a model was trained and tested: different each time."""

    train_seconds: float
    predict_seconds: float
    peak_megabytes: float | None


N_ATTRIBUTES = Metric(
    "n_attributes", "Attributes", "distinct attributes in the training data", "model", share=False, better="",
    form="{:,.0f}",
)  # fmt: skip
N_PARAMETERS = Metric(
    "n_parameters", "Parameters", "numbers that were learned", "model", share=False, better="", form="{:,.0f}"
)
USED_SHARE = Metric(
    "used_share", "Share used", "share of what a model could use that it does use: of what, the column used_of says", "model",
    better="", form="{:.2%}", short="used",
)  # fmt: skip
MODEL_BYTES = Metric(
    "model_bytes", "Model size", "bytes of the model", "model", share=False, better="lower", form="{:,.0f}\u00a0bytes"
)
TRAIN_SECONDS = Metric(
    "train_seconds", "Training time", "seconds to train a model", "timing", share=False, better="lower",
    form="{:.3f}\u00a0s", short="training s",
)  # fmt: skip
PREDICT_SECONDS = Metric(
    "predict_seconds", "Labelling time", "seconds to label the test part", "timing", share=False, better="lower",
    form="{:.4f}\u00a0s", short="labelling s",
)  # fmt: skip
PEAK_MEGABYTES = Metric(
    "peak_megabytes", "Peak memory", "of the process that trained, with LabSeq itself", "timing", share=False,
    better="lower", form="{:.0f}\u00a0MB", short="peak MB",
)  # fmt: skip
