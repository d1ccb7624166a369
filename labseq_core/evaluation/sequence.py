"""Sequence by sequence: how many are right from end to end."""

from __future__ import annotations

import numpy as np

from labseq_core.evaluation.label_pairs import Labellings, LabelPairs, pair_up
from labseq_core.evaluation.metric import Metric


def sequence_accuracy(y_true: Labellings, y_pred: Labellings) -> float:
    """Share of sequences without a single wrong label."""
    return sequence_accuracy_of(pair_up(y_true, y_pred))


def sequence_accuracy_of(pairs: LabelPairs) -> float:
    return float(np.mean(np.logical_and.reduceat(pairs.true == pairs.predicted, pairs.offsets[:-1])))


SEQUENCE_ACCURACY = Metric(
    "sequence_accuracy", "Whole sequences", "share of sequences in which every label is right", of=sequence_accuracy_of,
    shown="always", short="whole sequences",
)  # fmt: skip
