"""Charts of Gaussian processes: accuracy and objective against sparseness, and the certificate by iteration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from pages.ui.drawing.charts import LEGEND, MARGIN, kept
from pages.ui.drawing.colours import GREY, look

AXES = {"parameters": "fraction", "observations touched": "observations"}  # by name: the column of the path
_ROOM = 0.015  # of accuracy, above and below the lines
_FEW = 40  # points with a mark each


@kept
def against_sparseness(
    paths: Mapping[str, Sequence[dict]], axis: str, y: str, title: str, dense: Mapping[str, float], unit: str = ""
) -> go.Figure:
    """A line per sparse model; a broken grey one for each dense model. axis: of AXES. unit "%": shares as percentages."""
    figure, x = go.Figure(), AXES[axis]
    shown = ":.1%" if unit == "%" else ":.5g"
    for place, (name, rows) in enumerate(paths.items()):
        own, some = look(place), [row for row in rows if row[y] is not None]
        every = max(1, len(some) // _FEW)
        figure.add_scatter(
            x=[row[x] for row in some], y=[row[y] for row in some], name=name, mode="lines+markers",
            customdata=[row["coordinates"] for row in some], line={"color": own.colour, "dash": own.dash, "width": 2.5},
            marker={"symbol": own.marker, "size": [7 if not number % every else 0 for number in range(len(some))]},
            hovertemplate=f"%{{customdata:,}} coordinates, %{{x:.1%}}: %{{y{shown}}}<extra>{name}</extra>",
        )  # fmt: skip
    far = max((row[x] for rows in paths.values() for row in rows), default=1.0)
    for place, (name, value) in enumerate(dense.items()):
        figure.add_scatter(
            x=[0.0, far], y=[value, value], name=name, mode="lines",
            line={"color": GREY, "width": 2.5, "dash": look(place + 1).dash},
            hovertemplate=f"%{{y{shown}}}<extra>{name}</extra>",
        )  # fmt: skip
    if unit == "%":  # what an empty model guesses would squeeze all the rest together
        values = [row[y] for rows in paths.values() for row in rows if row["coordinates"] and row[y] is not None]
        figure.update_yaxes(
            range=[min([*values, *dense.values(), 1.0]) - _ROOM, max([*values, *dense.values(), 0.0]) + _ROOM]
        )
    figure.update_layout(
        height=380, margin=MARGIN, legend=LEGEND,
        xaxis={"title": f"% {axis}", "tickformat": ".1~%", "rangemode": "tozero"},
        yaxis={"title": title, "tickformat": ".0%"} if unit == "%" else {"title": title, "exponentformat": "SI"},
    )  # fmt: skip
    return figure


def sparseness_text(what: str, paths: Mapping[str, Sequence[dict]], y: str, dense: Mapping[str, float]) -> str:
    """The ends of the lines, in words."""
    ends = [f"{name} {rows[-1][y]:.4g} with {rows[-1]['coordinates']} coordinates" for name, rows in paths.items()]
    ends += [f"{name} {value:.4g}" for name, value in dense.items()]
    return f"{what} against sparseness. At the end: {', '.join(ends)}"


@kept
def certificate(models: Mapping[str, Sequence[dict]]) -> go.Figure:
    """The relative gap by iteration, on a scale of powers of ten; a line per dense model."""
    figure = go.Figure()
    for place, (name, rows) in enumerate(models.items()):
        own, some = look(place), [row for row in rows if row["relative_gap"]]
        figure.add_scatter(
            x=[row["iteration"] for row in some], y=[row["relative_gap"] for row in some], name=name, mode="lines+markers",
            customdata=[row["objective"] for row in some], showlegend=len(models) > 1,
            line={"color": own.colour, "dash": own.dash, "width": 2}, marker={"symbol": own.marker, "size": 4},
            hovertemplate="iteration %{x}: at most %{y:.3%} above the minimum, objective %{customdata:.6g}"
            f"<extra>{name}</extra>",
        )  # fmt: skip
    figure.update_layout(
        height=320, margin={**MARGIN, "t": 36 if len(models) > 1 else 10}, legend=LEGEND,
        xaxis={"title": "iteration", "rangemode": "tozero"},
        yaxis={"title": "gap / objective, at most", "type": "log", "dtick": 1, "tickformat": "~%"},
    )  # fmt: skip
    return figure


def certificate_text(models: Mapping[str, Sequence[dict]]) -> str:
    """What `certificate` shows, in words."""
    ends = ", ".join(f"{name} {rows[-1]['relative_gap']:.2%} after iteration {rows[-1]['iteration']}"
                     for name, rows in models.items())  # fmt: skip
    return f"Certified gap relative to the objective by iteration: {ends}"
