"""Charts of abstention: precision against recall, risk against coverage, and the reliability diagram."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from labseq_core.evaluation import AbstentionCurve, Calibration
from pages.ui.drawing.charts import LEGEND, MARGIN, clickable, kept
from pages.ui.drawing.colours import GREY, look

_POINTS = 200  # of a curve
_AXES = {
    "recall": "recall: right answers out of all tokens", "precision": "precision: right out of answered",
    "coverage": "coverage: answered out of all tokens", "risk": "risk: wrong out of answered",
}  # fmt: skip
_RANGES = {"risk": {"rangemode": "tozero"}}
_SELECTED_OR_NOT = {"selected": {"marker": {"opacity": 1.0}}, "unselected": {"marker": {"opacity": 1.0}}}
_STEADY = 0.02  # of the tokens: with fewer answered a curve jumps, and would only stretch the axis


@kept
def precision_recall(
    curves: Mapping[str, AbstentionCurve], at: Sequence[dict], to_click: Sequence[dict] = ()
) -> go.Figure:
    """A curve per method; a large mark where the threshold is, small ones where it may be put by a click.

    at: rows of `compare_at`, in the order of the curves. to_click: rows of `threshold_table`.
    """
    return _curves(curves, at, to_click, "recall", "precision")


@kept
def risk_coverage(
    curves: Mapping[str, AbstentionCurve], at: Sequence[dict], to_click: Sequence[dict] = ()
) -> go.Figure:
    """The same as risk against coverage."""
    return _curves(curves, at, to_click, "coverage", "risk")


def curve_text(what: str, at: Sequence[dict], x: str, y: str) -> str:
    """What a chart shows at the threshold, in words."""
    shown = [
        f"{row['method']} {y} {row[y]:.3f} at {x} {row[x]:.3f}"
        if row["answered"]
        else f"{row['method']} answers nothing"
        for row in at
    ]
    return f"{what}, a curve per method. At the threshold: {'; '.join(shown)}"


def _curves(
    curves: Mapping[str, AbstentionCurve], at: Sequence[dict], to_click: Sequence[dict], x: str, y: str
) -> go.Figure:
    traces = []
    for place, ((name, curve), row) in enumerate(zip(curves.items(), at, strict=True)):
        own, shown = look(place), _thinned(curve)
        unit = "threshold" if curve.calibrated else "score gap"
        hover = f"{unit} %{{customdata:.3f}}<br>{x} %{{x:.3f}}, {y} %{{y:.3f}}<extra>{name}</extra>"
        curve_of = {"name": name, "legendgroup": name, "line": {"color": own.colour, "dash": own.dash, "width": 2.5}}
        traces.append(
            {**curve_of, "x": getattr(curve, x)[shown].tolist(), "y": getattr(curve, y)[shown].tolist(), "mode": "lines",
             "customdata": curve.thresholds[shown].tolist(), "showlegend": False, "hovertemplate": hover}
        )  # fmt: skip
        # A trace without any point would be missing in the legend.
        mark = {"color": own.colour, "symbol": own.marker, "size": 14, "line": {"color": GREY, "width": 1}}
        traces.append(
            {**curve_of, "x": [row[x] if row["answered"] else None], "y": [row[y]], "mode": "lines+markers",
             "customdata": [row["threshold"]], "hovertemplate": hover, "marker": mark, **_SELECTED_OR_NOT}
        )  # fmt: skip
        marks = [each for each in to_click if each["method"] == name and each["coverage"] >= _STEADY]
        if marks:
            said = hover.replace("customdata", "customdata[2]").replace("<extra>", "<extra>click to choose<br>")
            traces.append(
                {**curve_of, "x": [each[x] for each in marks], "y": [each[y] for each in marks], "mode": "markers",
                 "customdata": [[name, each["at"], each["threshold"]] for each in marks], "showlegend": False,
                 "marker": {"color": own.colour, "symbol": own.marker, "size": 7}, "hovertemplate": said, **_SELECTED_OR_NOT}
            )  # fmt: skip
    # All at once: to add traces one by one takes twice as long, at every move of the slider.
    figure = go.Figure(
        [{"type": "scatter", **trace} for trace in traces],
        {"height": 400, "margin": MARGIN, "legend": LEGEND, "uirevision": "keep the zoom while the slider moves",
         "xaxis": {"title": {"text": _AXES[x]}}, "yaxis": {"title": {"text": _AXES[y]}, **_RANGES.get(y, {})}},
    )  # fmt: skip
    return clickable(figure) if to_click else figure


def _thinned(curve: AbstentionCurve) -> np.ndarray:
    """Of very many steps only some, evenly in coverage, and the last; not those with hardly any answer."""
    first = int(np.searchsorted(curve.coverage, _STEADY))
    last = len(curve.thresholds) - 1
    wanted = np.linspace(curve.coverage[min(first, last)], 1.0, _POINTS)
    return np.unique(np.minimum(np.searchsorted(curve.coverage, wanted), last))


@kept
def reliability(calibrations: Mapping[str, Calibration]) -> go.Figure:
    """Promised against kept, a line per method; the grey line is where both are equal."""
    figure = go.Figure()
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", line={"color": GREY, "width": 2, "dash": "dash"}, name="promise kept",
        hoverinfo="skip",
    )  # fmt: skip
    lowest = 1.0
    for place, (name, scores) in enumerate(calibrations.items()):
        own, rows = look(place), [row for row in scores.reliability if row.tokens]
        lowest = min([lowest, *(min(row.confidence, row.accuracy) for row in rows)])
        figure.add_scatter(
            x=[row.confidence for row in rows], y=[row.accuracy for row in rows], name=name, mode="lines+markers",
            customdata=[row.tokens for row in rows], line={"color": own.colour, "dash": own.dash, "width": 2},
            marker={"symbol": own.marker, "size": 9},
            hovertemplate="%{customdata:,} tokens: promised %{x:.3f}, right %{y:.3f}<extra>" + name + "</extra>",
        )  # fmt: skip
    low = max(0.0, lowest - 0.05)
    figure.update_layout(
        height=400, margin=MARGIN, legend=LEGEND, xaxis={"title": "confidence: promised", "range": [low, 1.02]},
        yaxis={"title": "share that is right: kept", "range": [low, 1.04]},
    )  # fmt: skip
    return figure


def reliability_text(calibrations: Mapping[str, Calibration]) -> str:
    """What `reliability` shows, in words."""
    shown = ", ".join(f"{name} {scores.ece:.3f}" for name, scores in calibrations.items())
    return f"Reliability diagram: share of right tokens against confidence. Expected calibration error: {shown}"
