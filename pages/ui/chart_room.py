"""Room around a chart, reckoned before it is drawn.

A browser that has to find out by itself how wide names and numbers are draws a chart, measures it and draws it again.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from functools import cache

import plotly.graph_objects as go

_FONT = 12
_AWAY, _TITLE, _LINE = 8, 30, 24  # pixels: between names and axis; the title of an axis; a line of names below one
_NUMBER = "−0.0000"  # about the longest number beside an axis
_NARROW_CHART = 280  # pixels: names that fit side by side into so many are never turned
_TAG = re.compile(r"<[^>]*>")


def with_room(figure: go.Figure) -> go.Figure:
    """The figure with margins for its axes; plotly measures only names below an axis that may have to be turned."""
    left = right = below = 0.0
    for axis in figure.select_yaxes():
        beside = _beside(axis, _names(figure, axis, "y"))
        left, right = (left, max(right, beside)) if axis.side == "right" else (max(left, beside), right)
        axis.update(automargin=False, ticklabeloverflow="allow")
    for axis in figure.select_xaxes():
        names = _names(figure, axis, "x")
        may_turn = sum(map(_width, names)) > _NARROW_CHART
        below = max(below, (0 if axis.showticklabels is False else _LINE) + (_TITLE if axis.title.text else 0))
        axis.update(automargin=may_turn, ticklabeloverflow="allow")
    given = figure.layout.margin
    # Plotly takes data for changed if they are another copy, unless told which version they are: it would draw all twice.
    figure.update_layout(
        datarevision=1,
        margin={"l": max(given.l or 0, left), "r": max(given.r or 0, right), "b": max(given.b or 0, below)},
    )
    return figure


def _beside(axis: go.layout.YAxis, names: Iterable[str]) -> float:
    if axis.showticklabels is False:
        return 0.0
    size = axis.tickfont.size or _FONT
    widest = max((_width(name, size) for name in names), default=_width(_NUMBER, size))
    return _AWAY + widest + (_TITLE if axis.title.text else 0)


def _names(figure: go.Figure, axis: go.layout.XAxis | go.layout.YAxis, letter: str) -> set[str]:
    """What is written along the axis; nothing if that is numbers."""
    if axis.ticktext is not None:
        return set(map(str, axis.ticktext))
    own = axis.plotly_name.replace("axis", "")
    values = (
        value for trace in figure.data if (trace[f"{letter}axis"] or letter) == own for value in _of(trace, letter)
    )
    return {value for value in values if isinstance(value, str)}


def _of(trace, letter: str) -> Iterable:
    values = trace[letter]
    return () if values is None else values


@cache
def _letter(letter: str) -> float:
    """Its width, as a part of the size of the font."""
    if letter in " .,:;!'|ijlIftr()[]/-":
        return 0.36
    if letter in "mwMW%@" or ord(letter) >= 0x1100:
        return 1.0
    return 0.7 if letter.isupper() else 0.58


def _width(text: str, size: float = _FONT) -> float:
    """About so many pixels, of the longest line."""
    lines = text.split("<br>")
    return size * max(sum(map(_letter, html.unescape(_TAG.sub("", line)))) for line in lines)
