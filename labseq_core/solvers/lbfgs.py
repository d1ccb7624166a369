"""L-BFGS with a line search for the strong Wolfe conditions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from labseq_core.solvers.curvature import CurvatureMemory, add_multiple, dot
from labseq_core.solvers.history import Recorder

SUFFICIENT_DECREASE, CURVATURE = 1e-4, 0.9
MAX_LINE_SEARCH = 30
ROUNDING = 1e-13  # relative error of a sum over all sequences
NEW_DIAGONAL_EVERY = 20  # iterations
Function = Callable[[np.ndarray], tuple[float, np.ndarray]]
Measure = Callable[[float, float, np.ndarray], float]


@dataclass(frozen=True)
class Minimum:
    point: np.ndarray
    value: float
    gradient_norm: float
    iterations: int
    evaluations: int
    converged: bool
    why: str


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
    observe: Callable[[int, np.ndarray], dict] = lambda iteration, point: {},
    diagonal: Callable[[np.ndarray], np.ndarray] | None = None,
    space: Euclidean | None = None,
    measure: Measure | None = None,
    goal: str = "the gradient is small enough",
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
    evaluations, iteration, why = 1, 0, "the iteration limit was reached"
    norm = space.norm(gradient)
    first_ratio = ratio = measure(value, norm, point)
    recorder.record(0, value, 0.0, gradient_norm=norm, evaluations=evaluations, **observe(iteration, point))
    while ratio > tol and iteration < max_iter and not recorder.stopped:
        if diagonal is not None and iteration % NEW_DIAGONAL_EVERY == 0:
            pairs.rescale(np.sqrt(diagonal(point)))
        direction, slope = pairs.direction(gradient)
        if slope >= 0.0:  # rounding has spoiled the pairs
            pairs.clear()
            direction, slope = pairs.direction(gradient)
        first_step = 1.0 if pairs.order else 1.0 / max(1.0, space.norm(direction))
        found = line_search(function, point, value, slope, direction, first_step, space)
        evaluations += found.evaluations
        stuck = found.step == 0.0 or (found.value >= value and space.norm(found.gradient) >= norm)
        if stuck:
            if pairs.order:  # try once more along the gradient itself
                pairs.clear()
                continue
            why = "rounding errors allow no further descent"
            break
        pairs.add(point, found.point, gradient, found.gradient)
        point, value, gradient = found.point, found.value, found.gradient
        iteration += 1
        norm = space.norm(gradient)
        ratio = measure(value, norm, point)
        done = max(iteration / max_iter, share_of_decades(first_ratio, ratio, tol))
        recorder.record(
            iteration, value, done, gradient_norm=norm, evaluations=evaluations, **observe(iteration, point)
        )
    converged = ratio <= tol
    if recorder.stopped:
        why = "stopped by the callback"
    elif converged:
        why = goal
    return Minimum(point, value, norm, iteration, evaluations, converged, why)


def norm_of(vector: np.ndarray) -> float:
    return math.sqrt(dot(vector, vector))


def share_of_decades(first: float, now: float, goal: float) -> float:
    """How far a quantity has fallen from `first` to `goal`, on a log scale: a guess of the work done."""
    if now <= goal:
        return 1.0
    if now >= first or goal <= 0.0:
        return 0.0
    return float(np.log(first / now) / np.log(first / goal))


@dataclass(frozen=True)
class Step:
    step: float  # 0: none was found
    point: np.ndarray
    value: float
    gradient: np.ndarray
    evaluations: int


def line_search(
    function: Function,
    origin: np.ndarray,
    value: float,
    slope: float,
    direction: np.ndarray,
    step: float,
    space: Euclidean,
) -> Step:
    """A step with sufficient decrease and |slope| <= CURVATURE·|first slope|, by bracketing and cubic interpolation.

    low is the best end of the bracket so far, high the other end (None while the minimum has not been passed).
    """
    low, high = (0.0, value, slope), None
    narrowest = 1e-14 * step  # the step is as small as the direction is long: no absolute number would do
    fallback = Step(0.0, origin, value, origin, 0)
    for evaluations in range(1, MAX_LINE_SEARCH + 1):
        point = add_multiple(origin, step, direction)
        new_value, gradient = function(point)
        new_slope = space.dot(gradient, direction) if np.isfinite(new_value) else np.inf
        decreased = new_value <= value + SUFFICIENT_DECREASE * step * slope
        if not decreased and new_value <= value + ROUNDING * abs(value):
            # The value can no longer tell, but the slope can (Hager and Zhang's approximate condition).
            decreased = new_slope <= (2.0 * SUFFICIENT_DECREASE - 1.0) * slope
        if decreased and abs(new_slope) <= -CURVATURE * slope:
            return _accepted(step, point, new_value, gradient, evaluations, space)
        if not decreased or new_value > low[1]:
            high = (step, new_value, new_slope)
        else:
            fallback = Step(step, point, new_value, gradient, evaluations)
            if new_slope * ((high[0] if high else np.inf) - low[0]) >= 0:
                high = low
            low = (step, new_value, new_slope)
        if high is None:
            step = 2.0 * step
        else:
            step = _between(low, high)
            if abs(high[0] - low[0]) <= max(narrowest, 1e-14 * abs(low[0])):
                break
    return _accepted(fallback.step, fallback.point, fallback.value, fallback.gradient, evaluations, space)


def _accepted(
    step: float, point: np.ndarray, value: float, gradient: np.ndarray, evaluations: int, space: Euclidean
) -> Step:
    if step > 0.0:
        space.complete(gradient)
    return Step(step, point, value, gradient, evaluations)


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
