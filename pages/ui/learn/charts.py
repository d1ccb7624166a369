"""Pictures of the lessons that no other page has: losses, mistakes, clues, and what few weights cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from labseq_core.explain.loss_curves import MARGIN_LOSSES, loss_curves, losses_at
from pages.ui.drawing.charts import LEGEND, MARGIN, kept
from pages.ui.drawing.colours import GREY, look

_LOW, _HIGH, _TOP, _POINTS = -2.0, 3.0, 4.0, 201
_MARKED = 15  # points with a mark each

Points = Sequence[tuple[float | str, float]]


def curves_shown() -> dict[str, np.ndarray]:
    """The margins of the picture, as "margin", and each loss at them."""
    return loss_curves(_LOW, _HIGH, _POINTS)


@kept
def loss_picture(margin: float) -> go.Figure:
    """Each loss as a line, marked at the margin."""
    curves, figure = curves_shown(), go.Figure()
    here = {row["loss"]: row["value"] for row in losses_at(margin)}
    for place, name in enumerate(MARGIN_LOSSES):
        own = look(place)
        figure.add_scatter(
            x=curves["margin"], y=curves[name], name=name, mode="lines",
            line={"color": own.colour, "dash": own.dash, "width": 2.5},
            hovertemplate=f"margin %{{x:.2f}}: %{{y:.3f}}<extra>{name}</extra>",
        )  # fmt: skip
        figure.add_scatter(
            x=[margin], y=[here[name]], mode="markers", showlegend=False,
            marker={"symbol": own.marker, "size": 12, "color": own.colour},
            hovertemplate=f"margin %{{x:.2f}}: %{{y:.3f}}<extra>{name}</extra>",
        )  # fmt: skip
    figure.add_vline(x=margin, line={"color": GREY, "dash": "dot"})
    figure.update_layout(
        height=400, margin=MARGIN, legend=LEGEND, xaxis={"title": "margin m", "range": [_LOW, _HIGH]},
        yaxis={"title": "loss", "range": [-0.1, _TOP]},
    )  # fmt: skip
    return figure


def loss_text(rows: Sequence[dict], margin: float) -> str:
    return f"Losses at margin {margin:g}: " + ", ".join(f"{row['loss']} {row['value']:.2f}" for row in rows)


@kept
def mistake_picture(rows: Sequence[dict]) -> go.Figure:
    """Mistakes and bound by number of sentences, on scales of powers of ten."""
    names = {"mistakes": "mistakes made", "bound": "Novikoff's bound"}
    lines = {name: [(row["sentences"], row[key]) for row in rows] for key, name in names.items()}
    figure = _lines(lines, "%{x} sentences: %{y:,.0f}")
    figure.update_xaxes(title="training sentences", type="log", tickvals=[row["sentences"] for row in rows])
    figure.update_yaxes(title="mistakes", type="log", dtick=1)
    return figure


def mistake_text(rows: Sequence[dict]) -> str:
    parts = [f"{row['sentences']} sentences {row['mistakes']} mistakes, bound {row['bound']:.0f}" for row in rows]
    return "Mistakes of the perceptron and Novikoff's bound: " + "; ".join(parts)


@kept
def clue_picture(rows: Sequence[dict], names: Mapping[str, str], clues: Mapping[str, str], score: str) -> go.Figure:
    """A score by the clues that a method sees, a line per method. names: of methods; clues: of features, fewest first."""
    lines = {
        name: [(clues[row["features"]], row[score]) for row in rows if row["method"] == method]
        for method, name in names.items()
    }
    figure = _lines(lines, "%{x}: %{y:.4f}")
    figure.update_traces(marker_size=11)
    figure.update_layout(height=340, xaxis={"title": None, "type": "category", "tickfont": {"size": 13}})
    return figure


def clue_text(rows: Sequence[dict], names: Mapping[str, str], score: str, title: str) -> str:
    parts = [f"{names[row['method']]} with {row['features']} {row[score]:.3f}" for row in rows]
    return f"{title} by what a method sees: {'; '.join(parts)}"


@kept
def size_picture(lines: Mapping[str, Points]) -> go.Figure:
    """The share of wrong tokens against the number of weights, on scales of powers of ten."""
    figure = _lines(lines, "%{x:,.0f} weights: %{y:.1%} wrong")
    figure.update_xaxes(title="weights other than 0", type="log", dtick=1, exponentformat="SI")
    figure.update_yaxes(
        title="wrong tokens, development part", type="log", tickformat=".0%", tickvals=[0.02, 0.05, 0.1, 0.2, 0.5, 1]
    )
    return figure


def size_text(lines: Mapping[str, Points]) -> str:
    ends = [f"{name} {points[-1][1]:.1%} with {points[-1][0]:,.0f} weights" for name, points in lines.items()]
    return f"Wrong tokens against the number of weights other than 0. With most of them: {'; '.join(ends)}"


def _lines(lines: Mapping[str, Points], hover: str) -> go.Figure:
    """A line for each name; of many points only some have a mark."""
    figure = go.Figure()
    for place, (name, points) in enumerate(lines.items()):
        own, every = look(place), -(-len(points) // _MARKED)
        figure.add_scatter(
            x=[x for x, _ in points], y=[y for _, y in points], name=name, mode="lines+markers",
            line={"color": own.colour, "dash": own.dash, "width": 2.5},
            marker={"symbol": own.marker, "size": [9 if not number % every else 0 for number in range(len(points))]},
            hovertemplate=f"{hover}<extra>{name}</extra>",
        )  # fmt: skip
    figure.update_layout(height=400, margin=MARGIN, legend=LEGEND)
    return figure
