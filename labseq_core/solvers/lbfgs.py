"""L-BFGS with a line search for the strong Wolfe conditions."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from labseq_core.solvers.history import Recorder

SUFFICIENT_DECREASE, CURVATURE = 1e-4, 0.9
MAX_LINE_SEARCH = 30
Function = Callable[[np.ndarray], tuple[float, np.ndarray]]


@dataclass(frozen=True)
class Minimum:
    point: np.ndarray
    value: float
    gradient_norm: float
    iterations: int
    evaluations: int
    converged: bool
    why: str


def minimise(
    function: Function, start: np.ndarray, *, max_iter: int, tol: float, recorder: Recorder, memory: int = 10
) -> Minimum:
    """Minimise a smooth function that gives (value, gradient).

    Stops when ‖gradient‖ <= tol · max(1, ‖point‖), after max_iter iterations, when the callback says so, or when rounding
    leaves no descent. The best point so far is returned in each case.
    """
    point = np.array(start, dtype=np.float64)
    value, gradient = function(point)
    pairs: deque[tuple[np.ndarray, np.ndarray, float]] = deque(maxlen=memory)
    evaluations, iteration, why = 1, 0, "the iteration limit was reached"
    first_ratio = ratio = _gradient_ratio(point, gradient)
    recorder.record(0, value, 0.0, gradient_norm=float(np.linalg.norm(gradient)), evaluations=evaluations)
    while ratio > tol and iteration < max_iter and not recorder.stopped:
        direction = _two_loop(gradient, pairs)
        slope = float(direction @ gradient)
        if slope >= 0.0:  # rounding has spoiled the curvature pairs
            pairs.clear()
            direction, slope = -gradient, -float(gradient @ gradient)
        first_step = 1.0 if pairs else 1.0 / max(1.0, float(np.linalg.norm(gradient)))
        found = _line_search(function, point, value, slope, direction, first_step)
        evaluations += found.evaluations
        if found.step == 0.0:
            if pairs:  # try once more along the gradient itself
                pairs.clear()
                continue
            why = "rounding errors allow no further descent"
            break
        displacement, change = found.point - point, found.gradient - gradient
        curvature = float(displacement @ change)
        if curvature > 1e-12 * float(change @ change):
            pairs.append((displacement, change, 1.0 / curvature))
        point, value, gradient = found.point, found.value, found.gradient
        iteration += 1
        ratio = _gradient_ratio(point, gradient)
        done = max(iteration / max_iter, _share_of_decades(first_ratio, ratio, tol))
        norm = float(np.linalg.norm(gradient))
        recorder.record(iteration, value, done, gradient_norm=norm, evaluations=evaluations)
    converged = ratio <= tol
    if recorder.stopped:
        why = "stopped by the callback"
    elif converged:
        why = "the gradient is small enough"
    return Minimum(point, value, float(np.linalg.norm(gradient)), iteration, evaluations, converged, why)


def _gradient_ratio(point: np.ndarray, gradient: np.ndarray) -> float:
    return float(np.linalg.norm(gradient) / max(1.0, np.linalg.norm(point)))


def _share_of_decades(first: float, now: float, goal: float) -> float:
    """How far a quantity has fallen from `first` to `goal`, on a log scale: a guess of the work done."""
    if now <= goal:
        return 1.0
    if now >= first or goal <= 0.0:
        return 0.0
    return float(np.log(first / now) / np.log(first / goal))


def _two_loop(gradient: np.ndarray, pairs: deque) -> np.ndarray:
    """-H·gradient with H the inverse Hessian of the last curvature pairs."""
    direction = -gradient
    shares = []
    for displacement, change, inverse in reversed(pairs):
        share = inverse * float(displacement @ direction)
        direction -= share * change
        shares.append(share)
    if pairs:
        _, change, inverse = pairs[-1]
        direction /= inverse * float(change @ change)
    for (displacement, change, inverse), share in zip(pairs, reversed(shares)):
        direction += (share - inverse * float(change @ direction)) * displacement
    return direction


@dataclass(frozen=True)
class _Step:
    step: float  # 0: none was found
    point: np.ndarray
    value: float
    gradient: np.ndarray
    evaluations: int


def _line_search(
    function: Function, origin: np.ndarray, value: float, slope: float, direction: np.ndarray, step: float
) -> _Step:
    """A step with sufficient decrease and |slope| <= CURVATURE·|first slope|, by bracketing and cubic interpolation.

    low is the best end of the bracket so far, high the other end (None while the minimum has not been passed).
    """
    low, high = (0.0, value, slope), None
    fallback = _Step(0.0, origin, value, origin, 0)
    for evaluations in range(1, MAX_LINE_SEARCH + 1):
        point = origin + step * direction
        new_value, gradient = function(point)
        new_slope = float(gradient @ direction) if np.isfinite(new_value) else np.inf
        decreased = new_value <= value + SUFFICIENT_DECREASE * step * slope
        if decreased and abs(new_slope) <= -CURVATURE * slope:
            return _Step(step, point, new_value, gradient, evaluations)
        if not decreased or new_value >= low[1]:
            high = (step, new_value, new_slope)
        else:
            fallback = _Step(step, point, new_value, gradient, evaluations)
            if new_slope * ((high[0] if high else np.inf) - low[0]) >= 0:
                high = low
            low = (step, new_value, new_slope)
        if high is None:
            step = 2.0 * step
        else:
            step = _between(low, high)
            if abs(high[0] - low[0]) <= 1e-14 * max(1.0, abs(low[0])):
                break
    return _Step(fallback.step, fallback.point, fallback.value, fallback.gradient, evaluations)


def _between(low: tuple[float, float, float], high: tuple[float, float, float]) -> float:
    """The minimum of the cubic through both ends, kept away from them; the middle where it does not exist."""
    (a, value_a, slope_a), (b, value_b, slope_b) = low, high
    middle, width = 0.5 * (a + b), abs(b - a)
    if not np.isfinite(value_b) or not np.isfinite(slope_b):
        return a + 0.1 * (b - a)
    first = slope_a + slope_b - 3.0 * (value_a - value_b) / (a - b)
    inside = first * first - slope_a * slope_b
    if inside < 0.0:
        return middle
    second = np.copysign(np.sqrt(inside), b - a)
    denominator = slope_b - slope_a + 2.0 * second
    if denominator == 0.0:
        return middle
    guess = b - (b - a) * (slope_b + second - first) / denominator
    return float(np.clip(guess, middle - 0.4 * width, middle + 0.4 * width))
