"""What a training log says: a curve of (seconds, objective, evaluations) after each iteration. Imports nothing of ours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

Curve = list[tuple[float, float, int | None]]  # evaluations of the gradient so far; None: the log does not say

_LOSS = re.compile(r"Loss: (\S+)")
_TRIALS = re.compile(r"Line search trials: (\d+)")
_SECONDS = re.compile(r"Seconds required for this iteration: (\S+)")
_WAPITI = re.compile(r"\[ *\d+\] obj=(\S+) .*time=\S+/(\S+)s")


def crfsuite_curve(lines: Iterable[str], clock: Sequence[float] | None = None) -> Curve:
    """From CRFsuite's log. clock: when each line came; else the log's own seconds, which are processor time."""
    curve: Curve = []
    seconds, loss, evaluations = 0.0, float("nan"), 1  # one evaluation comes before the first line search
    for number, line in enumerate(lines):
        if found := _LOSS.match(line):
            loss = float(found[1])
        elif found := _TRIALS.match(line):
            evaluations += int(found[1])
        elif found := _SECONDS.match(line):
            seconds += float(found[1])
            curve.append((seconds if clock is None else clock[number], loss, evaluations))
    return curve


def wapiti_curve(lines: Iterable[str]) -> Curve:
    """From Wapiti's log; it does not count evaluations."""
    return [(float(found[2]), float(found[1]), None) for line in lines if (found := _WAPITI.search(line))]


def crossing(curve: Curve, threshold: float) -> int | None:
    """The place where the objective first is at the threshold or below."""
    return next((place for place, (_, objective, _) in enumerate(curve) if objective <= threshold), None)


def seconds_per_evaluation(curve: Curve) -> float | None:
    """Between the first entry and the last, so that what comes before the first evaluation does not count."""
    (begin, _, first), (end, _, last) = curve[0], curve[-1]
    return (end - begin) / (last - first) if first is not None and last > first else None
