"""Development data followed round by round: only the sequences that a change touches are decoded again."""

from __future__ import annotations

import numpy as np

from labseq_core.chain import ChainPotentials, viterbi
from labseq_core.evaluation.label_pairs import LabelPairs
from labseq_core.evaluation.span import SegmentCounts, is_bio, segment_scores_of
from labseq_core.features import EncodedSequences
from labseq_core.scoring.linear import MovingPotentials

UNKNOWN = "I-?"  # stands for all labels that training never saw


class Development:
    """Accuracy and, for BIO labels, F1 on development data while single weights move."""

    def __init__(self, encoded: EncodedSequences, labels: np.ndarray, potentials: ChainPotentials, classes: list[str]):
        self._scores = MovingPotentials(potentials)
        self._truth, self._classes = labels, (*classes, UNKNOWN)
        self._codes = np.where(labels >= 0, labels, len(classes))
        order = np.argsort(encoded.indices, kind="stable")
        self._entries = order
        self._pointer = np.searchsorted(encoded.indices[order], np.arange(encoded.n_attributes + 1))
        self._position = np.repeat(np.arange(encoded.n_positions), np.diff(encoded.indptr))
        self._values = encoded.values
        self._sequence = np.repeat(np.arange(len(encoded)), np.diff(encoded.offsets))
        self._spans = is_bio(classes)
        self._guess = viterbi(self._potentials).labels
        self._right = int((self._guess == labels).sum())
        self._counts = self._count(np.arange(len(encoded)))

    @property
    def _potentials(self) -> ChainPotentials:
        return self._scores.now

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

    def move(self, attribute: int, label: int, step: float) -> None:
        """Add to the weight of an attribute at a label."""
        entries = self._entries[self._pointer[attribute] : self._pointer[attribute + 1]]
        if entries.size == 0:
            return
        positions = self._position[entries]
        values = self._values[entries] if self._values.size else 1.0
        self._scores.update_attribute(positions, values, label, step)
        self._decode(np.unique(self._sequence[positions]))

    def move_pair(self, previous: int, label: int, step: float) -> None:
        """Add to the weight of a pair of labels."""
        self._scores.update_pair(previous, label, step)
        self._decode(np.flatnonzero(np.diff(self._potentials.offsets) >= 2))

    def _decode(self, sequences: np.ndarray) -> None:
        if sequences.size == 0:
            return
        rows, offsets = _rows_of(self._potentials.offsets, sequences)
        whole = self._potentials
        part = ChainPotentials.trusted(whole.start, whole.node[rows], whole.edge, whole.stop, offsets)
        guess = viterbi(part).labels
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
        rows, offsets = _rows_of(self._potentials.offsets, sequences)
        spans = segment_scores_of(LabelPairs(self._classes, self._codes[rows], self._guess[rows], offsets))
        return np.array([spans.correct, spans.predicted, spans.true])


def _rows_of(offsets: np.ndarray, sequences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions of some sequences, and their offsets among themselves."""
    lengths = offsets[sequences + 1] - offsets[sequences]
    own = np.concatenate([[0], np.cumsum(lengths)])
    return np.arange(own[-1]) + np.repeat(offsets[sequences] - own[:-1], lengths), own
