"""Conditional random fields and their kin: one model, several losses. T 2.2, 2.3, 3.2; B 4, 6."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from labseq_core.checks import require
from labseq_core.features import EncodedSequences
from labseq_core.learners.base import EncodedPair
from labseq_core.learners.bases.penalised_learner import PenalisedLearner
from labseq_core.learners.cost import DataSize, Options, gradient_cost
from labseq_core.learners.options import CONSTRAINTS, L1, L2, MAX_ITER, SEED, START_STOP, TOL, Option
from labseq_core.losses import LOG, LOSSES, Loss
from labseq_core.progress import Recorder

NOISE = 0.1  # standard deviation of a perturbation, relative to that of the weights
WORTHWHILE = 1e-4  # relative gain for which a restart is followed by another
LARGEST = 1e140  # a loss to start from: a solver squares its gradient
_LOSSES_HELP = "; ".join(f"{loss.name}: {loss.formula}{', convex' * loss.convex}" for loss in LOSSES.values())


def _cost(options: Options, size: DataSize) -> tuple[float, float]:
    loss = LOSSES[options["loss"]]
    return gradient_cost(loss.iterations, loss.seconds)(options, size)


class CRF(PenalisedLearner):
    """Minimises a loss summed over sequences + (l2/2) ‖w‖² + l1 ‖w‖₁.

    A loss that is not convex has several minima: with restarts > 0 the optimum is perturbed and improved again until that
    gains nothing.

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

    method_id, title, summary, where = LOG.method_id, LOG.title, LOG.summary, LOG.where
    probabilistic = True
    cost = _cost
    options = (
        Option("loss", "choice", LOG.name, f"What is summed over sequences. {_LOSSES_HELP}.", choices=LOSSES,
               where="T 2.2.2, 2.2.3, 3.2; B 24"),
        L2,
        L1,
        Option("length_decay", "float", 1.0, "π of the exp loss: a sequence of length l counts π^l times. 1 over the number of "
               "labels keeps long sequences from owning all weight.", low=1e-6, high=1.0, where="T 3.12"),
        CONSTRAINTS,
        Option("restarts", "int", 0, "Losses that are not convex: at most so many restarts from a perturbed optimum.", low=0,
               high=1000, where="T 2.3.2", advanced=True),
        MAX_ITER,
        TOL,
        replace(SEED, help="Losses that are not convex: seed of the perturbations; the same seed gives the same model."),
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
        loss = LOSSES[self.loss]
        if loss.has_length_decay:
            return loss.weighted(np.log(self.length_decay) * np.diff(encoded.offsets))
        return loss

    @property
    def decoding(self) -> str:
        return "posterior" if LOSSES[self.loss].pointwise else "viterbi"

    def _learn(
        self, encoded: EncodedSequences, labels: np.ndarray, dev: EncodedPair | None, recorder: Recorder
    ) -> None:
        scoring, start, loss = self._scoring(encoded), self._start(), self._loss(encoded)
        if loss.may_overflow:
            value, _ = loss(scoring.potentials(start), labels)
            require(value < LARGEST, self._way_out(encoded))
        parts = 1 + (0 if loss.convex else self.restarts)
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
        longest = int(np.diff(encoded.offsets).max())
        problem = f"{problem}: the longest sequence has {longest} tokens"
        if LOSSES[self.loss].has_length_decay:
            return f"{problem}; set length_decay to about {1.0 / len(self.classes_):.2g}"
        return f"{problem}; leave out the longest, or choose another loss"
