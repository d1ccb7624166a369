"""How good a labelling is: by label, by span, by sequence."""

from labseq_core.evaluation.report import Evaluation, evaluate
from labseq_core.evaluation.segment import SegmentCounts, SegmentScores, is_bio, segment_scores, spans
from labseq_core.evaluation.sequence import sequence_accuracy
from labseq_core.evaluation.token import (
    ConfusionMatrix,
    LabelScore,
    confusion,
    hamming_risk,
    per_label,
    token_accuracy,
)

__all__ = [
    "ConfusionMatrix",
    "Evaluation",
    "LabelScore",
    "SegmentCounts",
    "SegmentScores",
    "confusion",
    "evaluate",
    "hamming_risk",
    "is_bio",
    "per_label",
    "segment_scores",
    "sequence_accuracy",
    "spans",
    "token_accuracy",
]
