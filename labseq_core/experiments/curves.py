"""The curve of a training: points (iteration, objective, accuracy or None), few enough to be kept and drawn."""

from __future__ import annotations

from collections.abc import Iterable

Point = tuple[int, float, float | None]
CURVE_POINTS = 200
_WHOLE = CURVE_POINTS // 4  # of the first points none goes: that is where most happens


def add_points(curve: list[Point], points: Iterable[Point]) -> None:
    """Go on with a curve. An iteration that is told of several times has one point, as it was last, with its accuracy.

    Where there are too many points, one of each two neighbours goes, rather one without accuracy.
    """
    for iteration, objective, accuracy in points:
        if curve and curve[-1][0] == iteration:
            last = curve.pop()
            accuracy = last[2] if accuracy is None else accuracy
        curve.append((iteration, objective, accuracy))
        if len(curve) > CURVE_POINTS:
            pairs = zip(curve[_WHOLE:-1:2], curve[_WHOLE + 1 : -1 : 2])
            kept = [second if first[2] is None and second[2] is not None else first for first, second in pairs]
            curve[_WHOLE:-1] = kept
