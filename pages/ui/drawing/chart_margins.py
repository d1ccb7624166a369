"""Room around a chart, reckoned before it is drawn.

A browser that has to find out by itself how wide names and numbers are draws a chart, measures it and draws it again.
"""

from __future__ import annotations

import html
import re
from functools import cache
from itertools import pairwise

import plotly.graph_objects as go

FEW = 6  # variants that stand beside one another with a legend above them; more stand below one another, or in a list
_FONT = 12
_LEGEND_LINE = 19  # pixels
# Pixels. The theme keeps names away from the axis; the cells of a heat map have marks between them and their names.
_AWAY, _MARKS = 12, 7
_TITLE_BESIDE, _TITLE_BELOW, _TITLE_FONT = 34, 28, 14
_LINE = 1.4  # its height, as a part of the size of the font
_NUMBER = "−0.0000"  # about the longest number beside an axis
_NARROW_CHART = 280  # pixels: names that fit side by side into so many are never turned
_TAG = re.compile(r"<[^>]*>")
# Widths of letters, as a part of the size of the font; then those of all other ones.
_LETTERS = {" ": 0.22, ".,:;!'|ijlIf()[]{}-·": 0.32, "rt/\\": 0.36, "aceksvxyz0123456789_": 0.5, "mwMW%@…": 1.0}
_CAPITAL, _SMALL = 0.68, 0.56


def with_room(figure: go.Figure) -> go.Figure:
    """The figure with margins for its axes; plotly measures only names below an axis that may need more."""
    left = right = below = 0.0
    for axis in figure.select_yaxes():
        beside = _beside(figure, axis)
        left, right = (left, max(right, beside)) if axis.side == "right" else (max(left, beside), right)
        axis.update(automargin=False, ticklabeloverflow="allow")
    for axis in figure.select_xaxes():
        below = max(below, _below(figure, axis))
        axis.update(automargin=_is_to_be_measured(figure, axis), ticklabeloverflow="allow")
    _make_room_for_legend(figure)
    given = figure.layout.margin
    # Plotly takes data for changed if they are another copy, unless told which version they are: it would draw all twice.
    figure.update_layout(
        datarevision=1,
        margin={"l": max(given.l or 0, left), "r": max(given.r or 0, right), "b": max(given.b or 0, below)},
    )
    return figure


def _make_room_for_legend(figure: go.Figure) -> None:
    """A long legend makes the chart higher: it may take half of it, and would scroll over what is drawn."""
    named = [trace.name or "" for trace in figure.data if trace.showlegend is not False]
    if len(named) > FEW and figure.layout.showlegend is not False and figure.layout.height:
        figure.layout.height += sum(_LEGEND_LINE * (1 + name.count("<br>")) for name in named)


def _beside(figure: go.Figure, axis: go.layout.YAxis) -> float:
    names = () if axis.showticklabels is False else _names(figure, axis) or [_NUMBER]
    widest = max((_width(name, _size(axis)) for name in names), default=0.0)
    return (_away(figure, axis) + widest if names else 0.0) + (_TITLE_BESIDE if axis.title.text else 0)


def _below(figure: go.Figure, axis: go.layout.XAxis) -> float:
    names = () if axis.showticklabels is False else _names(figure, axis) or [_NUMBER]
    lines = max((1 + name.count("<br>") for name in names), default=0)
    height = _away(figure, axis) + lines * _LINE * _size(axis) if names else 0.0
    title = axis.title.text
    return height + (_TITLE_BELOW + title.count("<br>") * _LINE * _TITLE_FONT if title else 0)


def _is_to_be_measured(figure: go.Figure, axis: go.layout.XAxis) -> bool:
    """Whether names would touch in a narrow chart and be turned, or the last one may stand half beyond the end of a line."""
    names = _names(figure, axis)
    if names and axis.range is None and all(trace.type == "scatter" for trace in _traces(figure, axis)):
        return True
    widths = [_width(name, _size(axis)) for name in names]
    most = max(((one + other) / 2 for one, other in pairwise(widths)), default=0.0)
    return len(names) * most > _NARROW_CHART


def _size(axis: go.layout.XAxis | go.layout.YAxis) -> float:
    return axis.tickfont.size or _FONT


def _away(figure: go.Figure, axis: go.layout.XAxis | go.layout.YAxis) -> float:
    return _AWAY + (_MARKS if any(trace.type == "heatmap" for trace in _traces(figure, axis)) else 0)


def _traces(figure: go.Figure, axis: go.layout.XAxis | go.layout.YAxis) -> list:
    own, kind = axis.plotly_name.replace("axis", ""), axis.plotly_name[0] + "axis"
    return [trace for trace in figure.data if (trace[kind] or own[0]) == own]


def _names(figure: go.Figure, axis: go.layout.XAxis | go.layout.YAxis) -> list[str]:
    """What is written along the axis, in order; nothing if that is numbers."""
    if axis.ticktext is not None:
        return list(map(str, axis.ticktext))
    columns = (trace[axis.plotly_name[0]] for trace in _traces(figure, axis))
    values = dict.fromkeys(value for column in columns if column is not None for value in column)
    return [value for value in values if isinstance(value, str)]


@cache
def _letter(letter: str) -> float:
    """Its width, as a part of the size of the font."""
    usual = 1.0 if ord(letter) >= 0x1100 else _CAPITAL if letter.isupper() else _SMALL
    return next((width for letters, width in _LETTERS.items() if letter in letters), usual)


def _width(text: str, size: float = _FONT) -> float:
    """About so many pixels, of the longest line."""
    lines = text.split("<br>")
    return size * max(sum(map(_letter, html.unescape(_TAG.sub("", line)))) for line in lines)
