"""What iterative minimisers share: where they stand, what they record, when and why they end."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from labseq_core.progress import STOPPED, Recorder

Function = Callable[[np.ndarray], tuple[float, np.ndarray]]  # a point -> value, gradient
Measure = Callable[[float, float, np.ndarray], float]  # value, ‖gradient‖, point -> what has to become small
Observe = Callable[[int, np.ndarray], dict]  # iteration, point -> more columns of the history
SMALL_GRADIENT = "the gradient is small enough"
NO_DESCENT = "rounding errors allow no further descent"
ITERATION_LIMIT = "the iteration limit was reached"
ROUNDING = 1e-13  # relative error of a sum over all sequences


def nothing_more(iteration: int, point: np.ndarray) -> dict:
    return {}


@dataclass(frozen=True)
class Minimum:
    point: np.ndarray
    value: float
    gradient_norm: float
    iterations: int
    evaluations: int
    converged: bool
    why: str


class Descent:
    """A point with its value and gradient; a row of the history for the start and for each move.

    `goes_on` until measure(value, ‖gradient‖, point) <= tol, which `goal` says in words, or after max_iter moves, or when
    the callback says so.
    """

    def __init__(self, *, max_iter: int, tol: float, recorder: Recorder, measure: Measure, goal: str, observe: Observe):
        self._max_iter, self._tol, self._recorder = max_iter, tol, recorder
        self._measure, self._goal, self._observe = measure, goal, observe
        self.iteration, self.evaluations = 0, 0

    def begin(self, point: np.ndarray, value: float, gradient: np.ndarray, norm: float, **more) -> None:
        """`more`: columns of the history."""
        self.evaluations = 1
        self._stand(point, value, gradient, norm)
        self._first = self.ratio
        self._record(0.0, more)

    def move(self, point: np.ndarray, value: float, gradient: np.ndarray, norm: float, **more) -> None:
        self.iteration += 1
        self._stand(point, value, gradient, norm)
        self._record(self.share_done, more)

    def _stand(self, point: np.ndarray, value: float, gradient: np.ndarray, norm: float) -> None:
        self.point, self.value, self.gradient, self.norm = point, value, gradient, norm
        self.ratio = self._measure(value, norm, point)

    def _record(self, done: float, more: dict) -> None:
        row = {"gradient_norm": self.norm, "evaluations": self.evaluations, **more}
        self._recorder.record(self.iteration, self.value, done, **row, **self._observe(self.iteration, self.point))

    @property
    def goes_on(self) -> bool:
        return self.ratio > self._tol and self.iteration < self._max_iter and not self._recorder.stopped

    @property
    def share_done(self) -> float:
        return max(self.iteration / self._max_iter, share_of_decades(self._first, self.ratio, self._tol))

    def tell(self) -> bool:
        """The callback hears between moves that the work goes on; False: it asks to stop."""
        return self._recorder.tell(self.iteration, self.value, self.share_done)

    def end(self, why: str = ITERATION_LIMIT) -> Minimum:
        """`why` holds if the goal was not reached and nobody asked to stop."""
        converged = self.ratio <= self._tol
        if self._recorder.stopped:
            why = STOPPED
        elif converged:
            why = self._goal
        return Minimum(self.point, self.value, self.norm, self.iteration, self.evaluations, converged, why)


def share_of_decades(first: float, now: float, goal: float) -> float:
    """How far a quantity has fallen from `first` to `goal`, on a log scale: a guess of the work done."""
    if now <= goal:
        return 1.0
    if now >= first or goal <= 0.0:
        return 0.0
    return math.log(first / now) / math.log(first / goal)
