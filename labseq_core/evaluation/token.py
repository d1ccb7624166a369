"""Label by label: accuracy, Hamming risk, confusion, and precision, recall and F1 of each label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labseq_core.checks import require
from labseq_core.evaluation.label_pairs import Labellings, LabelPairs, pair_up
from labseq_core.evaluation.metric import Metric, Ratio


@dataclass(frozen=True, eq=False)
class ConfusionMatrix:
    """How often each true label was given each predicted label."""

    labels: tuple[str, ...]
    counts: np.ndarray  # int64, (S, S): counts[true, predicted]


@dataclass(frozen=True)
class LabelScore:
    """One row of the per-label table. A share of nothing (0/0) is 0.0."""

    label: str
    precision: float  # right among the tokens predicted so
    recall: float  # found among the tokens that truly are so
    f1: float
    support: int  # tokens that truly have this label
    predicted: int  # tokens that were given this label


def token_accuracy(y_true: Labellings, y_pred: Labellings) -> float:
    """Share of right labels among all tokens, whatever sequence they stand in."""
    return accuracy_of(pair_up(y_true, y_pred))


def hamming_risk(y_true: Labellings, y_pred: Labellings) -> float:
    """Mean over sequences of the share of wrong labels in a sequence.

    Every sequence counts alike, so this is 1 - `token_accuracy` only where all sequences are equally long.
    """
    return hamming_risk_of(pair_up(y_true, y_pred))


def confusion(y_true: Labellings, y_pred: Labellings, labels: Sequence[str] | None = None) -> ConfusionMatrix:
    """Counts of (true, predicted) label pairs.

    `labels` fixes order and size, and must contain every label that occurs; without it they are sorted.
    """
    return confusion_of(pair_up(y_true, y_pred), labels)


def per_label(y_true: Labellings, y_pred: Labellings, labels: Sequence[str] | None = None) -> list[LabelScore]:
    """Precision, recall and F1 of each label, with 0/0 = 0.0.

    `labels` chooses the rows and their order (one that never occurs scores 0.0); without it all labels, sorted.
    """
    return label_scores_of(confusion_of(pair_up(y_true, y_pred)), labels)


def accuracy_of(pairs: LabelPairs) -> float:
    return float(np.mean(pairs.true == pairs.predicted))


def hamming_risk_of(pairs: LabelPairs) -> float:
    wrong = (pairs.true != pairs.predicted).astype(np.int64)
    return float(np.mean(np.add.reduceat(wrong, pairs.offsets[:-1]) / np.diff(pairs.offsets)))


ACCURACY = Metric(
    "accuracy", "Token accuracy", "share of all tokens that got the right label", of=accuracy_of, shown="always",
    ratio=lambda counts: Ratio(counts.correct, counts.tokens),
)  # fmt: skip
HAMMING_RISK = Metric(
    "hamming_risk", "Hamming risk", "mean over sequences of the share of wrong labels in a sequence", of=hamming_risk_of,
    better="lower",
)  # fmt: skip
DEV_ACCURACY = Metric(
    "dev_accuracy", "Development accuracy", "token accuracy on the development set, which folds leave out", "development",
    accuracy_of,
)  # fmt: skip


def confusion_of(pairs: LabelPairs, labels: Sequence[str] | None = None) -> ConfusionMatrix:
    size = len(pairs.labels)
    counts = np.bincount(pairs.true * size + pairs.predicted, minlength=size * size).reshape(size, size)
    chosen = pairs.labels
    if labels is not None:
        chosen = _distinct(labels)
        missing = sorted(set(pairs.labels) - set(chosen))
        require(not missing, f"labels does not contain {', '.join(missing)}, which occur in y_true or y_pred; add them")
        place = [chosen.index(label) for label in pairs.labels]
        found, counts = counts, np.zeros((len(chosen), len(chosen)), dtype=np.int64)
        counts[np.ix_(place, place)] = found
    counts.setflags(write=False)
    return ConfusionMatrix(chosen, counts)


def label_scores_of(matrix: ConfusionMatrix, labels: Sequence[str] | None = None) -> list[LabelScore]:
    right, support = matrix.counts.diagonal().tolist(), matrix.counts.sum(axis=1).tolist()
    predicted = matrix.counts.sum(axis=0).tolist()
    tallies = dict(zip(matrix.labels, zip(right, support, predicted)))
    chosen = matrix.labels if labels is None else _distinct(labels)
    return [_label_score(label, *tallies.get(label, (0, 0, 0))) for label in chosen]


def _label_score(label: str, right: int, support: int, predicted: int) -> LabelScore:
    f1 = share(2 * right, support + predicted)
    return LabelScore(label, share(right, predicted), share(right, support), f1, support, predicted)


def share(part: int, whole: int) -> float:
    """part / whole, where a share of nothing is 0.0."""
    return part / whole if whole else 0.0


def _distinct(labels: Sequence[str]) -> tuple[str, ...]:
    chosen = tuple(labels)
    require(len(set(chosen)) == len(chosen), "labels contains a label twice; name each label once")
    return chosen
