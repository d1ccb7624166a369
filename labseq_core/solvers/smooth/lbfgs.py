"""L-BFGS with a line search for the strong Wolfe conditions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from labseq_core.progress import Recorder
from labseq_core.solvers.smooth.lbfgs_memory import CurvatureMemory, add_multiple, dot
from labseq_core.solvers.smooth.stopping import (
    NO_DESCENT,
    ROUNDING,
    SMALL_GRADIENT,
    Descent,
    Function,
    Measure,
    Minimum,
    Observe,
    nothing_more,
)

SUFFICIENT_DECREASE, CURVATURE = 1e-4, 0.9
MAX_LINE_SEARCH = 30
NEW_DIAGONAL_EVERY = 20  # iterations


class Euclidean:
    """The space in which a function is minimised, if nothing else is said: plain vectors, plain inner products."""

    def dot(self, gradient: np.ndarray, direction: np.ndarray) -> float:
        return dot(gradient, direction)

    def norm(self, vector: np.ndarray) -> float:
        return math.sqrt(max(0.0, self.dot(vector, vector)))

    def complete(self, gradient: np.ndarray) -> None:
        """What a gradient lacks until its point has been accepted is filled in: here nothing."""

    def memory(self, size: int, n: int) -> CurvatureMemory:
        return CurvatureMemory(size, n)


def minimise(
    function: Function,
    start: np.ndarray,
    *,
    max_iter: int,
    tol: float,
    recorder: Recorder,
    memory: int = 10,
    observe: Observe = nothing_more,
    diagonal: Callable[[np.ndarray], np.ndarray] | None = None,
    space: Euclidean | None = None,
    measure: Measure | None = None,
    goal: str = SMALL_GRADIENT,
) -> Minimum:
    """Minimise a smooth function that gives (value, gradient). `observe(iteration, point)` adds to the history.

    `diagonal(point)`: a positive estimate h of the diagonal of the Hessian. The inverse Hessian is then built up from
    h^{-1/2} instead of the identity: measured, h^{-1} trusts the estimate too far where attributes go together.

    Stops when measure(value, ‖gradient‖, point) <= tol, by default ‖gradient‖ / max(1, ‖point‖); `goal` says so in words.
    Also after max_iter iterations, when the callback says so, or when rounding leaves no descent. The best point so far is
    returned in each case. `space`: whose inner product gradients, lengths and curvature are in.
    """
    space = space or Euclidean()
    measure = measure or (lambda value, norm, point: norm / max(1.0, space.norm(point)))
    point = np.array(start, dtype=np.float64)
    value, gradient = function(point)
    space.complete(gradient)
    pairs = space.memory(memory, point.size)
    here = Descent(max_iter=max_iter, tol=tol, recorder=recorder, measure=measure, goal=goal, observe=observe)
    here.begin(point, value, gradient, space.norm(gradient))
    while here.goes_on:
        if diagonal is not None and here.iteration % NEW_DIAGONAL_EVERY == 0:
            pairs.rescale(np.sqrt(diagonal(here.point)))
        direction, slope = pairs.direction(here.gradient)
        if slope >= 0.0:  # rounding has spoiled the pairs
            pairs.clear()
            direction, slope = pairs.direction(here.gradient)
        first_step = 1.0 if pairs.order else 1.0 / max(1.0, space.norm(direction))
        reached = line_search(function, here, slope, direction, first_step, space)
        if not reached.is_progress(here):
            if pairs.order:  # try once more along the gradient itself
                pairs.clear()
                continue
            return here.end(NO_DESCENT)
        pairs.add(here.point, reached.point, here.gradient, reached.gradient)
        here.move(reached.point, reached.value, reached.gradient, reached.norm)
    return here.end()


@dataclass(frozen=True)
class Step:
    """The end of a line search; complete, unless no step was found."""

    step: float  # 0: none was found
    point: np.ndarray
    value: float
    gradient: np.ndarray
    norm: float  # of the gradient

    def is_progress(self, before: Descent) -> bool:
        return self.step > 0.0 and (self.value < before.value or self.norm < before.norm)


def line_search(
    function: Function, here: Descent, slope: float, direction: np.ndarray, step: float, space: Euclidean
) -> Step:
    """A step with sufficient decrease and |slope| <= CURVATURE·|first slope|, by bracketing and cubic interpolation.

    low is the best end of the bracket so far, high the other end (None while the minimum has not been passed).
    """
    low, high = (0.0, here.value, slope), None
    narrowest = 1e-14 * step  # the step is as small as the direction is long: no absolute number would do
    best = 0.0, here.point, here.value, here.gradient
    for _ in range(MAX_LINE_SEARCH):
        point = add_multiple(here.point, step, direction)
        value, gradient = function(point)
        here.evaluations += 1
        new_slope = space.dot(gradient, direction) if np.isfinite(value) else np.inf
        decreased = value <= here.value + SUFFICIENT_DECREASE * step * slope
        if not decreased and value <= here.value + ROUNDING * abs(here.value):
            # The value can no longer tell, but the slope can (Hager and Zhang's approximate condition).
            decreased = new_slope <= (2.0 * SUFFICIENT_DECREASE - 1.0) * slope
        if decreased and abs(new_slope) <= -CURVATURE * slope:
            best = step, point, value, gradient
            break
        if not decreased or value > low[1]:
            high = (step, value, new_slope)
        else:
            best = step, point, value, gradient
            if new_slope * ((high[0] if high else np.inf) - low[0]) >= 0:
                high = low
            low = (step, value, new_slope)
        if high is None:
            step = 2.0 * step
        else:
            step = _between(low, high)
            if abs(high[0] - low[0]) <= max(narrowest, 1e-14 * abs(low[0])):
                break
    if best[0] == 0.0:
        return Step(*best, here.norm)
    space.complete(best[3])
    return Step(*best, space.norm(best[3]))


def _between(low: tuple[float, float, float], high: tuple[float, float, float]) -> float:
    """The minimum of the cubic through both ends, kept away from them; the middle where it does not exist."""
    (a, value_a, slope_a), (b, value_b, slope_b) = low, high
    middle, width = 0.5 * (a + b), abs(b - a)
    if not np.isfinite(value_b) or not np.isfinite(slope_b):
        return a + 0.1 * (b - a)
    first = slope_a + slope_b - 3.0 * (value_a - value_b) / (a - b)
    inside = first * first - slope_a * slope_b
    if not 0.0 <= inside < np.inf:
        return middle
    second = np.copysign(np.sqrt(inside), b - a)
    denominator = slope_b - slope_a + 2.0 * second
    if denominator == 0.0:
        return middle
    guess = b - (b - a) * (slope_b + second - first) / denominator
    return float(np.clip(guess, middle - 0.4 * width, middle + 0.4 * width))
