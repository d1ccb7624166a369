"""Boosting token by token, for comparison: T 3.1, 3.5, 3.6."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from labseq_core.data.alphabet import Alphabet
from labseq_core.features import EncodedSequences
from labseq_core.learners.boosting.base import BOUND, PATIENCE, ROUNDS, SMOOTHING, BoostingLearner
from labseq_core.learners.cost import rounds_cost


class TokenBoostingLearner(BoostingLearner):
    """What methods share that boost token by token: options, cost, constructor."""

    options = (BOUND, ROUNDS, SMOOTHING, PATIENCE)
    cost = rounds_cost(3e-10)

    def __init__(self, bound: str = "exact", rounds: int = 500, smoothing: float = 1e-4, patience: int = 100):
        self.bound = bound
        self.rounds = rounds
        self.smoothing = smoothing
        self.patience = patience


class AdaBoostMR(TokenBoostingLearner):
    """Boosting that ignores the sequence: every token is a sequence of its own, so there are no transitions.

    Examples
    --------
    >>> from labseq_core import AdaBoostMR
    >>> X = [["the", "dog", "barks"], ["a", "dog", "sleeps"], ["the", "cat", "sleeps"]]
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]]
    >>> model = AdaBoostMR(rounds=20).fit(X, y)
    >>> model.predict([["a", "cat", "barks"]])
    [['D', 'N', 'V']]
    >>> model.n_rounds_
    20
    >>> list(model.rounds_.columns[:3])
    ['round', 'feature', 'kind']
    """

    method_id = "adaboost-mr"
    title = "AdaBoost.MR"
    summary = "Boosting token by token: sees the window of attributes, but no neighbouring labels."
    where = "thesis 3.1, 3.6"
    probabilistic = True
    has_pairs = False

    def _training_view(self, encoded: EncodedSequences, labels: np.ndarray) -> EncodedSequences:
        return replace(encoded, offsets=np.arange(encoded.n_positions + 1), template=None)


class ViterbiBoost(TokenBoostingLearner):
    """AdaBoost.MR with one attribute more, the true previous label; in use the best labelling is found by Viterbi's
    algorithm, so that the weights of that attribute are transitions.

    Examples
    --------
    >>> from labseq_core import ViterbiBoost
    >>> X = [["the", "dog", "barks"], ["a", "dog", "sleeps"], ["the", "cat", "sleeps"]]
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]]
    >>> model = ViterbiBoost(rounds=20).fit(X, y)
    >>> model.predict([["a", "cat", "barks"]])
    [['D', 'N', 'V']]
    >>> model.n_rounds_
    20
    >>> list(model.rounds_.columns[:3])
    ['round', 'feature', 'kind']
    """

    method_id = "viterbi-boost"
    title = "Viterbi boosting"
    summary = "Boosting token by token with the true previous label at hand in training, and Viterbi decoding in use."
    where = "thesis 3.5, 3.6"

    def _training_view(self, encoded: EncodedSequences, labels: np.ndarray) -> EncodedSequences:
        """Attribute number A + σ says that the label before is σ: as flat weights these follow as the edge matrix does."""
        n_attributes = encoded.n_attributes
        arrivals = np.delete(np.arange(encoded.n_positions), encoded.offsets[:-1])
        places = encoded.indptr[arrivals + 1]
        indices = np.insert(encoded.indices, places, (n_attributes + labels[arrivals - 1]).astype(np.int32))
        values = np.insert(encoded.values, places, 1.0) if encoded.values.size else encoded.values
        more = np.zeros(encoded.n_positions + 1, dtype=np.int64)
        more[arrivals + 1] = 1
        names = (*encoded.vocabulary.names, *_free_names(self.classes_, encoded.vocabulary))
        offsets = np.arange(encoded.n_positions + 1)
        return EncodedSequences(encoded.indptr + np.cumsum(more), indices, values, offsets, Alphabet(names))


def _free_names(classes: list[str], vocabulary: Alphabet) -> list[str]:
    """Names for the attributes "previous label" that no attribute has yet."""
    mark = "previous label"
    while any(f"{mark} {label}" in vocabulary for label in classes):
        mark += "'"
    return [f"{mark} {label}" for label in classes]
