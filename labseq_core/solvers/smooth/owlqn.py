"""OWL-QN: L-BFGS for a smooth function plus l1·‖x‖₁, with weights that are exactly zero."""

from __future__ import annotations

import numpy as np

from labseq_core.progress import Recorder
from labseq_core.solvers.smooth.lbfgs import SUFFICIENT_DECREASE
from labseq_core.solvers.smooth.lbfgs_memory import CurvatureMemory, dot, norm_of
from labseq_core.solvers.smooth.stopping import (
    NO_DESCENT,
    SMALL_GRADIENT,
    Descent,
    Function,
    Minimum,
    Observe,
    nothing_more,
)

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
    observe: Observe = nothing_more,
) -> Minimum:
    """Minimise function(x) + l1 ‖x‖₁; the same stop rules as `minimise`, on the steepest one-sided slope."""
    point = np.array(start, dtype=np.float64)
    smooth, gradient = function(point)
    pairs = CurvatureMemory(memory, point.size)
    here = Descent(
        max_iter=max_iter, tol=tol, recorder=recorder, goal=SMALL_GRADIENT, observe=observe,
        measure=lambda value, norm, point: norm / max(1.0, norm_of(point)),
    )  # fmt: skip
    slope = steepest_slope(point, gradient, l1)
    here.begin(point, smooth + l1 * float(np.abs(point).sum()), gradient, norm_of(slope), nonzero=_nonzero(point))
    while here.goes_on:
        direction, _ = pairs.direction(slope)
        direction[direction * slope >= 0.0] = 0.0  # never against the slope itself
        orthant = np.where(here.point != 0.0, np.sign(here.point), -np.sign(slope))
        step = 1.0 if pairs.order else 1.0 / max(1.0, here.norm)
        for _ in range(MAX_BACKTRACKING):
            moved = here.point + step * direction
            moved[moved * orthant < 0.0] = 0.0  # stay in the orthant, on its border at the most
            smooth, gradient = function(moved)
            here.evaluations += 1
            value = smooth + l1 * float(np.abs(moved).sum())
            promised = dot(slope, moved - here.point)
            if value <= here.value + SUFFICIENT_DECREASE * promised and promised < 0.0:
                break
            step *= 0.5 if pairs.order else 0.1
        else:
            if pairs.order:
                pairs.clear()
                continue
            return here.end(NO_DESCENT)
        pairs.add(here.point, moved, here.gradient, gradient)
        slope = steepest_slope(moved, gradient, l1)
        here.move(moved, value, gradient, norm_of(slope), nonzero=_nonzero(moved))
    return here.end()


def _nonzero(point: np.ndarray) -> int:
    return int(np.count_nonzero(point))


def steepest_slope(point: np.ndarray, gradient: np.ndarray, l1: float) -> np.ndarray:
    """The derivative where there is one; at zero the one-sided derivative that descends, or zero if none does."""
    at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - l1, 0.0)
    return np.where(point != 0.0, gradient + l1 * np.sign(point), at_zero)
