"""Pictures of the lessons: losses against the margin, mistakes against their bound."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from labseq_core.explain.loss_curves import MARGIN_LOSSES, loss_curves, losses_at
from pages.ui.charts import GREY, MARGIN
from pages.ui.colours import look

_LOW, _HIGH, _TOP, _POINTS = -2.0, 3.0, 4.0, 201
_LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 14}}


def curves_shown() -> dict[str, np.ndarray]:
    """The margins of the picture, as "margin", and each loss at them."""
    return loss_curves(_LOW, _HIGH, _POINTS)


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
        height=400, margin=MARGIN, legend=_LEGEND, xaxis={"title": "margin m", "range": [_LOW, _HIGH]},
        yaxis={"title": "loss", "range": [-0.1, _TOP]},
    )  # fmt: skip
    return figure


def loss_text(rows: Sequence[dict], margin: float) -> str:
    return f"Losses at margin {margin:g}: " + ", ".join(f"{row['loss']} {row['value']:.2f}" for row in rows)


def mistake_picture(rows: Sequence[dict]) -> go.Figure:
    """Mistakes and bound by number of sentences, on scales of powers of ten."""
    figure = go.Figure()
    for place, (key, name) in enumerate({"mistakes": "mistakes made", "bound": "Novikoff's bound"}.items()):
        own = look(place)
        figure.add_scatter(
            x=[row["sentences"] for row in rows], y=[row[key] for row in rows], name=name, mode="lines+markers",
            line={"color": own.colour, "dash": own.dash, "width": 2.5}, marker={"symbol": own.marker, "size": 9},
            hovertemplate=f"%{{x}} sentences: %{{y:,.0f}}<extra>{name}</extra>",
        )  # fmt: skip
    figure.update_layout(
        height=360, margin=MARGIN, legend=_LEGEND,
        xaxis={"title": "training sentences", "type": "log", "tickvals": [row["sentences"] for row in rows]},
        yaxis={"title": "mistakes", "type": "log", "dtick": 1},
    )  # fmt: skip
    return figure


def mistake_text(rows: Sequence[dict]) -> str:
    parts = [f"{row['sentences']} sentences {row['mistakes']} mistakes, bound {row['bound']:.0f}" for row in rows]
    return "Mistakes of the perceptron and Novikoff's bound: " + "; ".join(parts)
