"""Newton's method whose steps come from conjugate gradients: T 5.3.4, R 1.23b; METHODS 5.

A Δ = -r,      A v = λ v + C M v      (C: covariance of the statistics; self-adjoint in the inner product of the space)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np

from labseq_core.progress import Recorder
from labseq_core.solvers.smooth.lbfgs import Euclidean, line_search
from labseq_core.solvers.smooth.stopping import (
    NO_DESCENT,
    Descent,
    Function,
    Measure,
    Minimum,
    Observe,
    nothing_more,
)

MAX_DIRECTIONS = 50  # of conjugate gradients, for one Newton step
LOOSEST = 0.5  # the share of the last gain, times the number of directions, that is not worth another direction


class Curvature(Protocol):
    """The second derivative at a point, as an operator on vectors of a space."""

    def product(self, vector: np.ndarray) -> np.ndarray:
        """A v; v is complete, what comes back need not be."""

    def precondition(self, vector: np.ndarray) -> np.ndarray:
        """About A⁻¹ v; neither need be complete."""


def minimise_newton(
    function: Function,
    start: np.ndarray,
    curvature: Callable[[np.ndarray], Curvature],
    *,
    max_iter: int,
    tol: float,
    recorder: Recorder,
    space: Euclidean,
    measure: Measure,
    goal: str,
    observe: Observe = nothing_more,
) -> Minimum:
    """As `lbfgs.minimise`, for a convex function with a second derivative. The history counts `directions` too."""
    point = np.array(start, dtype=np.float64)
    value, gradient = function(point)
    space.complete(gradient)
    directions = 0
    here = Descent(max_iter=max_iter, tol=tol, recorder=recorder, measure=measure, goal=goal, observe=observe)
    here.begin(point, value, gradient, space.norm(gradient), directions=directions)
    while here.goes_on:
        enough = min(LOOSEST, math.sqrt(here.ratio))
        step, used = newton_step(curvature(here.point), here.gradient, space, enough, here.tell)
        directions += used
        if recorder.stopped and used == 0:
            break
        reached = line_search(function, here, space.dot(here.gradient, step), step, 1.0, space)
        if not reached.is_progress(here):
            return here.end(NO_DESCENT)
        here.move(reached.point, reached.value, reached.gradient, reached.norm, directions=directions)
    return here.end()


def newton_step(
    curvature: Curvature,
    gradient: np.ndarray,
    space: Euclidean,
    enough: float,
    go_on: Callable[[], bool] = lambda: True,
) -> tuple[np.ndarray, int]:
    """The minimum of ⟨r, Δ⟩ + ½⟨Δ, A Δ⟩ over a few directions, and how many; both complete.

    Directions are made conjugate to all before them: the preconditioner of the documents is not self-adjoint in the inner
    product of functions, so the three-term recursion would not do. Stops when a direction gains little more.
    """
    step, residual = np.zeros_like(gradient), -gradient
    tried: list[tuple[np.ndarray, np.ndarray, float]] = []  # direction p, A p, ⟨p, A p⟩
    gained = 0.0
    while len(tried) < MAX_DIRECTIONS:
        direction = curvature.precondition(residual)
        space.complete(direction)
        for before, product, bend in tried:
            direction -= (space.dot(product, direction) / bend) * before
        product = curvature.product(direction)
        bend = space.dot(product, direction)
        if not bend > 0.0:
            break
        length = space.dot(residual, direction) / bend
        gain = 0.5 * length * length * bend
        step += length * direction
        residual -= length * product
        tried.append((direction, product, bend))
        gained += gain
        if len(tried) * gain <= enough * gained or not go_on():
            break
    return step, len(tried)
