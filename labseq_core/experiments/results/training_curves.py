"""The curve of a training: points (iteration, objective, accuracy or None), few enough to be kept and drawn."""

from __future__ import annotations

import math
from collections.abc import Iterable

Point = tuple[int, float, float | None]
CURVE_POINTS = 200
_WHOLE = 50  # of the first points none goes: that is where most happens
_STEPS = 100  # of the logarithm of iterations, from there to the end, with a point each, at most


def add_points(curve: list[Point], points: Iterable[Point]) -> None:
    """Go on with a curve. An iteration that is told of several times has one point, as it was last, with its accuracy."""
    for iteration, objective, accuracy in points:
        if curve and curve[-1][0] == iteration:
            last = curve.pop()
            accuracy = last[2] if accuracy is None else accuracy
        curve.append((iteration, objective, accuracy))
        if len(curve) > CURVE_POINTS:
            curve[_WHOLE:-1] = _thinned(curve[_WHOLE:-1])


def _thinned(points: list[Point]) -> list[Point]:
    """One point for each step of the logarithm, the last with an accuracy or simply the last.

    Where a fit starts anew iterations begin anew, and there may be several rows of such steps: then every other point goes.
    """
    logarithms = [math.log(max(1, iteration)) for iteration, _, _ in points]
    # A power of two: steps that grow only by doubling never cut up what an earlier thinning has left.
    width = 2.0 ** math.ceil(math.log2(max((max(logarithms) - min(logarithms)) / _STEPS, 1e-9)))
    kept: list[Point] = []
    step_before = None
    for point, logarithm in zip(points, logarithms):
        step = int(logarithm / width)
        if step != step_before:
            kept.append(point)
        elif point[2] is not None or kept[-1][2] is None:
            kept[-1] = point
        step_before = step
    return kept if len(kept) < CURVE_POINTS - _WHOLE - 1 else kept[::2]
