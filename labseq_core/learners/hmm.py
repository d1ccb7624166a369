"""The supervised hidden Markov model: smoothed counts of label pairs, and of words or of all attributes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from labseq_core.archives import LoadedArrays
from labseq_core.features import EncodedSequences
from labseq_core.learners.base import EncodedPair, SequenceLearner
from labseq_core.learners.cost import counting_cost
from labseq_core.learners.options import SMOOTHING, Option
from labseq_core.progress import Recorder
from labseq_core.scoring.column_counts import ColumnModel
from labseq_core.scoring.counts import ChainCounts, WordEmissions


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

    has_weights = True
    model_: ChainCounts

    def __init__(self, emissions: str = "word", smoothing: float = 0.1):
        self.emissions = emissions
        self.smoothing = smoothing

    def _learn(
        self, encoded: EncodedSequences, labels: np.ndarray, dev: EncodedPair | None, recorder: Recorder
    ) -> None:
        n_labels, k = len(self.classes_), self.smoothing
        emissions: WordEmissions | ColumnModel
        if self.emissions == "word":
            emissions, log_emission = WordEmissions.learn(encoded, labels, n_labels, k)
        else:
            emissions = ColumnModel.learn(encoded, labels, n_labels, k)
            log_emission = float(np.take_along_axis(emissions.scores(encoded), labels[:, np.newaxis], axis=1).sum())
        bounds = encoded.offsets
        pairs = np.zeros((n_labels, n_labels))
        arrivals = np.delete(np.arange(labels.size), bounds[:-1])
        np.add.at(pairs, (labels[arrivals - 1], labels[arrivals]), 1.0)
        first = np.bincount(labels[bounds[:-1]], minlength=n_labels).astype(np.float64)
        start = np.log((first + k) / (first + k).sum())
        # The denominator of a transition counts what is followed by something: last tokens are not.
        transition = np.log((pairs + k) / (pairs + k).sum(axis=1, keepdims=True))
        self.model_ = ChainCounts(start, transition, emissions)
        recorder.record(1, -float(start @ first + np.sum(transition * pairs) + log_emission), 1.0)

    @property
    def start_log_prob_(self) -> np.ndarray:
        return self.model_.start

    @property
    def transition_log_prob_(self) -> np.ndarray:
        return self.model_.transition

    @property
    def emission_log_prob_(self) -> np.ndarray | None:
        emissions = self.model_.emissions
        return emissions.log_prob if isinstance(emissions, WordEmissions) else None

    @property
    def column_model_(self) -> ColumnModel | None:
        emissions = self.model_.emissions
        return emissions if isinstance(emissions, ColumnModel) else None

    def _restore(self, loaded: LoadedArrays) -> None:
        self.model_ = ChainCounts.restore(loaded, self.vocabulary_.names, len(self.classes_))
