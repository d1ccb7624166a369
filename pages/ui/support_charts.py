"""Charts of margin training: how primal and dual objective meet, and how the working sets grow."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from pages.ui.charts import MARGIN
from pages.ui.colours import look

_LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "title": None, "font": {"size": 14}}
OBJECTIVES = {"primal": "primal objective", "dual": "dual objective"}
SIZES = {"working_set": "working set", "support_sequences": "support sequences"}


def lines_by_round(rows: Sequence[dict], names: dict[str, str], title: str) -> go.Figure:
    """One line for each of some columns of the history."""
    figure = go.Figure()
    for place, (column, name) in enumerate(names.items()):
        own = look(place)
        shown = [row for row in rows if row.get(column) is not None]
        figure.add_scatter(
            x=[row["iteration"] for row in shown], y=[row[column] for row in shown], name=name, mode="lines+markers",
            line={"color": own.colour, "dash": own.dash, "width": 2}, marker={"symbol": own.marker, "size": 6},
            hovertemplate="round %{x}: %{y:.6g}<extra>" + name + "</extra>",
        )  # fmt: skip
    figure.update_layout(
        height=320, margin=MARGIN, legend=_LEGEND, xaxis={"title": "round", "rangemode": "tozero"},
        yaxis={"title": title, "exponentformat": "SI"},
    )  # fmt: skip
    return figure


def lines_text(rows: Sequence[dict], names: dict[str, str]) -> str:
    """What `lines_by_round` shows at the end, in words."""
    last = rows[-1]
    ends = ", ".join(f"{name} {last[column]:.6g}" for column, name in names.items() if last.get(column) is not None)
    return f"Lines by round; after round {last['iteration']}: {ends}"
