"""Conditional random fields and their kin: one model, four losses. T 2.2, 2.3, 3.2; B 4, 6."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from labseq_core.checks import require
from labseq_core.features import EncodedSequences
from labseq_core.learners.base import EncodedPair
from labseq_core.learners.options import CONSTRAINTS, L1, L2, MAX_ITER, SEED, START_STOP, TOL, Option
from labseq_core.learners.penalised import Loss, PenalisedLearner
from labseq_core.losses import LOSSES, exponential_loss
from labseq_core.progress import Recorder

NOISE = 0.1  # standard deviation of a perturbation, relative to that of the weights
WORTHWHILE = 1e-4  # relative gain for which a restart is followed by another
LARGEST = 1e140  # a loss to start from: a solver squares its gradient


class CRF(PenalisedLearner):
    """Minimises a loss summed over sequences + (l2/2) ‖w‖² + l1 ‖w‖₁.

    loss "log": Σ_i -log p(y^i | x^i), convex.   "exp": Σ_i π^{l_i} (1/p(y^i | x^i) - 1), π = length_decay, convex.
    "marginal": Σ_i (1/l_i) Σ_t -log p(y_t^i | x^i).   "marginal-exp": Σ_i Σ_t 1/p(y_t^i | x^i).   The last two are not
    convex: with restarts > 0 the optimum is perturbed and improved again until that gains nothing.

    Examples
    --------
    >>> from labseq_core import CRF
    >>> X = [["the", "dog", "barks"], ["a", "dog", "sleeps"], ["the", "cat", "sleeps"]]
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]]
    >>> model = CRF(l2=0.1).fit(X, y)
    >>> model.predict([["a", "cat", "barks"]])
    [['D', 'N', 'V']]
    >>> model.marginals([["a", "cat", "barks"]])[0].shape  # tokens, labels
    (3, 3)
    >>> model.converged_
    True
    """

    method_id = "crf"
    title = "CRF"
    summary = "Conditional random field: the probability of the whole labelling is made as large as possible."
    where = "thesis 2.2.2, 2.3.1"
    probabilistic = True
    options = (
        Option("loss", "choice", "log", "log: whole sequence; exp: bound on wrong labellings; marginal(-exp): token by token.",
               choices=tuple(LOSSES), where="T 2.2.2, 2.2.3, 3.2; B 24"),
        L2,
        L1,
        Option("length_decay", "float", 1.0, "π of the exp loss: a sequence of length l counts π^l times. 1 over the number of "
               "labels keeps long sequences from owning all weight.", low=1e-6, high=1.0, where="T 3.12"),
        CONSTRAINTS,
        Option("restarts", "int", 0, "Marginal losses: at most so many restarts from a perturbed optimum.", low=0, high=1000,
               where="T 2.3.2", advanced=True),
        MAX_ITER,
        TOL,
        replace(SEED, help="Marginal losses: seed of the perturbations; the same seed gives the same model."),
        START_STOP,
    )  # fmt: skip

    def __init__(
        self,
        loss: str = "log",
        l2: float = 1.0,
        l1: float = 0.0,
        length_decay: float = 1.0,
        constraints: str | None = None,
        restarts: int = 0,
        max_iter: int = 300,
        tol: float = 1e-3,
        seed: int = 0,
        start_stop: bool = False,
    ):
        self.loss = loss
        self.l2 = l2
        self.l1 = l1
        self.length_decay = length_decay
        self.constraints = constraints
        self.restarts = restarts
        self.max_iter = max_iter
        self.tol = tol
        self.seed = seed
        self.start_stop = start_stop

    def _loss(self, encoded: EncodedSequences) -> Loss:
        if self.loss == "exp":
            return partial(exponential_loss, log_weights=np.log(self.length_decay) * np.diff(encoded.offsets))
        return LOSSES[self.loss]

    def _learn(
        self, encoded: EncodedSequences, labels: np.ndarray, dev: EncodedPair | None, recorder: Recorder
    ) -> None:
        scoring, start = self._scoring(encoded), self._start()
        if self.loss != "log":
            value, _ = self._loss(encoded)(scoring.potentials(start), labels)
            require(value < LARGEST, self._way_out(encoded))
        parts = 1 + (self.restarts if self.loss.startswith("marginal") else 0)
        recorder.part = 0, parts
        best = self._minimise(scoring, labels, start.flat, dev, recorder)
        random = np.random.default_rng(self.seed)
        for number in range(1, parts):
            if recorder.stopped:
                break
            recorder.part = number, parts
            noise = random.normal(size=best.point.size) * NOISE * float(np.std(best.point))
            again = self._minimise(scoring, labels, best.point + noise, dev, recorder)
            gain = best.value - again.value
            best = again if gain > 0.0 else best
            if gain <= WORTHWHILE * abs(best.value):
                break
        self._keep(best, scoring, dev, recorder)

    def _way_out(self, encoded: EncodedSequences) -> str:
        """What to do about a loss beyond all bounds, as 1/p of a very long sequence."""
        problem = f"the {self.loss} loss is too large to start with"
        if self._init is not None:
            return f"{problem}, with the weights of init; leave init out"
        decay, longest = 1.0 / len(self.classes_), int(np.diff(encoded.offsets).max())
        return f"{problem}: the longest sequence has {longest} tokens; set length_decay to about {decay:.2g}"
