"""How good a labelling is: by label, by span, by sequence; how good its confidence is; and what is more than luck."""

from typing import TYPE_CHECKING

from labseq_core._lazy import offered
from labseq_core.evaluation.abstention import (
    AbstentionCurve,
    AbstentionPoint,
    abstention_curve,
    compare_at,
    coverage_table,
    curves_csv,
    threshold_table,
    top_labels,
)
from labseq_core.evaluation.calibration import Calibration, ReliabilityBin, calibration, reliability
from labseq_core.evaluation.metric import Metric, Ratio
from labseq_core.evaluation.registry import METRICS
from labseq_core.evaluation.report import Evaluation, evaluate
from labseq_core.evaluation.sequence import sequence_accuracy
from labseq_core.evaluation.significance import (
    Interval,
    SequenceCounts,
    compare_all,
    holm,
    standard_error,
)
from labseq_core.evaluation.span import SegmentCounts, SegmentScores, is_bio, segment_scores, spans
from labseq_core.evaluation.token import (
    ConfusionMatrix,
    LabelScore,
    confusion,
    hamming_risk,
    per_label,
    token_accuracy,
)

if TYPE_CHECKING:
    from labseq_core.evaluation.temperature import TemperatureFit, fit_temperature, marginals_at
# Temperatures need compiled inference; the rest is loaded to say what metrics there are.
__getattr__, _ = offered(__name__, {"temperature": ["TemperatureFit", "fit_temperature", "marginals_at"]})

__all__ = [
    "METRICS",
    "AbstentionCurve",
    "AbstentionPoint",
    "Calibration",
    "ConfusionMatrix",
    "Evaluation",
    "Interval",
    "LabelScore",
    "Metric",
    "Ratio",
    "ReliabilityBin",
    "SegmentCounts",
    "SegmentScores",
    "SequenceCounts",
    "TemperatureFit",
    "abstention_curve",
    "calibration",
    "compare_all",
    "compare_at",
    "confusion",
    "coverage_table",
    "curves_csv",
    "evaluate",
    "fit_temperature",
    "hamming_risk",
    "holm",
    "is_bio",
    "marginals_at",
    "per_label",
    "reliability",
    "segment_scores",
    "sequence_accuracy",
    "spans",
    "standard_error",
    "threshold_table",
    "token_accuracy",
    "top_labels",
]
