"""Compare, tab Sparsity: how good each variant is, against how much of what it could use it uses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from labseq_core.evaluation.metric import Metric
from labseq_core.evaluation.registry import METRICS
from labseq_core.evaluation.token import DEV_ACCURACY
from labseq_core.experiments.results.l1_path import l1_groups
from labseq_core.explain import has_rounds, is_sparse_gp, share_path
from labseq_core.learners.registry import find_method
from pages.ui import cached as caching
from pages.ui.choices.registry import Compare
from pages.ui.choices.variant_names import short_names
from pages.ui.compare import words
from pages.ui.drawing import charts
from pages.ui.drawing.charts import LEGEND, MARGIN, in_lines, kept
from pages.ui.drawing.colours import GREY, look
from pages.ui.drawing.downloads import csv_button
from pages.ui.drawing.metrics import mean_and_error
from pages.ui.memory import FinishedRun

_LARGEST_LOW, _ROOM = 0.1, 0.08  # of the axis: its left end, and room beyond 100 %, in powers of ten
_OF_MODELS = ("model", "timing")  # metrics that are no quality


def tab(run: FinishedRun) -> None:
    st.header("Quality against sparsity")
    st.markdown(words.SPARSITY)
    summary, names = run.summary(), short_names(run.config.methods)
    metric = _choose_quality(summary)
    marks = sparsity_rows(summary, metric)
    if not marks:
        st.info(words.NO_SHARE, icon=":material/info:")
        return
    ways = _ways(run, metric)
    joined = [[choice.label for choice in choices] for choices in l1_groups(run).values()]
    picture = sparsity_chart(marks, ways, joined, names, metric.title, metric.form)
    charts.draw(picture, "sparsity", sparsity_text(marks, ways, names, metric))
    st.caption(words.sparsity_paths(bool(ways), bool(joined), metric == DEV_ACCURACY, bool(run.config.folds)))
    nothing = [names[row["label"]] for row in marks if not row["share"]]
    if nothing:
        st.caption(f"Not drawn, since a logarithmic axis has no 0: {words.listed(nothing)}, which used nothing.")
    st.table(sparsity_table(marks, names, metric))
    rows = [{"kind": "variant", **row} for row in marks]
    rows += [{"kind": "path", "label": label, **row} for label, way in ways.items() for row in way]
    csv_button("Marks and paths as CSV", rows, "sparsity", run, more={"metric": metric.name})


def _choose_quality(summary: list[dict]) -> Metric:
    """A metric of labels or probabilities; at first one on which paths are known too, where there is one."""
    known = {
        name: metric for name, metric in METRICS.items()
        if metric.better and metric.needs not in _OF_MODELS and any(row[f"{name}_mean"] is not None for row in summary)
    }  # fmt: skip
    usual = DEV_ACCURACY.name if DEV_ACCURACY.name in known else next(iter(known))
    titles = {name: metric.title for name, metric in known.items()}
    name = Compare.quality.choose("Metric", list(known), usual, lambda name: titles.get(name, name), width=300)
    return known[name]


def sparsity_rows(summary: list[dict], metric: Metric) -> list[dict]:
    """A row per variant that says its share and has the metric: share, of what, and the metric with its standard error."""
    mean, error = f"{metric.name}_mean", f"{metric.name}_se"
    return [
        {
            "label": row["label"], "share": row["used_share_mean"], "of": row["used_of"], "value": row[mean],
            "standard_error": row[error],
        }
        for row in summary if row["used_share_mean"] is not None and row[mean] is not None
    ]  # fmt: skip


def _ways(run: FinishedRun, metric: Metric) -> dict[str, list[dict]]:
    """By label how models that take one thing after the other got to their share; such accuracies are by Viterbi, on
    development data.
    """
    if metric != DEV_ACCURACY:
        return {}
    ways = {}
    for choice in run.config.methods:
        learner = find_method(choice.method).learner
        followed = (has_rounds(learner) or is_sparse_gp(learner)) and choice.decoding == "viterbi"
        if followed and choice.label in run.per_label and (rows := share_path(caching.trained(run, choice.label))):
            ways[choice.label] = [{"share": row["share"], "value": row["dev_accuracy"]} for row in rows]
    return ways


def sparsity_table(marks: Sequence[dict], names: Mapping[str, str], metric: Metric) -> pd.DataFrame:
    shown = {
        names[row["label"]]: {
            "Share used": f"{row['share']:.2%}",
            "of": row["of"],
            metric.title: mean_and_error(metric, row["value"], row["standard_error"]),
        }
        for row in marks
    }
    return pd.DataFrame.from_dict(shown, orient="index").rename_axis("Variant")


@kept
def sparsity_chart(
    marks: Sequence[dict],
    ways: Mapping[str, Sequence[dict]],
    joined: Sequence[Sequence[str]],
    names: Mapping[str, str],
    title: str,
    form: str,
) -> go.Figure:
    """A mark per variant, thin lines for the ways to it, broken grey lines between variants of one L1 path."""
    figure, places = go.Figure(), {row["label"]: row for row in marks if row["share"]}
    for labels in joined:
        path = [places[label] for label in labels if label in places]
        figure.add_scatter(
            x=[row["share"] for row in path], y=[row["value"] for row in path], mode="lines", hoverinfo="skip",
            line={"color": GREY, "width": 2, "dash": "dash"}, name="L1 path", showlegend=False,
        )  # fmt: skip
    for place, row in enumerate(marks):
        own, label = look(place), row["label"]
        if label in ways:
            figure.add_scatter(
                x=[step["share"] for step in ways[label]], y=[step["value"] for step in ways[label]], mode="lines",
                line={"color": own.colour, "dash": own.dash, "width": 1.5}, legendgroup=label, showlegend=False,
                name=f"{label}, on the way", hovertemplate=f"%{{x:.3%}}: %{{y:.4f}}<extra>{label}, on the way</extra>",
            )  # fmt: skip
        if label in places:
            error, written = row["standard_error"], form.format(row["value"])
            figure.add_scatter(
                x=[row["share"]], y=[row["value"]], mode="markers", name=in_lines(names[label]), legendgroup=label,
                error_y=None if error is None else {"type": "data", "array": [error], "color": own.colour},
                marker={"symbol": own.marker, "color": own.colour, "size": 14, "line": {"width": 1, "color": GREY}},
                hovertemplate=f"%{{x:.3%}} of {row['of']}: {written}<extra>{label}</extra>",
            )  # fmt: skip
    drawn = [row["share"] for row in places.values()] + [step["share"] for way in ways.values() for step in way]
    low = math.log10(min([*drawn, _LARGEST_LOW])) - _ROOM
    figure.update_layout(
        height=440, margin=MARGIN, legend=LEGEND, yaxis={"title": title}, showlegend=True,
        xaxis={"type": "log", "title": "share used", "tickformat": "~%", "dtick": 1, "range": [low, _ROOM]},
    )  # fmt: skip
    return figure


def sparsity_text(
    marks: Sequence[dict], ways: Mapping[str, Sequence[dict]], names: Mapping[str, str], metric: Metric
) -> str:
    """What `sparsity_chart` shows, in words."""
    shown = [
        f"{names[row['label']]} {metric.written(row['value'])} with {row['share']:.2%} of {row['of']}" for row in marks
    ]
    shown += [
        f"{names[label]} began at {metric.written(way[0]['value'])} with {way[0]['share']:.2%}"
        for label, way in ways.items()
    ]
    return f"{metric.title} against the share used: {'; '.join(shown)}"
