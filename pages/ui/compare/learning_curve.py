"""Compare, tab Learning curve: what more training data buys."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from labseq_core.evaluation.metric import Metric
from labseq_core.evaluation.token import ACCURACY
from labseq_core.experiments import ExperimentConfig
from labseq_core.experiments.results.learning_curve import (
    CurveStatus,
    cancel_curve,
    curve_status,
    learning_curve_configs,
    submit_curve,
)
from pages.ui.choices.registry import RUN
from pages.ui.choices.variant_names import short_names
from pages.ui.compare import cached as caching_compare
from pages.ui.compare import charts as pictures
from pages.ui.compare import words
from pages.ui.compare.scores import choose_score
from pages.ui.drawing import charts
from pages.ui.drawing.downloads import csv_button
from pages.ui.drawing.imported import imported_rows_mark
from pages.ui.drawing.metrics import mean_and_error
from pages.ui.memory import FinishedRun

_INTERVAL = 1.5  # seconds between two looks


def tab(run: FinishedRun) -> None:
    st.header("What more training data buys")
    st.caption(words.CURVE)
    prepared = caching_compare.prepared_curve(run.config)
    now = curve_status(run.config)
    if now.done:
        _curve(run, run.config, caching_compare.finished_curve(run.config, now))
    elif prepared:
        _curve(run, run.config, prepared)
    else:
        _not_made(run, now)


def _not_made(run: FinishedRun, now: CurveStatus) -> None:
    for error in now.errors:
        st.warning(error, icon=":material/error:")
    if now.active:
        st.fragment(_progress, run_every=_INTERVAL)(run.config)
    else:
        st.markdown(words.to_make(len(now.runs)))
        if st.button("Make the learning curve", type="primary", icon=":material/show_chart:"):
            # Otherwise the page would go on with the newest run, which is a point of the curve.
            RUN.change(run.run_id)
            submit_curve(run.config)
            st.rerun()
    example = caching_compare.example_curve()
    if example:
        st.header("Meanwhile: one that comes with LabSeq")
        st.caption(words.example(example.config))
        _curve(run, example.config, example.rows)


def _progress(config: ExperimentConfig) -> None:
    now = curve_status(config)
    if not now.active:
        st.rerun()
    text, button = st.columns([4, 1], vertical_alignment="center")
    done = sum(run is not None and run.state == "done" for run in now.runs)
    text.progress(now.fraction, text=f"{done} of {len(now.runs)} runs are done ({now.fraction:.0%})")
    button.button("Cancel", icon=":material/stop_circle:", on_click=cancel_curve, args=(config,), width="stretch")


def _curve(run: FinishedRun, config: ExperimentConfig, rows: list[dict]) -> None:
    score = choose_score(run)
    score = score if any(row.get(score.name) is not None for row in rows) else ACCURACY
    names = short_names(config.methods)
    imported_rows_mark(rows)
    charts.draw(
        pictures.curve_chart(rows, names, score.name, score.title), "learning-curve",
        pictures.curve_text(rows, score.name, score.title),
    )  # fmt: skip
    st.table(curve_table(rows, names, score))
    csv_button("The learning curve as CSV", rows, "learning-curve")
    with st.expander("The runs of this curve"):
        st.code(
            "\n".join(each.cli_command() for each in learning_curve_configs(config)), language="bash", wrap_lines=True
        )


def curve_table(rows: list[dict], names: dict[str, str], score: Metric) -> pd.DataFrame:
    """A row per method, a column per number of training sequences."""
    shown: dict[str, dict[str, str]] = {}
    for row in rows:
        text = mean_and_error(score, row[score.name], row[f"{score.name}_se"])
        shown.setdefault(names[row["label"]], {})[f"{row['sequences']:,} sequences"] = text
    return pd.DataFrame.from_dict(shown, orient="index").fillna("–").rename_axis("Method")
