"""The supervised hidden Markov model: smoothed counts of label pairs, and of words or of all attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from labseq_core.chain import ChainPotentials
from labseq_core.checks import require
from labseq_core.features import EncodedSequences
from labseq_core.learners.base import EncodedPair, SequenceLearner
from labseq_core.learners.cost import counting_cost
from labseq_core.learners.options import SMOOTHING, Option
from labseq_core.progress import Recorder
from labseq_core.scoring.column_counts import ColumnModel

EMITTED = "word="  # the attribute that an HMM emits


class HMM(SequenceLearner):
    """p(x, y) = p(y_1) Π_{t>1} p(y_t | y_{t-1}) Π_t p(x_t | y_t): relative frequencies, smoothed by added counts.

    emissions="word": x_t is the current word; words that training never saw share one bucket.
    emissions="attributes": x_t is all attributes, overlapping or not, taken as independent given the label (`column_model`).

    Overlapping attributes say the same thing several times ("cap_ini", "first=upper"), and each time counts as new
    evidence, so more of them need not help: on conll2002-es the F1 of S3 is that of the word alone. k is added to each of
    thousands of words in each column, which outweighs the counts of rare labels: take 0.001 or less. The unknown bucket has
    no counts of its own, as in the lecture slides' formula, so an unknown word speaks for rare labels.

    Attributes
    ----------
    start_log_prob_ : array of shape (labels,)
        log p(first label).
    transition_log_prob_ : array of shape (labels, labels)
        log p(label | previous label), rows are the previous label.
    emission_log_prob_ : array of shape (words + 1, labels) or None
        log p(word | label), the last row for unknown words; None with emissions="attributes".
    column_model_ : ColumnModel or None
        log p(value | label) of all attributes; None with emissions="word".

    Examples
    --------
    >>> from labseq_core import HMM
    >>> X = [["the", "dog", "barks"], ["a", "dog", "sleeps"], ["the", "cat", "sleeps"]]
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]]
    >>> model = HMM().fit(X, y)
    >>> model.predict([["a", "cat", "barks"]])
    [['D', 'N', 'V']]
    >>> model.emission_log_prob_.shape  # six words and the unknown one, three labels
    (7, 3)
    """

    method_id = "hmm"
    title = "HMM"
    summary = "Hidden Markov model: counts of label pairs and of words per label; no optimisation at all."
    where = "lecture slides; thesis 4.6"
    probabilistic = True
    cost = counting_cost(2e-8)
    options = (
        Option("emissions", "choice", "word",
               "What a label emits: the current word alone, or all attributes, each column independent of the others.",
               choices=("word", "attributes"), where="T Table 4.1"),
        replace(SMOOTHING, help="Added to every count, so that nothing unseen is impossible. With emissions=attributes take "
                "0.001 or less: it is added in each of many columns."),
    )  # fmt: skip

    emission_log_prob_: np.ndarray | None  # (words + unknown, S)
    column_model_: ColumnModel | None

    def __init__(self, emissions: str = "word", smoothing: float = 0.1):
        self.emissions = emissions
        self.smoothing = smoothing

    def _learn(
        self, encoded: EncodedSequences, labels: np.ndarray, dev: EncodedPair | None, recorder: Recorder
    ) -> None:
        n_labels, k = len(self.classes_), self.smoothing
        if self.emissions == "word":
            self.column_model_, log_emission = None, self._learn_words(encoded, labels)
        else:
            self.emission_log_prob_, self.column_model_ = None, ColumnModel.learn(encoded, labels, n_labels, k)
            log_emission = float(np.take_along_axis(self._node(encoded), labels[:, np.newaxis], axis=1).sum())
        bounds = encoded.offsets
        pairs = np.zeros((n_labels, n_labels))
        arrivals = np.delete(np.arange(labels.size), bounds[:-1])
        np.add.at(pairs, (labels[arrivals - 1], labels[arrivals]), 1.0)
        first = np.bincount(labels[bounds[:-1]], minlength=n_labels).astype(np.float64)
        self.start_log_prob_ = np.log((first + k) / (first + k).sum())
        # The denominator of a transition counts what is followed by something: last tokens are not.
        self.transition_log_prob_ = np.log((pairs + k) / (pairs + k).sum(axis=1, keepdims=True))
        joint = float(self.start_log_prob_ @ first + np.sum(self.transition_log_prob_ * pairs) + log_emission)
        recorder.record(1, -joint, 1.0)

    def _learn_words(self, encoded: EncodedSequences, labels: np.ndarray) -> float:
        """Count words; the log probability of those of the training data, given their labels."""
        self._word_rows = _word_rows(self.vocabulary_.names)
        n_words = int(self._word_rows.max(initial=-1)) + 1
        fix = "use features S1, S2, S3, POS or prosody, or emissions='attributes'"
        require(n_words > 0, f"the HMM needs the current word as an attribute; {fix}")
        counts = np.zeros((n_words + 1, len(self.classes_)))
        np.add.at(counts, (_words(encoded, self._word_rows), labels), 1.0)
        smoothed = counts + self.smoothing
        self.emission_log_prob_ = np.log(smoothed / smoothed.sum(axis=0))
        return np.sum(self.emission_log_prob_ * counts)

    def _node(self, encoded: EncodedSequences) -> np.ndarray:
        if self.column_model_ is not None:
            return self.column_model_.scores(encoded)
        assert self.emission_log_prob_ is not None, "a fitted HMM has either of the two"
        return self.emission_log_prob_[_words(encoded, self._word_rows)]

    def _potentials_of(self, encoded: EncodedSequences) -> ChainPotentials:
        stop = np.zeros(len(self.classes_))
        return ChainPotentials.trusted(
            self.start_log_prob_, self._node(encoded), self.transition_log_prob_, stop, encoded.offsets
        )

    def _arrays(self) -> dict[str, np.ndarray]:
        words = {"emission_log_prob": self.emission_log_prob_}
        return {
            "start_log_prob": self.start_log_prob_,
            "transition_log_prob": self.transition_log_prob_,
            **(words if self.column_model_ is None else self.column_model_.arrays()),
        }

    def _restore(self, arrays: dict[str, np.ndarray]) -> None:
        names = self.vocabulary_.names
        self.start_log_prob_, self.transition_log_prob_ = arrays["start_log_prob"], arrays["transition_log_prob"]
        self.emission_log_prob_ = arrays.get("emission_log_prob")
        self.column_model_ = None if self.emission_log_prob_ is not None else ColumnModel.restore(arrays, names)
        self._word_rows = _word_rows(names)


def _word_rows(names: Sequence[str]) -> np.ndarray:
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
