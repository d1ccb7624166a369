"""The supervised hidden Markov model: smoothed counts."""

from __future__ import annotations

import numpy as np

from labseq_core._checks import require
from labseq_core.chain import ChainPotentials
from labseq_core.features import EncodedSequences
from labseq_core.learners.base import SequenceLearner
from labseq_core.learners.options import Option
from labseq_core.solvers.history import Recorder

EMITTED = "word="  # the attribute that an HMM emits
SAVED = ("start_log_prob", "transition_log_prob", "emission_log_prob")


class HMM(SequenceLearner):
    """p(x, y) = p(y_1) Π_t p(y_t | y_{t-1}) Π_t p(word_t | y_t): relative frequencies, smoothed by added counts.

    Words that training never saw share one bucket. Of all attributes only the current word is used.
    """

    method_id = "hmm"
    title = "HMM"
    summary = "Hidden Markov model: counts of label pairs and of words per label; no optimisation at all."
    where = "lecture slides; thesis 4.6"
    probabilistic = True
    options = (
        Option("smoothing", "float", 0.1, "Added to every count, so that nothing unseen is impossible.",
               low=1e-9, high=1e3, log_scale=True),
    )  # fmt: skip

    def __init__(self, smoothing: float = 0.1):
        self.smoothing = smoothing

    def _learn(self, encoded: EncodedSequences, labels: np.ndarray, dev, recorder: Recorder) -> None:
        n_labels, k = len(self.classes_), self.smoothing
        self._word_rows = _word_rows(self.vocabulary_.names)
        words = _words(encoded, self._word_rows)
        n_words = int(self._word_rows.max(initial=-1)) + 1
        require(n_words > 0, "the HMM needs the current word as an attribute; use features S1, S2, S3, POS or prosody")
        bounds = encoded.offsets
        counts = np.zeros((n_words + 1, n_labels))
        np.add.at(counts, (words, labels), 1.0)
        pairs = np.zeros((n_labels, n_labels))
        arrivals = np.delete(np.arange(labels.size), bounds[:-1])
        np.add.at(pairs, (labels[arrivals - 1], labels[arrivals]), 1.0)
        first = np.bincount(labels[bounds[:-1]], minlength=n_labels).astype(np.float64)
        self.start_log_prob_ = np.log((first + k) / (first + k).sum())
        # The denominator of a transition counts what is followed by something: last tokens are not.
        self.transition_log_prob_ = np.log((pairs + k) / (pairs + k).sum(axis=1, keepdims=True))
        self.emission_log_prob_ = np.log((counts + k) / (counts + k).sum(axis=0))  # (words + unknown, S)
        joint = float(
            self.start_log_prob_ @ first
            + np.sum(self.transition_log_prob_ * pairs)
            + np.sum(self.emission_log_prob_ * counts)
        )
        recorder.record(1, -joint, 1.0)

    def _potentials_of(self, encoded: EncodedSequences) -> ChainPotentials:
        words = _words(encoded, self._word_rows)
        node = self.emission_log_prob_[words]
        stop = np.zeros(len(self.classes_))
        return ChainPotentials.trusted(self.start_log_prob_, node, self.transition_log_prob_, stop, encoded.offsets)

    def _arrays(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name + "_") for name in SAVED}

    def _restore(self, arrays: dict[str, np.ndarray]) -> None:
        for name in SAVED:
            setattr(self, name + "_", arrays[name])
        self._word_rows = _word_rows(self.vocabulary_.names)


def _word_rows(names: tuple[str, ...]) -> np.ndarray:
    """For each attribute its row of the emission table; -1 where it is not the current word."""
    is_word = np.array([name.startswith(EMITTED) for name in names], dtype=np.bool_)
    return np.where(is_word, np.cumsum(is_word) - 1, -1)


def _words(encoded: EncodedSequences, word_rows: np.ndarray) -> np.ndarray:
    """The emission row of each position; a position without a known word gets the last row, the unknown bucket."""
    positions = np.repeat(np.arange(encoded.n_positions), np.diff(encoded.indptr))
    rows = word_rows[encoded.indices]
    words = np.full(encoded.n_positions, int(word_rows.max(initial=-1)) + 1)
    words[positions[rows >= 0]] = rows[rows >= 0]
    return words
