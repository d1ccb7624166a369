"""Conditional random fields: T 2.2.2, 2.3.1."""

from __future__ import annotations

import numpy as np

from labseq_core.features import EncodedSequences
from labseq_core.learners.linear import LinearLearner
from labseq_core.learners.options import START_STOP, Option
from labseq_core.losses import LOSSES
from labseq_core.scoring.linear import LinearScoring
from labseq_core.solvers.curvature import dot
from labseq_core.solvers.history import Recorder
from labseq_core.solvers.lbfgs import minimise

DEV_EVERY = 10  # iterations between two looks at the development data


class CRF(LinearLearner):
    """Minimises Σ_i -log p(y^i | x^i) + (l2/2) ‖w‖²; convex, so there is one optimum."""

    method_id = "crf"
    title = "CRF"
    summary = "Conditional random field: the probability of the whole labelling is made as large as possible."
    where = "thesis 2.2.2, 2.3.1"
    probabilistic = True
    facts = ("objective_", "n_iter_", "converged_", "stop_reason_")
    options = (
        Option("l2", "float", 1.0, "Strength of the squared penalty on all weights; 0 switches it off.", low=0.0, high=1e6,
               log_scale=True, where="T 2.2.2"),
        Option("max_iter", "int", 300, "At most this many iterations.", low=1, high=100_000, advanced=True),
        Option("tol", "float", 1e-3, "Stop when the gradient is this small relative to the weights.", low=0.0, high=1.0,
               log_scale=True, advanced=True),
        START_STOP,
    )  # fmt: skip

    def __init__(self, l2: float = 1.0, max_iter: int = 300, tol: float = 1e-3, start_stop: bool = False):
        self.l2 = l2
        self.max_iter = max_iter
        self.tol = tol
        self.start_stop = start_stop

    def _learn(self, encoded: EncodedSequences, labels: np.ndarray, dev, recorder: Recorder) -> None:
        scoring = LinearScoring(encoded, len(self.classes_), self.start_stop)
        loss = LOSSES["log"]

        def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
            value, statistics = loss(scoring.potentials(scoring.weights(flat)), labels)
            gradient = scoring.gradient(statistics)
            gradient += self.l2 * flat
            return value + 0.5 * self.l2 * dot(flat, flat), gradient

        def observe(iteration: int, flat: np.ndarray) -> dict:
            if dev is None or iteration % DEV_EVERY:
                return {}
            return {"dev_accuracy": self._dev_accuracy(dev, scoring.weights(flat))}

        found = minimise(
            objective,
            scoring.weights().flat,
            max_iter=self.max_iter,
            tol=self.tol,
            recorder=recorder,
            observe=observe,
        )
        self.weights_ = scoring.weights(found.point)
        self.objective_ = found.value
        self.n_iter_ = found.iterations
        self.converged_ = found.converged
        self.stop_reason_ = found.why
        if dev is not None:
            recorder.rows[-1]["dev_accuracy"] = self._dev_accuracy(dev, self.weights_)
