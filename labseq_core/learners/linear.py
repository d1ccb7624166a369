"""Learners with explicit weights: how they score and what they save."""

from __future__ import annotations

import numpy as np

from labseq_core.chain import ChainPotentials, viterbi
from labseq_core.features import EncodedSequences
from labseq_core.learners.base import SequenceLearner
from labseq_core.scoring.linear import LinearScoring, LinearWeights


class LinearLearner(SequenceLearner):
    """`weights_` holds observation weights (attributes, S), transition weights (S, S), start and stop weights (S,)."""

    start_stop: bool
    weights_: LinearWeights

    def _potentials_of(self, encoded: EncodedSequences) -> ChainPotentials:
        return LinearScoring(encoded, len(self.classes_), self.start_stop).potentials(self.weights_)

    def _dev_accuracy(self, dev, weights: LinearWeights) -> float:
        """Token accuracy of given weights on the development data."""
        encoded, labels = dev
        scoring = LinearScoring(encoded, weights.edge.shape[0], self.start_stop)
        return float(np.mean(viterbi(scoring.potentials(weights)).labels == labels))

    def _arrays(self) -> dict[str, np.ndarray]:
        return {"weights": self.weights_.flat}

    def _restore(self, arrays: dict[str, np.ndarray]) -> None:
        flat = arrays["weights"]
        self.weights_ = LinearWeights.of(flat, len(self.vocabulary_), len(self.classes_), self.start_stop)
