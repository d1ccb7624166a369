"""What more quality costs."""

from __future__ import annotations

from collections.abc import Sequence

from labseq_core.checks import require


def pareto_front(costs: Sequence[float], gains: Sequence[float]) -> list[bool]:
    """Which points no other one beats. One beats another if it costs no more, gains no less, and is not the same in both."""
    require(
        len(costs) == len(gains), f"there are {len(costs)} costs and {len(gains)} gains; give one of each per point"
    )
    points = list(zip(costs, gains))
    return [
        not any(other != point and other[0] <= point[0] and other[1] >= point[1] for other in points)
        for point in points
    ]
