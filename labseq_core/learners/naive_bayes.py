"""Naive Bayes: each token on its own, its attributes independent given the label."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from labseq_core.archives import LoadedArrays
from labseq_core.features import EncodedSequences
from labseq_core.learners.base import EncodedPair, SequenceLearner
from labseq_core.learners.cost import counting_cost
from labseq_core.learners.options import SMOOTHING
from labseq_core.progress import Recorder
from labseq_core.scoring.column_counts import ColumnModel
from labseq_core.scoring.counts import TokenCounts


class NaiveBayes(SequenceLearner):
    """p(x_t, y_t) = p(y_t) Π_columns p(value | y_t), by smoothed counts; the labels of neighbours play no part.

    `column_model` says what the columns of an observation are.

    Attributes
    ----------
    prior_log_prob_ : array of shape (labels,)
        log p(label).
    column_model_ : ColumnModel
        log p(value | label) for each column of an observation.

    Examples
    --------
    >>> from labseq_core import NaiveBayes
    >>> X = [["the", "dog", "barks"], ["a", "dog", "sleeps"], ["the", "cat", "sleeps"]]
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]]
    >>> model = NaiveBayes().fit(X, y)
    >>> model.predict([["a", "cat", "barks"]])
    [['D', 'N', 'V']]
    >>> model.prior_log_prob_.shape
    (3,)
    """

    method_id = "naive-bayes"
    title = "Naive Bayes"
    summary = "Each token on its own: counts of labels, and of attributes per label; no optimisation at all."
    where = "lecture slides, Naive Bayes"
    probabilistic = True
    options = (replace(SMOOTHING, default=0.001),)
    cost = counting_cost(5e-8)

    model_: TokenCounts

    def __init__(self, smoothing: float = 0.001):
        self.smoothing = smoothing

    def _learn(
        self, encoded: EncodedSequences, labels: np.ndarray, dev: EncodedPair | None, recorder: Recorder
    ) -> None:
        n_labels, k = len(self.classes_), self.smoothing
        counts = np.bincount(labels, minlength=n_labels) + k
        self.model_ = TokenCounts(np.log(counts / counts.sum()), ColumnModel.learn(encoded, labels, n_labels, k))
        joint = np.take_along_axis(self.model_.potentials(encoded).node, labels[:, np.newaxis], axis=1)
        recorder.record(1, -float(joint.sum()), 1.0)

    @property
    def prior_log_prob_(self) -> np.ndarray:
        return self.model_.prior

    @property
    def column_model_(self) -> ColumnModel:
        return self.model_.emissions

    def _restore(self, loaded: LoadedArrays) -> None:
        self.model_ = TokenCounts.restore(loaded, self.vocabulary_.names, len(self.classes_))
