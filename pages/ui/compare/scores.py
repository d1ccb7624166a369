"""Compare, tab Scores: all methods of a run, and each fold."""

from __future__ import annotations

import streamlit as st

from labseq_core.evaluation.metric import Metric
from labseq_core.evaluation.registry import compared_metrics
from pages.ui import cached as caching
from pages.ui.choices.registry import Compare
from pages.ui.drawing import charts, metrics
from pages.ui.drawing.downloads import csv_button, file_name
from pages.ui.memory import FinishedRun


def tab(run: FinishedRun) -> None:
    summary = run.summary()
    chart, meaning = st.columns([3, 2], gap="large")
    with chart:
        bayes = caching.bayes_accuracies(run.config)
        charts.draw(charts.score_bars(summary, bayes), "scores", charts.score_text(summary, bayes))
        if bayes:
            st.caption(metrics.bayes_words(bayes))
    with meaning:
        st.header("What the numbers mean")
        st.markdown(metrics.definitions(summary))
        st.download_button(
            "All numbers as CSV", run.csv(), file_name("scores", run.run_id), "text/csv", on_click="ignore",
            icon=":material/download:", type="primary",
            help="One row per method and fold, full precision, with run id, seed and configuration hash.",
        )  # fmt: skip
    st.table(metrics.summary_table(summary, whole=True))
    csv_button("These means and errors as CSV", summary, "summary", run)
    _details(run)


def choose_score(run: FinishedRun, help_text: str | None = None) -> Metric:
    """A metric by which methods can be told apart: token accuracy, or span F1 where labels are BIO."""
    summary = run.summary()
    titles = {
        metric.title: metric
        for metric in compared_metrics()
        if all(row[f"{metric.name}_mean"] is not None for row in summary)
    }
    return titles[Compare.score.buttons("Score", list(titles), help=help_text)]


def _details(run: FinishedRun) -> None:
    with st.expander("Every fold"):
        st.dataframe(metrics.fold_table(run), hide_index=True, column_config=metrics.column_formats())
        csv_button("Every fold as CSV, with times", run.rows, "folds", run)
    if run.searches:
        with st.expander("What was tried on development data", expanded=True):
            tried = metrics.search_table(run)
            st.dataframe(tried, hide_index=True, column_config=metrics.column_formats())
            st.caption(
                "The values with the best score were used. Score: span F1 where labels are BIO, else token accuracy."
            )
            csv_button("Tried values as CSV", tried, "searches", run)
