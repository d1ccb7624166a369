"""Charts of kernels at work: who spoke for a label, the Gram matrix, and its spectrum."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from labseq_core.explain import GramSample, Spectrum
from pages.ui.drawing.charts import MARGIN, kept
from pages.ui.drawing.colours import GREY, WHITE, look
from pages.ui.drawing.plain_text import in_chart, shortened

_WORD, _NAME = 18, 80  # characters of a word or a label, and of what names an observation
_SMALLEST = 1e-12  # relative to the largest eigenvalue: less is rounding


def name_of(row: dict) -> str:
    """A training observation so that no two have the same name."""
    word, label = (text if len(text) <= _WORD else f"{text[: _WORD - 1]}…" for text in (row["word"], row["label"]))
    return f"{word} ({label}) {row['sequence']}:{row['position']}"


AXES = {"contribution": "β · k(x, xⱼ)", "difference": "β · (k(x, xⱼ) − k̄ⱼ)"}


@kept
def contribution_bars(rows: Sequence[dict], by: str) -> go.Figure:
    """What observations say, of AXES; the sign is written, and for and against differ in direction and pattern too."""
    values = [row[by] for row in rows]
    reach = 1.3 * (max(map(abs, values), default=0.0) or 1.0)
    figure = go.Figure(
        go.Bar(
            x=values, y=[in_chart(name_of(row), _NAME) for row in rows], orientation="h",
            marker={"color": [look(0 if value >= 0 else 1).colour for value in values],
                    "pattern": {"shape": ["" if value >= 0 else "/" for value in values]}},
            text=[f"{value:+.3f}" for value in values], textposition="outside", cliponaxis=False,
            customdata=[[row["kernel"], row["usual"], row["beta"]] for row in rows],
            hovertemplate="%{y}: k = %{customdata[0]:.4g}, k̄ = %{customdata[1]:.4g}, β = %{customdata[2]:.4g}: %{x:+.4g}"
            "<extra></extra>",
        )
    )  # fmt: skip
    low, high = min([0.0, *values]), max([0.0, *values])
    figure.update_layout(
        height=max(200, 24 * len(rows) + 70), margin={**MARGIN, "t": 10}, bargap=0.2,
        xaxis={"title": AXES[by], "range": [-reach if low < 0 else 0.0, reach if high > 0 else 0.0]},
        yaxis={"autorange": "reversed", "type": "category", "title": None},
    )  # fmt: skip
    return figure


def contribution_text(label: str, rows: Sequence[dict], by: str) -> str:
    """What `contribution_bars` shows, in words."""
    parts = ", ".join(f"{name_of(row)} {row[by]:+.3f}" for row in rows)
    return f"Bar chart of contributions to the score of {shortened(label)}, largest first: {parts}"


@kept
def gram_heat_map(sample: GramSample) -> go.Figure:
    """Kernel values; lines part the labels, whose names stand at the sides."""
    names = [in_chart(name_of(row), _NAME) for row in sample.rows]
    labels = [row["label"] for row in sample.rows]
    figure = go.Figure(
        go.Heatmap(
            z=sample.values.tolist(), x=list(range(len(names))), y=list(range(len(names))), colorscale="Cividis",
            text=[[f"{one} – {other}" for other in names] for one in names],
            hovertemplate="%{text}<br>k = %{z:.4g}<extra></extra>", colorbar={"title": "k", "thickness": 14},
        )
    )  # fmt: skip
    begins = [place for place in range(len(labels)) if place == 0 or labels[place] != labels[place - 1]]
    middles = [(begin + end - 1) / 2 for begin, end in zip(begins, [*begins[1:], len(labels)])]
    for place in begins[1:]:
        for add in (figure.add_hline, figure.add_vline):
            add(place - 0.5, line={"color": WHITE, "width": 1.5})
    names = [in_chart(labels[place], _WORD) for place in begins]
    ticks = {"tickvals": middles, "ticktext": names, "title": None, "showgrid": False}
    figure.update_layout(
        height=480, margin={**MARGIN, "t": 10}, xaxis={**ticks},
        yaxis={**ticks, "autorange": "reversed"},
    )  # fmt: skip
    return figure


def gram_text(sample: GramSample) -> str:
    """What `gram_heat_map` shows, in words."""
    same, other = sample.likeness()
    means = [
        f"mean {value:.3g} between observations of {what}"
        for value, what in ((same, "one label"), (other, "different labels"))
        if value is not None
    ]
    return f"Heat map of kernel values between {len(sample.rows)} training observations in order of labels; {', '.join(means)}"


@kept
def eigenvalue_line(spectrum: Spectrum) -> go.Figure:
    """Eigenvalues by rank; a dashed line at the effective rank."""
    own, largest = look(0), float(spectrum.eigenvalues[0]) if len(spectrum.eigenvalues) else 0.0
    shown = [float(value) for value in spectrum.eigenvalues if value > _SMALLEST * largest]
    figure = go.Figure(
        go.Scatter(
            x=list(range(1, len(shown) + 1)), y=shown, mode="lines+markers", line={"color": own.colour, "width": 2},
            marker={"symbol": own.marker, "size": 6}, hovertemplate="eigenvalue %{x}: %{y:.4g}<extra></extra>",
        )
    )  # fmt: skip
    figure.add_vline(
        x=spectrum.effective_rank, line={"color": GREY, "dash": "dash", "width": 2},
        annotation_text=f"effective rank {spectrum.effective_rank:.1f}", annotation_position="top right",
    )  # fmt: skip
    figure.update_layout(
        height=480, margin={**MARGIN, "t": 10}, showlegend=False,
        xaxis={"title": "number, largest first", "range": [0, len(spectrum.eigenvalues) + 1]},
        yaxis={"title": "eigenvalue", "type": "log", "dtick": 1, "exponentformat": "power"},
    )  # fmt: skip
    return figure


def eigenvalue_text(spectrum: Spectrum) -> str:
    first = ", ".join(f"{value:.3g}" for value in spectrum.eigenvalues[:5])
    rank = f"effective rank {spectrum.effective_rank:.1f}"
    return f"Eigenvalues, largest first: {first} and so on, {len(spectrum.eigenvalues)} in all; {rank}"
