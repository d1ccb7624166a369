"""All metrics. A new one is an object in the file that computes it and a line here; rows, files, forms and pages follow."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property

from labseq_core.checks import LabSeqError
from labseq_core.evaluation.abstention import AURC, AbstentionCurve
from labseq_core.evaluation.calibration import BRIER, ECE, LOG_LOSS, Probabilities
from labseq_core.evaluation.label_pairs import LabelPairs
from labseq_core.evaluation.metric import NEEDS, Metric
from labseq_core.evaluation.resources import (
    MODEL_BYTES,
    N_ATTRIBUTES,
    N_PARAMETERS,
    PEAK_MEGABYTES,
    PREDICT_SECONDS,
    TRAIN_SECONDS,
    USED_SHARE,
    ModelSize,
    Timing,
)
from labseq_core.evaluation.sequence import SEQUENCE_ACCURACY
from labseq_core.evaluation.span import SPAN_F1, SPAN_PRECISION, SPAN_RECALL, SegmentScores, is_bio, segment_scores_of
from labseq_core.evaluation.token import ACCURACY, DEV_ACCURACY, HAMMING_RISK
from labseq_core.registry import Registry

# Those that are always shown are shown in this order.
METRICS: Registry[Metric] = Registry(
    "metric",
    [
        ACCURACY,
        SPAN_PRECISION,
        SPAN_RECALL,
        SPAN_F1,
        SEQUENCE_ACCURACY,
        HAMMING_RISK,
        LOG_LOSS,
        BRIER,
        ECE,
        AURC,
        DEV_ACCURACY,
        N_ATTRIBUTES,
        N_PARAMETERS,
        USED_SHARE,
        MODEL_BYTES,
        TRAIN_SECONDS,
        PREDICT_SECONDS,
        PEAK_MEGABYTES,
    ],
)


@dataclass(frozen=True, eq=False)
class Tested:
    """What is known of a model that was tested, by the names that metrics say they need; None where there is none."""

    labels: LabelPairs
    probabilities: Probabilities | None = None
    confidence: AbstentionCurve | None = None
    development: LabelPairs | None = None
    model: ModelSize | None = None
    timing: Timing | None = None

    @cached_property
    def spans(self) -> SegmentScores | None:
        """Where all labels, true and predicted, are BIO."""
        return segment_scores_of(self.labels) if is_bio(self.labels.labels) else None

    def scores(self, *needs: str) -> dict[str, float | None]:
        """The metrics that are functions of these, by name. One that fails is None, with a warning: it costs no model."""
        found: dict[str, float | None] = {}
        for metric in metrics_of(*needs):
            try:
                found[metric.name] = metric.value(self)
            except LabSeqError as problem:
                warnings.warn(str(problem), stacklevel=2)
                found[metric.name] = None
        return found


def metrics_of(*needs: str) -> list[Metric]:
    """Those with these needs, or all, in the order of the columns of a row."""
    return [metric for need in needs or NEEDS for metric in METRICS.values() if metric.needs == need]


def compared_metrics() -> list[Metric]:
    """Those that have standard errors over sequences, and by which methods can be told apart."""
    return [metric for metric in METRICS.values() if metric.ratio is not None]
