"""Chart of margins: their cumulative distribution, a line per method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from labseq_core.explain import cumulative
from pages.ui.drawing.charts import LEGEND, MARGIN, in_lines, kept
from pages.ui.drawing.colours import GREY, look

_POINTS = 300  # of a line: more cannot be seen
_MARKED = 12  # points with a mark each: a mark takes as long to draw as a whole line


@kept
def distribution(
    margins: Mapping[str, np.ndarray], axis: str, lines: Mapping[float, str], places: Sequence[int]
) -> go.Figure:
    """The share of margins up to each value. lines: where a dashed line stands, and what is written at it. places: of the
    methods within their run, so that each has the look that it has elsewhere.
    """
    figure = go.Figure()
    for place, (name, values) in zip(places, margins.items(), strict=True):
        own = look(place)
        x, y = _thinned(*cumulative(values))
        figure.add_scatter(
            x=x, y=y, name=in_lines(name), mode="lines+markers", line={"color": own.colour, "dash": own.dash, "width": 2.5},
            marker={"symbol": own.marker, "size": 9, "maxdisplayed": _MARKED},
            hovertemplate="%{y:.1%} have a margin of at most %{x:.4g}<extra>" + name + "</extra>",
        )  # fmt: skip
    for value, text in lines.items():
        figure.add_vline(
            x=value, line={"color": GREY, "dash": "dash", "width": 2}, annotation_text=text,
            annotation_position="top left",
        )  # fmt: skip
    figure.update_layout(
        height=430, margin=MARGIN, legend=LEGEND, xaxis={"title": axis, "zeroline": False},
        yaxis={"title": "share of training sentences", "tickformat": ".0%", "range": [0, 1.03]},
    )  # fmt: skip
    return figure


def _thinned(x: np.ndarray, y: np.ndarray) -> tuple[list[float], list[float]]:
    """So many points, evenly spaced in rank, the ends among them."""
    kept = np.unique(np.linspace(0, len(x) - 1, min(len(x), _POINTS)).round().astype(int)) if len(x) else []
    return x[kept].tolist(), y[kept].tolist()


def distribution_text(margins: Mapping[str, np.ndarray], axis: str) -> str:
    """What `distribution` shows, in words."""
    parts = [
        f"{name}: {np.mean(values <= 0.0):.1%} at most 0, median {np.median(values):.3g}"
        for name, values in margins.items()
    ]
    return f"Cumulative distribution of {axis} over training sentences. {'; '.join(parts)}"
