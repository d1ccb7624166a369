"""Charts: data in, figure out. Every chart has a text alternative and can be saved from its toolbar."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from hashlib import sha256
from itertools import islice
from math import isfinite
from threading import Lock

import plotly.graph_objects as go
import streamlit as st

from labseq_core.evaluation.metric import Metric
from labseq_core.experiments.plan.decoding_words import DECODING_TITLES
from labseq_core.serving.streamlit_inside import CLICKABLE_CHART
from pages.ui.choices.registry import FIGURES
from pages.ui.drawing.chart_margins import FEW, with_room
from pages.ui.drawing.colours import GREY, WHITE, look
from pages.ui.drawing.metrics import shown_metrics
from pages.ui.drawing.plain_text import names_in_chart, shortened
from pages.ui.drawing.tokens import LABELS_SHOWN

FIGURE_FORMATS = ("PNG", "SVG")
MARGIN = {"l": 10, "r": 10, "t": 36, "b": 10}
MARKED = 40  # points of a line with a mark each
CELL_LETTERS = 20  # of a label beside a matrix
_LEGEND_WIDTH, _LINE = 42, 18  # characters of a line in a legend, and its height
_NAME_WIDTH = 24  # characters of a line beside an axis, which a narrow screen has room for
_BAYES_DASHES = ("dash", "dot")
_MOST_KEPT = 100
_kept: dict[bytes, go.Figure] = {}
_kept_lock = Lock()
LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "title": None, "font": {"size": 14}}


def kept(chart: Callable[..., go.Figure]) -> Callable[..., go.Figure]:
    """A chart of the same data is made once: to make one takes plotly longer than to send it.

    All visitors share it, so nothing may change it: a chart is finished when the function that makes it returns.
    """

    @wraps(chart)
    def made(*data, **options) -> go.Figure:
        key = sha256(pickle.dumps((chart.__module__, chart.__qualname__, data, options))).digest()
        with _kept_lock:
            figure = _kept.pop(key, None)
        figure = with_room(chart(*data, **options)) if figure is None else figure
        with _kept_lock:
            _kept[key] = figure  # the last one used is the last to go
            while len(_kept) > _MOST_KEPT:
                del _kept[next(iter(_kept))]
        return figure

    return made


def clickable(figure: go.Figure) -> go.Figure:
    """To be called while a chart is made whose marks are clicked: Streamlit would set the same in the browser, and the chart
    would be drawn twice.
    """
    return figure.update_layout(CLICKABLE_CHART)


def choose_figure_format() -> None:
    """Which kind of file the camera button of every chart saves."""
    FIGURES.buttons(
        "Charts save as", FIGURE_FORMATS, help="The camera button above a chart saves it; SVG stays sharp at any size."
    )


def draw(figure: go.Figure, name: str, alt: str, clicked: Callable[[object], None] | None = None) -> None:
    """Put a figure on the page. `name` becomes the name of a saved file, `alt` is read aloud.

    clicked: told the `customdata` of a marker that was clicked, before the page runs again; such a figure should have been
    made `clickable`.
    """
    kind = FIGURES.text or FIGURE_FORMATS[0]
    config = {
        "displaylogo": False,
        "displayModeBar": "hover",
        "modeBarButtonsToRemove": ["lasso2d", "select2d", "zoomIn2d", "zoomOut2d", "autoScale2d"],
        "toImageButtonOptions": {"format": kind.lower(), "filename": f"labseq-{name}", "scale": 2},
    }
    key = f"chart.{name}"
    if clicked is None:
        st.plotly_chart(figure, key=key, config=config, alt=alt)
        return

    def selected() -> None:
        points = st.session_state[key]["selection"]["points"]
        if points:
            clicked(points[0]["customdata"])

    st.plotly_chart(figure, key=key, config=config, alt=alt, on_select=selected, selection_mode="points")


@kept
def score_bars(summary: list[dict], bayes: Mapping[str, float] | None = None) -> go.Figure:
    """Scores of each method with standard errors; a dashed line over the accuracies is that of the true distribution.

    bayes: by decoding its accuracy, where it is known.
    """
    metrics = [metric for metric in shown_metrics(summary) if metric.share]
    if len(summary) > FEW:
        return _score_rows(summary, metrics, bayes or {})
    titles = [metric.title for metric in metrics]
    names = [in_lines(row["label"]) for row in summary]
    lines = sum(1 + name.count("<br>") for name in names)
    figure = go.Figure()
    for place, row in enumerate(summary):
        own = look(place)
        means = [row[f"{metric.name}_mean"] for metric in metrics]
        errors = [row[f"{metric.name}_se"] for metric in metrics]
        figure.add_bar(
            name=names[place], x=titles, y=means,
            error_y={"type": "data", "array": errors, "color": GREY, "thickness": 2, "width": 6}
            if None not in errors else None,
            text=[f"{mean:.3f}" for mean in means], textposition="inside", insidetextanchor="middle", textangle=0,
            textfont={"color": own.text, "size": 15, "weight": 600}, cliponaxis=False,
            marker={"color": own.colour, "line": {"color": own.colour, "width": 1},
                    "pattern": {"shape": own.pattern, "fillmode": "overlay", "fgcolor": WHITE, "fgopacity": 0.35,
                                "size": 14, "solidity": 0.13}},
            hovertemplate="%{x}: %{y:.4f}<extra>" + row["label"] + "</extra>",
        )  # fmt: skip
    if bayes:
        _bayes_lines(figure, bayes)
    figure.update_layout(
        barmode="group", bargap=0.18, bargroupgap=0.05, margin=MARGIN, height=400 + _LINE * max(0, lines - len(names)),
        yaxis={"range": [0, 1.09], "tickvals": [0, 0.2, 0.4, 0.6, 0.8, 1.0], "title": None},
        xaxis={"title": None, "tickfont": {"size": 14}},
        legend=LEGEND,
    )  # fmt: skip
    return figure


def _score_rows(summary: list[dict], metrics: Sequence[Metric], bayes: Mapping[str, float]) -> go.Figure:
    """The same of many variants: a row for each with its name beside it, a bar for each metric."""
    names = [in_lines(row["label"], _NAME_WIDTH) for row in summary]
    figure = go.Figure()
    for place, metric in enumerate(metrics):
        own, means = look(place), [row[f"{metric.name}_mean"] for row in summary]
        errors = [row[f"{metric.name}_se"] for row in summary]
        figure.add_bar(
            name=metric.title, y=names, x=means, orientation="h", text=[f"{mean:.3f}" for mean in means],
            textposition="auto", insidetextanchor="start", textangle=0, cliponaxis=False,
            error_x=None if None in errors else {"type": "data", "array": errors, "color": GREY, "thickness": 2},
            marker={"color": own.colour}, hovertemplate="%{y}: %{x:.4f}<extra>" + metric.title + "</extra>",
        )  # fmt: skip
    for (_, value), dash in zip(bayes.items(), _BAYES_DASHES):
        figure.add_vline(x=value, line={"color": GREY, "width": 2, "dash": dash})
    height = max(18 * len(metrics), _LINE * max(1 + name.count("<br>") for name in names)) + 12
    figure.update_layout(
        barmode="group", bargap=0.2, bargroupgap=0.05, margin=MARGIN, height=height * len(summary) + 120, legend=LEGEND,
        xaxis={"range": [0, 1.09], "title": {"text": "<br>".join(_bayes_names(bayes)), "standoff": 8}},
        yaxis={"type": "category", "autorange": "reversed", "title": None}, showlegend=True,
    )  # fmt: skip
    return figure


def in_lines(name: str, width: int = _LEGEND_WIDTH) -> str:
    """A method with many options over several lines: a legend cuts off what is long, and that is where methods differ."""
    lines = [""]
    for part in re.split(r"(?<=, )|(?<= )(?=\()", name):
        if lines[-1] and len(lines[-1] + part) > width:
            lines.append("")
        lines[-1] += part
    return "<br>".join(lines)


def _bayes_lines(figure: go.Figure, bayes: Mapping[str, float]) -> None:
    """A line for each decoding, and one name for all: they are close to one another."""
    for (_, value), dash in zip(bayes.items(), _BAYES_DASHES):
        # On an axis of categories, positions are counted from 0: this spans the first group only, the accuracies.
        line = {"color": GREY, "width": 2, "dash": dash}
        figure.add_shape(type="line", x0=-0.45, x1=0.45, y0=value, y1=value, line=line)
    named = "<br>".join(_bayes_names(bayes))
    figure.add_annotation(
        x=0, y=max(bayes.values()), text=named, showarrow=False, yanchor="bottom", yshift=6, font={"size": 13}
    )


def _bayes_names(bayes: Mapping[str, float]) -> list[str]:
    return [f"Bayes, {DECODING_TITLES[decoding]} {value:.3f}" for decoding, value in bayes.items()]


def score_text(summary: list[dict], bayes: Mapping[str, float]) -> str:
    """What `score_bars` shows, in words."""
    metrics = [metric for metric in shown_metrics(summary) if metric.share]
    rows = [
        f"{row['label']}: " + ", ".join(f"{metric.title} {row[f'{metric.name}_mean']:.3f}" for metric in metrics)
        for row in summary
    ]
    rows += [
        f"true distribution, decoded by {DECODING_TITLES[decoding]}: {value:.3f}" for decoding, value in bayes.items()
    ]
    return "Bar chart of scores. " + "; ".join(rows)


@kept
def label_bars(counts: dict[str, int]) -> go.Figure:
    """How often each label occurs, most frequent on top; only the most frequent ones of very many."""
    own = look(0)
    counts = dict(islice(counts.items(), LABELS_SHOWN))
    figure = go.Figure(
        go.Bar(
            x=list(counts.values()), y=names_in_chart(counts), orientation="h", marker={"color": own.colour},
            text=[f"{count:,}" for count in counts.values()], textposition="outside", cliponaxis=False,
            hovertemplate="%{y}: %{x:,} tokens<extra></extra>",
        )
    )  # fmt: skip
    figure.update_layout(
        height=max(260, 22 * len(counts) + 70), margin={**MARGIN, "t": 10}, bargap=0.2,
        xaxis={"title": "tokens", "range": [0, 1.15 * max(counts.values())]},
        yaxis={"autorange": "reversed", "type": "category", "title": None},
    )  # fmt: skip
    return figure


@kept
def length_histogram(bins: list[dict]) -> go.Figure:
    """How long the sequences are; bins: from, to, sequences."""
    own = look(2)
    ranges = [f"{each['from']} to {each['to']}" if each["to"] > each["from"] else f"{each['from']}" for each in bins]
    figure = go.Figure(
        go.Bar(
            x=[each["from"] for each in bins], y=[each["sequences"] for each in bins], customdata=ranges,
            width=[each["to"] - each["from"] + 1 for each in bins], offset=-0.5,
            marker={"color": own.colour, "line": {"width": 1, "color": "rgba(128,128,128,0.6)"}},
            hovertemplate="%{customdata} tokens: %{y:,} sequences<extra></extra>",
        )
    )  # fmt: skip
    figure.update_layout(
        height=260, margin={**MARGIN, "t": 10}, xaxis={"title": "tokens in a sequence"}, yaxis={"title": "sequences"}
    )
    return figure


@kept
def weight_bars(rows: list[dict]) -> go.Figure:
    """Weights of attributes, highest on top; those for a label and those against it differ in side, sign and colour."""
    weights = [row["weight"] for row in rows]
    reach = 1.25 * max(map(abs, weights))
    figure = go.Figure(
        go.Bar(
            x=weights, y=names_in_chart(row["attribute"] for row in rows), orientation="h",
            marker={"color": [look(0 if weight > 0 else 1).colour for weight in weights]},
            text=[f"{weight:+.2f}" for weight in weights], textposition="outside", cliponaxis=False,
            hovertemplate="%{y}: %{x:.5g}<extra></extra>",
        )
    )  # fmt: skip
    figure.update_layout(
        height=max(200, 22 * len(rows) + 70), margin={**MARGIN, "t": 10}, bargap=0.2,
        xaxis={"title": "weight", "range": [min(0.0, reach * _sign(min(weights))), max(0.0, reach * _sign(max(weights)))]},
        yaxis={"autorange": "reversed", "type": "category", "title": None},
    )  # fmt: skip
    return figure


def weight_text(label: str, rows: list[dict]) -> str:
    """What `weight_bars` shows, in words."""
    shown = ", ".join(f"{shortened(row['attribute'])} {row['weight']:+.2f}" for row in rows)
    return f"Bar chart of weights of {shortened(label)}, highest first: {shown}"


def _sign(number: float) -> int:
    return (number > 0) - (number < 0)


@kept
def transition_heat_map(labels: list[str], weights: list[list[float]]) -> go.Figure:
    """Rows are labels, columns the labels after them; what is forbidden (-inf) is a gap with a cross."""
    few, labels = len(labels) <= 12, names_in_chart(labels, CELL_LETTERS)
    shown = [[weight if isfinite(weight) else None for weight in row] for row in weights]
    texts = [["✕" if weight is None else f"{weight:.2f}" for weight in row] for row in shown]
    hints = [["forbidden" if weight is None else f"{weight:.5g}" for weight in row] for row in shown]
    reach = max((abs(weight) for row in shown for weight in row if weight is not None), default=0.0) or 1.0
    figure = go.Figure(
        go.Heatmap(
            z=shown, x=labels, y=labels, customdata=hints, text=texts if few else None,
            texttemplate="%{text}" if few else None, zmin=-reach, zmax=reach, autocolorscale=True, showscale=not few,
            xgap=1, ygap=1, hovertemplate="from %{y} to %{x}: %{customdata}<extra></extra>",
        )
    )  # fmt: skip
    figure.update_layout(
        height=min(700, 34 * len(labels) + 120), margin={**MARGIN, "t": 10},
        xaxis={"title": "to", "type": "category", "side": "bottom"},
        yaxis={"title": "from", "type": "category", "autorange": "reversed"},
    )  # fmt: skip
    return figure
