"""OWL-QN: L-BFGS for a smooth function plus l1·‖x‖₁, with weights that are exactly zero."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from labseq_core.solvers.curvature import CurvatureMemory, dot
from labseq_core.solvers.history import Recorder
from labseq_core.solvers.lbfgs import SUFFICIENT_DECREASE, Function, Minimum, norm_of, share_of_decades

MAX_BACKTRACKING = 40


def minimise_l1(
    function: Function,
    start: np.ndarray,
    l1: float,
    *,
    max_iter: int,
    tol: float,
    recorder: Recorder,
    memory: int = 10,
    observe: Callable[[int, np.ndarray], dict] = lambda iteration, point: {},
) -> Minimum:
    """Minimise function(x) + l1 ‖x‖₁; the same stop rules as `minimise`, on the steepest one-sided slope."""
    point = np.array(start, dtype=np.float64)
    smooth, gradient = function(point)
    value = smooth + l1 * float(np.abs(point).sum())
    pairs = CurvatureMemory(memory, point.size)
    evaluations, iteration, why = 1, 0, "the iteration limit was reached"
    slope = steepest_slope(point, gradient, l1)
    norm = norm_of(slope)
    first_ratio = ratio = norm / max(1.0, norm_of(point))
    row = {"gradient_norm": norm, "evaluations": evaluations, "nonzero": int(np.count_nonzero(point))}
    recorder.record(0, value, 0.0, **row, **observe(0, point))
    while ratio > tol and iteration < max_iter and not recorder.stopped:
        direction, _ = pairs.direction(slope)
        direction[direction * slope >= 0.0] = 0.0  # never against the slope itself
        orthant = np.where(point != 0.0, np.sign(point), -np.sign(slope))
        step = 1.0 if pairs.order else 1.0 / max(1.0, norm)
        for _ in range(MAX_BACKTRACKING):
            moved = point + step * direction
            moved[moved * orthant < 0.0] = 0.0  # stay in the orthant, on its border at the most
            new_smooth, new_gradient = function(moved)
            evaluations += 1
            new_value = new_smooth + l1 * float(np.abs(moved).sum())
            promised = dot(slope, moved - point)
            if new_value <= value + SUFFICIENT_DECREASE * promised and promised < 0.0:
                break
            step *= 0.5 if pairs.order else 0.1
        else:
            if pairs.order:
                pairs.clear()
                continue
            why = "rounding errors allow no further descent"
            break
        pairs.add(point, moved, gradient, new_gradient)
        point, value, gradient = moved, new_value, new_gradient
        iteration += 1
        slope = steepest_slope(point, gradient, l1)
        norm = norm_of(slope)
        ratio = norm / max(1.0, norm_of(point))
        done = max(iteration / max_iter, share_of_decades(first_ratio, ratio, tol))
        row = {"gradient_norm": norm, "evaluations": evaluations, "nonzero": int(np.count_nonzero(point))}
        recorder.record(iteration, value, done, **row, **observe(iteration, point))
    converged = ratio <= tol
    if recorder.stopped:
        why = "stopped by the callback"
    elif converged:
        why = "the gradient is small enough"
    return Minimum(point, value, norm, iteration, evaluations, converged, why)


def steepest_slope(point: np.ndarray, gradient: np.ndarray, l1: float) -> np.ndarray:
    """The derivative where there is one; at zero the one-sided derivative that descends, or zero if none does."""
    at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - l1, 0.0)
    return np.where(point != 0.0, gradient + l1 * np.sign(point), at_zero)
