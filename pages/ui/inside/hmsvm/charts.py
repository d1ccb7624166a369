"""Charts of margin training: how primal and dual objective meet, and how the working sets grow."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from pages.ui.drawing.charts import LEGEND, MARGIN, MARKED, kept
from pages.ui.drawing.colours import look

OBJECTIVES = {"primal": "primal objective", "dual": "dual objective"}
SIZES = {"working_set": "working set", "support_sequences": "support sequences"}


@kept
def lines_by_round(rows: Sequence[dict], names: dict[str, str], title: str) -> go.Figure:
    """One line for each of some columns of the history."""
    figure = go.Figure()
    for place, (column, name) in enumerate(names.items()):
        own = look(place)
        shown = [row for row in rows if row.get(column) is not None]
        figure.add_scatter(
            x=[row["iteration"] for row in shown], y=[row[column] for row in shown], name=name, mode="lines+markers",
            line={"color": own.colour, "dash": own.dash, "width": 2},
            marker={"symbol": own.marker, "size": 6, "maxdisplayed": MARKED},
            hovertemplate="round %{x}: %{y:.6g}<extra>" + name + "</extra>",
        )  # fmt: skip
    figure.update_layout(
        height=320, margin=MARGIN, legend=LEGEND, xaxis={"title": "round", "rangemode": "tozero"},
        yaxis={"title": title, "exponentformat": "SI"},
    )  # fmt: skip
    return figure


def lines_text(rows: Sequence[dict], names: dict[str, str]) -> str:
    """What `lines_by_round` shows at the end, in words."""
    last = rows[-1]
    ends = ", ".join(f"{name} {last[column]:.6g}" for column, name in names.items() if last.get(column) is not None)
    return f"Lines by round; after round {last['iteration']}: {ends}"


@kept
def growth_bars(rows: Sequence[dict]) -> go.Figure:
    """By how many rivals the working sets grew in each round, and how many sentences were looked at for them."""
    added, looked = look(0), look(1)
    rounds, growth = [row["iteration"] for row in rows], [row["growth"] for row in rows]
    figure = go.Figure()
    figure.add_bar(
        x=rounds, y=growth, name="rivals added less dropped", marker={"color": added.colour},
        hovertemplate="round %{x}: %{y:+,d} rivals<extra></extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=rounds, y=[row["looked_at"] for row in rows], name="sentences looked at", mode="lines+markers",
        line={"color": looked.colour, "dash": looked.dash, "width": 2},
        marker={"symbol": looked.marker, "size": 6, "maxdisplayed": MARKED},
        hovertemplate="round %{x}: %{y:,d} sentences looked at<extra></extra>",
    )  # fmt: skip
    figure.update_layout(
        height=320, margin=MARGIN, legend=LEGEND, xaxis={"title": "round", "rangemode": "tozero"},
        yaxis={"title": "number", "exponentformat": "SI"},
    )  # fmt: skip
    return figure


def growth_text(rows: Sequence[dict]) -> str:
    """What `growth_bars` shows, in words."""
    parts = ", ".join(f"{row['growth']:+d} in round {row['iteration']}" for row in rows[:5])
    return f"Growth of the working sets by round: {parts}; {rows[-1]['growth']:+d} in the last, round {rows[-1]['iteration']}"
