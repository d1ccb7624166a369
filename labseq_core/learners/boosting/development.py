"""Development data followed round by round: only the sequences that a change touches are decoded again."""

from __future__ import annotations

import numpy as np

from labseq_core.chain import viterbi
from labseq_core.evaluation.label_pairs import LabelPairs
from labseq_core.evaluation.span import SegmentCounts, is_bio, segment_scores_of
from labseq_core.features.encoded import gather
from labseq_core.scoring.linear import LinearScoring, LinearWeights, RunningWeights

UNKNOWN = "I-?"  # stands for all labels that training never saw


class Development:
    """Accuracy and, for BIO labels, F1 on development data while single weights move."""

    def __init__(self, scoring: LinearScoring, weights: LinearWeights, labels: np.ndarray, classes: list[str]):
        encoded, self._scoring, self._offsets = scoring.encoded, scoring, scoring.encoded.offsets
        self._scores = RunningWeights(scoring.potentials(weights), encoded.n_attributes, scoring.entries_of)
        self._truth, self._classes = labels, (*classes, UNKNOWN)
        self._codes = np.where(labels >= 0, labels, len(classes))
        self._lengths = np.diff(self._offsets)
        self._sequence = np.repeat(np.arange(len(encoded)), self._lengths)
        self._spans = is_bio(classes)
        self._guess = viterbi(self._scores.potentials()).labels
        self._right = int((self._guess == labels).sum())
        self._counts = self._count(np.arange(len(encoded)))

    @property
    def accuracy(self) -> float:
        return self._right / len(self._truth)

    @property
    def f1(self) -> float:
        """NaN where labels are not BIO."""
        return SegmentCounts(*self._counts.tolist()).f1 if self._spans else float("nan")

    @property
    def score(self) -> float:
        """What early stopping looks at."""
        return self.f1 if self._spans else self.accuracy

    def move(self, feature: int, step: float) -> None:
        """Add to a weight, numbered as in the flat vector."""
        self._scores.update(feature, step)
        attribute = feature // self._scoring.n_labels
        if attribute < self._scoring.encoded.n_attributes:
            self._decode(np.unique(self._sequence[self._scoring.entries_of(attribute)[0]]))
        else:
            self._decode(np.flatnonzero(self._lengths >= 2))

    def _decode(self, sequences: np.ndarray) -> None:
        if sequences.size == 0:
            return
        rows, offsets = gather(self._offsets, sequences)
        guess = viterbi(self._scores.potentials().select(rows, offsets)).labels
        different = guess != self._guess[rows]
        if not different.any():
            return
        changed = np.unique(self._sequence[rows[different]])
        before = self._count(changed)
        self._right += int((guess == self._truth[rows]).sum() - (self._guess[rows] == self._truth[rows]).sum())
        self._guess[rows] = guess
        self._counts += self._count(changed) - before

    def _count(self, sequences: np.ndarray) -> np.ndarray:
        """Correct, predicted and true spans of some sequences."""
        if not self._spans:
            return np.zeros(3, dtype=np.int64)
        rows, offsets = gather(self._offsets, sequences)
        spans = segment_scores_of(LabelPairs(self._classes, self._codes[rows], self._guess[rows], offsets))
        return np.array([spans.correct, spans.predicted, spans.true])
