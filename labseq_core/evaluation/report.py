"""All metrics of one prediction at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from labseq_core.evaluation.label_pairs import Labellings, LabelPairs, pair_up
from labseq_core.evaluation.registry import Tested
from labseq_core.evaluation.span import SegmentScores
from labseq_core.evaluation.token import ConfusionMatrix, LabelScore, confusion_of, label_scores_of


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Every metric of one prediction, also as an attribute: `evaluation.span_f1`. `segments` and the metrics of spans are
    None where the labels are not BIO, so that spans mean nothing.
    """

    metrics: Mapping[str, float | None]
    segments: SegmentScores | None
    n_tokens: int
    n_sequences: int
    per_label: tuple[LabelScore, ...]
    confusion: ConfusionMatrix

    @classmethod
    def of(cls, pairs: LabelPairs) -> Evaluation:
        tested, matrix = Tested(pairs), confusion_of(pairs)
        return cls(
            tested.scores("labels", "spans"), tested.spans, pairs.n_tokens, pairs.n_sequences,
            tuple(label_scores_of(matrix)), matrix,
        )  # fmt: skip

    def __getattr__(self, name: str) -> float | None:
        metrics = self.__dict__.get("metrics", {})  # none yet while it is unpickled
        if name not in metrics:
            raise AttributeError(f"there is no metric {name!r} of labels; there are {', '.join(metrics)}")
        return metrics[name]

    def summary(self) -> dict[str, float | None]:
        """One row of a table: always the same keys in the same order."""
        return {**self.metrics, "n_tokens": self.n_tokens, "n_sequences": self.n_sequences}


def evaluate(y_true: Labellings, y_pred: Labellings) -> Evaluation:
    """All metrics; spans are scored where all labels, true and predicted, are BIO."""
    return Evaluation.of(pair_up(y_true, y_pred))
