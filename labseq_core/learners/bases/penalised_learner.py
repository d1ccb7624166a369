"""Learners that minimise a loss plus penalties on explicit weights."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import numpy as np

from labseq_core.chain import independent_variances
from labseq_core.features import EncodedSequences
from labseq_core.learners.base import DEV_EVERY
from labseq_core.learners.bases.linear_learner import LinearLearner
from labseq_core.losses import Loss
from labseq_core.progress import Recorder
from labseq_core.scoring.linear import LinearScoring
from labseq_core.solvers.smooth.lbfgs import minimise
from labseq_core.solvers.smooth.lbfgs_memory import add_multiple, dot
from labseq_core.solvers.smooth.owlqn import minimise_l1
from labseq_core.solvers.smooth.stopping import Minimum

LEAST_CURVATURE = 0.01  # assumed where there is no penalty and no doubt left


class PenalisedLearner(LinearLearner):
    """Minimises loss + (l2/2) ‖w‖² + l1 ‖w‖₁ over all weights, transitions included.

    Attributes
    ----------
    objective_ : float
        Loss plus penalties at the end of the training.
    n_iter_ : int
        Iterations done.
    converged_ : bool
        Whether the tolerance was reached.
    stop_reason_ : str
        Why the training stopped.
    n_nonzero_ : int
        Weights that are not exactly zero.
    """

    l2: float
    l1: float
    max_iter: int
    tol: float
    facts: ClassVar[dict[str, type]] = {
        "objective_": float,
        "n_iter_": int,
        "converged_": bool,
        "stop_reason_": str,
        "n_nonzero_": int,
    }

    def _loss(self, encoded: EncodedSequences) -> Loss:
        """What is minimised beside the penalties."""
        raise TypeError(f"{type(self).__name__} names no loss")

    def _learn(self, encoded: EncodedSequences, labels: np.ndarray, dev, recorder: Recorder) -> None:
        scoring, start = self._scoring(encoded), self._start().flat
        minimum = self._minimise(scoring, labels, start, dev, recorder)
        self._keep(minimum, scoring, dev, recorder)

    def _minimise(
        self, scoring: LinearScoring, labels: np.ndarray, start: np.ndarray, dev, recorder: Recorder
    ) -> Minimum:
        loss = self._loss(scoring.encoded)

        in_log_domain = 0

        def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
            nonlocal in_log_domain
            value, statistics = loss(scoring.potentials(scoring.weights(flat)), labels)
            in_log_domain = statistics.in_log_domain
            gradient = scoring.gradient(statistics)
            if self.l2:
                add_multiple(gradient, self.l2, flat, gradient)
            return value + 0.5 * self.l2 * dot(flat, flat), gradient

        def observe(iteration: int, flat: np.ndarray) -> dict:
            recorder.present = partial(self._scored, scoring.weights(flat))
            row = {
                "in_log_domain": in_log_domain
            }  # sequences of the last evaluation; the others by the scaled recursion
            if dev is not None and iteration % DEV_EVERY == 0:
                row["dev_accuracy"] = self._dev_accuracy(dev, scoring.weights(flat))
            return row

        def diagonal(flat: np.ndarray) -> np.ndarray:
            """That of the Hessian of the log loss if the positions were independent: Σ_t x_t[a]² p_t(s) (1 - p_t(s))."""
            variances = independent_variances(scoring.potentials(scoring.weights(flat)))
            return scoring.diagonal(variances) + max(self.l2, LEAST_CURVATURE)

        rules = {"max_iter": self.max_iter, "tol": self.tol, "recorder": recorder, "observe": observe}
        if self.l1:
            return minimise_l1(objective, start, self.l1, **rules)
        return minimise(objective, start, **rules, diagonal=diagonal if loss.curves_like_log else None)

    def _keep(self, minimum: Minimum, scoring: LinearScoring, dev, recorder: Recorder) -> None:
        self.model_ = self._model_of(scoring.weights(minimum.point))
        self.objective_ = minimum.value
        self.n_iter_ = minimum.iterations
        self.converged_ = minimum.converged
        self.stop_reason_ = minimum.why
        self.n_nonzero_ = int(np.count_nonzero(minimum.point))
        if dev is not None:
            recorder.rows[-1]["dev_accuracy"] = self._dev_accuracy(dev, self.weights_)
