"""All metrics of one prediction at once."""

from __future__ import annotations

from dataclasses import dataclass

from labseq_core.evaluation._pairs import Labellings, pair_up
from labseq_core.evaluation.sequence import sequence_accuracy_of
from labseq_core.evaluation.span import SegmentScores, is_bio, segment_scores_of
from labseq_core.evaluation.token import (
    ConfusionMatrix,
    LabelScore,
    accuracy_of,
    confusion_of,
    hamming_risk_of,
    label_scores_of,
)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Every metric of one prediction; `segments` is None where the labels are not BIO, so that spans mean nothing."""

    accuracy: float
    sequence_accuracy: float
    hamming_risk: float
    segments: SegmentScores | None
    n_tokens: int
    n_sequences: int
    per_label: tuple[LabelScore, ...]
    confusion: ConfusionMatrix

    @property
    def span_precision(self) -> float | None:
        return self.segments.precision if self.segments else None

    @property
    def span_recall(self) -> float | None:
        return self.segments.recall if self.segments else None

    @property
    def span_f1(self) -> float | None:
        return self.segments.f1 if self.segments else None

    def summary(self) -> dict[str, float | None]:
        """One row of a table: always the same keys in the same order."""
        names = (
            "accuracy",
            "sequence_accuracy",
            "hamming_risk",
            "span_precision",
            "span_recall",
            "span_f1",
            "n_tokens",
            "n_sequences",
        )
        return {name: getattr(self, name) for name in names}


def evaluate(y_true: Labellings, y_pred: Labellings) -> Evaluation:
    """All metrics; spans are scored where all labels, true and predicted, are BIO."""
    pairs = pair_up(y_true, y_pred)
    matrix = confusion_of(pairs)
    return Evaluation(
        accuracy=accuracy_of(pairs),
        sequence_accuracy=sequence_accuracy_of(pairs),
        hamming_risk=hamming_risk_of(pairs),
        segments=segment_scores_of(pairs) if is_bio(pairs.labels) else None,
        n_tokens=pairs.n_tokens,
        n_sequences=pairs.n_sequences,
        per_label=tuple(label_scores_of(matrix)),
        confusion=matrix,
    )
