"""Inside, lower half of the tab Weights: how few weights are enough, by the strength of the absolute penalty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from labseq_core.experiments.results.l1_path import L1_COLUMNS, l1_paths
from labseq_core.explain import rows_csv
from pages.ui import cached as caching
from pages.ui.drawing import charts
from pages.ui.drawing.charts import LEGEND, MARGIN, kept
from pages.ui.drawing.colours import look
from pages.ui.drawing.downloads import csv_button
from pages.ui.memory import FinishedRun

DEFAULT = "l1-path"
INTRODUCTION = (
    "The penalty `l1`·Σ|λ| makes weights **exactly zero**: the larger `l1`, the fewer weights are left. Nearly all of them can "
    "go before accuracy falls, since most belong to attributes that were seen once or twice."
)
READ = (
    "From left to right the penalty grows. Left: how many weights are left, on a scale of powers of ten. Right: how good the "
    "model still is on the test part, with standard errors where there are folds. A good `l1` is the last one before the "
    "right curve bends down."
)
TRY = (
    "**What to try.** Train CRFs with several values of `l1` in one run: this section then shows *your* path. On the command "
    "line: `labseq compare --dataset spanish-ner --methods crf:l1=0.1,crf:l1=1,crf:l1=10`. Beside it, boosting gets few "
    "weights by taking one at a time (tab Boosting)."
)
OTHER = "This run has no two models that differ in `l1` only, so the path that comes with LabSeq is shown."
NONE = "There is no L1 path to show: train CRFs that differ in `l1` only, or make the usual one by `labseq defaults`."
_SCORES = {"accuracy": "accuracy", "span_f1": "F1 of segments"}


def show(run: FinishedRun) -> None:
    """The paths of a run, or of the default result."""
    paths = l1_paths(run)
    own = bool(paths)
    if not own:
        run = caching.defaults().get(DEFAULT)
        paths = l1_paths(run) if run else {}
    if not paths:
        st.info(NONE, icon=":material/info:")
        return
    st.header("Fewer weights: the L1 path")
    st.markdown(INTRODUCTION)
    if not own:
        st.caption(f"{OTHER} ({caching.default_line(run)})")
    scores = [score for score in _SCORES if all(row[score] is not None for rows in paths.values() for row in rows)]
    left, right = st.columns(2, gap="large")
    with left:
        charts.draw(_weights_left(paths), "l1-weights", _text("Weights other than 0", paths, "nonzero"))
    with right:
        charts.draw(_scores(paths, scores), "l1-scores", _text("Accuracy", paths, "accuracy"))
    st.caption(READ)
    st.dataframe(_table(paths, scores), hide_index=True)
    csv_button("This path as CSV", partial(rows_csv, paths, L1_COLUMNS), "l1-path", run)
    st.markdown(TRY)


def _ticks(paths: Mapping[str, Sequence[dict]]) -> list[str]:
    """Values of l1 stand one beside the other: 0 has no place on a scale of powers of ten."""
    return [f"{value:g}" for value in sorted({row["l1"] for rows in paths.values() for row in rows})]


def _axis(paths: Mapping[str, Sequence[dict]]) -> dict:
    return {"title": "l1", "type": "category", "categoryorder": "array", "categoryarray": _ticks(paths)}


@kept
def _weights_left(paths: Mapping[str, Sequence[dict]]) -> go.Figure:
    figure = go.Figure()
    for place, (name, rows) in enumerate(paths.items()):
        own = look(place)
        figure.add_scatter(
            x=[f"{row['l1']:g}" for row in rows], y=[row["nonzero"] for row in rows], name=name, mode="lines+markers+text",
            text=[f"{row['share']:.1%}" for row in rows], textposition="top right", cliponaxis=False, showlegend=len(paths) > 1,
            line={"color": own.colour, "dash": own.dash, "width": 2.5}, marker={"symbol": own.marker, "size": 9},
            hovertemplate="l1 = %{x}: %{y:,.0f} weights, %{text}<extra>" + name + "</extra>",
        )  # fmt: skip
    figure.update_layout(
        height=340, margin={**MARGIN, "r": 40}, legend=LEGEND, xaxis=_axis(paths),
        yaxis={"title": "weights other than 0", "type": "log", "dtick": 1, "exponentformat": "SI"},
    )  # fmt: skip
    return figure


@kept
def _scores(paths: Mapping[str, Sequence[dict]], scores: Sequence[str]) -> go.Figure:
    figure, place = go.Figure(), 0
    for name, rows in paths.items():
        for score in scores:
            own, place = look(place), place + 1
            errors = [row[f"{score}_se"] for row in rows]
            title = f"{name}: {_SCORES[score]}" if len(paths) > 1 else _SCORES[score]
            figure.add_scatter(
                x=[f"{row['l1']:g}" for row in rows], y=[row[score] for row in rows], name=title, mode="lines+markers",
                error_y=None if None in errors else {"type": "data", "array": errors},
                line={"color": own.colour, "dash": own.dash, "width": 2.5}, marker={"symbol": own.marker, "size": 9},
                hovertemplate="l1 = %{x}: %{y:.4f}<extra>" + title + "</extra>",
            )  # fmt: skip
    figure.update_layout(
        height=340, margin=MARGIN, legend=LEGEND, xaxis=_axis(paths), yaxis={"title": None, "tickformat": ".2f"},
        showlegend=True,
    )  # fmt: skip
    return figure


def _table(paths: Mapping[str, Sequence[dict]], scores: Sequence[str]) -> pd.DataFrame:
    several = len(paths) > 1
    return pd.DataFrame(
        [
            ({"model": name} if several else {})
            | {"l1": f"{row['l1']:g}", "weights left": f"{row['nonzero']:,.0f}", "of all": f"{row['share']:.2%}"}
            | {_SCORES[score]: f"{row[score]:.4f}" for score in scores}
            for name, rows in paths.items()
            for row in rows
        ]
    )


def _text(what: str, paths: Mapping[str, Sequence[dict]], column: str) -> str:
    parts = [f"{name}: " + ", ".join(f"{row[column]:.4g} at l1 = {row['l1']:g}" for row in rows)
             for name, rows in paths.items()]  # fmt: skip
    return f"{what} by strength of the L1 penalty. {'; '.join(parts)}"
