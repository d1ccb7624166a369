"""Flat multinomial logistic regression on the window: what a CRF is without transitions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from labseq_core.features import EncodedSequences
from labseq_core.learners.base import EncodedPair
from labseq_core.learners.bases.penalised_learner import PenalisedLearner
from labseq_core.learners.cost import gradient_cost
from labseq_core.learners.options import L1, L2, MAX_ITER, TOL
from labseq_core.losses import LOG, Loss
from labseq_core.progress import Recorder


class MaxEnt(PenalisedLearner):
    """Minimises Σ_t -log p(y_t | x_t) + (l2/2) ‖w‖² + l1 ‖w‖₁; every token by itself.

    Examples
    --------
    >>> from labseq_core import MaxEnt
    >>> X = [["the", "dog", "barks"], ["a", "dog", "sleeps"], ["the", "cat", "sleeps"]]
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]]
    >>> model = MaxEnt(l2=0.1).fit(X, y)
    >>> model.predict([["a", "cat", "barks"]])
    [['D', 'N', 'V']]
    >>> bool(model.weights_.edge.any())  # no weights of label pairs
    False
    """

    method_id = "maxent"
    title = "Maximum entropy"
    summary = "Logistic regression token by token: sees the window of attributes, but no neighbouring labels."
    where = "lecture slides, flat classification with a sliding window"
    probabilistic = True
    has_pairs = False
    options = (L2, L1, MAX_ITER, TOL)
    cost = gradient_cost(80, 3e-9)

    def __init__(self, l2: float = 1.0, l1: float = 0.0, max_iter: int = 300, tol: float = 1e-3):
        self.l2 = l2
        self.l1 = l1
        self.max_iter = max_iter
        self.tol = tol

    def _loss(self, encoded: EncodedSequences) -> Loss:
        return LOG

    def _learn(
        self, encoded: EncodedSequences, labels: np.ndarray, dev: EncodedPair | None, recorder: Recorder
    ) -> None:
        # Each token is a sequence of its own: no pair is ever seen, so transition weights stay exactly zero.
        tokens = replace(encoded, offsets=np.arange(encoded.n_positions + 1))
        super()._learn(tokens, labels, dev, recorder)
