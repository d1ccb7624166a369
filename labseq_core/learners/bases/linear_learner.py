"""Learners with explicit weights: how they score, start from another model, and what they save."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from labseq_core.archives import LoadedArrays
from labseq_core.chain import ChainPotentials, viterbi
from labseq_core.chain.constraints import constraints_for
from labseq_core.checks import require
from labseq_core.data.alphabet import Alphabet
from labseq_core.features import EncodedSequences
from labseq_core.learners.base import EncodedPair, Input, Labelled, Labels, SequenceLearner
from labseq_core.progress import Callback
from labseq_core.scoring.linear import LinearModel, LinearScoring, LinearWeights


class LinearLearner(SequenceLearner):
    """`weights_` holds observation weights (attributes, S), transition weights (S, S), start and stop weights (S,).

    Attributes
    ----------
    weights_ : LinearWeights
        The weights of attributes, transitions, first and last labels: `node` (attributes, labels), `edge`
        (from, to), `start`, `stop`.
    """

    start_stop: bool = False
    constraints: str | None = None
    has_weights = True
    has_pairs: ClassVar[bool] = True  # False: looks at single tokens
    model_: LinearModel

    @property
    def weights_(self) -> LinearWeights:
        return self.model_.weights

    def fit(
        self,
        X: Input,
        y: Labels | None = None,
        *,
        dev: Labelled | None = None,
        callback: Callback | None = None,
        init: LinearLearner | None = None,
    ) -> Self:
        """As in `SequenceLearner`; init: a fitted model whose weights for the same attributes and labels are the start."""
        fits = init is None or isinstance(getattr(init, "model_", None), LinearModel)
        require(fits, "init must be a fitted model with weights, or None")
        self._init = init
        try:
            return super().fit(X, y, dev=dev, callback=callback)
        finally:
            del self._init

    def _scoring(self, encoded: EncodedSequences) -> LinearScoring:
        constraints = constraints_for(self.constraints, self.classes_)
        return LinearScoring(encoded, len(self.classes_), self.start_stop, constraints)

    def _start(self) -> LinearWeights:
        """Zeros, or the weights of `init` where it knows the attribute and the label."""
        weights = LinearWeights.zeros(len(self.vocabulary_), len(self.classes_), self.start_stop)
        if self._init is not None:
            labels = Alphabet(self._init.classes_).encode(self.classes_, unknown=-1)
            attributes = self._init.vocabulary_.encode(self.vocabulary_.names, unknown=-1)
            weights.take_over(self._init.weights_, attributes, labels, self.has_pairs)
        return weights

    def _model_of(self, weights: LinearWeights) -> LinearModel:
        return LinearModel(weights, constraints_for(self.constraints, self.classes_), self.has_pairs)

    def _scored(self, weights: LinearWeights, encoded: EncodedSequences) -> ChainPotentials:
        return self._model_of(weights).potentials(encoded)

    def _dev_accuracy(self, dev: EncodedPair, weights: LinearWeights) -> float:
        """Token accuracy of given weights on the development data."""
        encoded, labels = dev
        return float(np.mean(viterbi(self._scored(weights, encoded)).labels == labels))

    def _restore(self, loaded: LoadedArrays) -> None:
        constraints = constraints_for(self.constraints, self.classes_)
        sizes = len(self.vocabulary_), len(self.classes_), self.start_stop
        self.model_ = LinearModel.restore(loaded, *sizes, constraints=constraints, has_pairs=self.has_pairs)
