"""Compare, tab Measures: all methods of a run by any measure, and what quality costs."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from labseq_core.evaluation.metric import Metric
from labseq_core.evaluation.pareto import pareto_front
from labseq_core.evaluation.registry import METRICS
from pages.ui.choices.registry import Compare
from pages.ui.choices.variant_names import short_names
from pages.ui.compare import charts as pictures
from pages.ui.compare import words
from pages.ui.compare.scores import choose_score
from pages.ui.drawing import charts
from pages.ui.drawing.chart_margins import FEW
from pages.ui.drawing.downloads import csv_button
from pages.ui.memory import FinishedRun


def tab(run: FinishedRun) -> None:
    _any_measure(run)
    _front(run, run.summary())


def _any_measure(run: FinishedRun) -> None:
    st.header("Any measure")
    measured = [name for name in METRICS if any(row.get(name) is not None for row in run.rows)]
    titles = {name: METRICS[name].title for name in measured}
    chart, table = st.columns(2, gap="large")
    with table:
        name = Compare.metric.choose("Measure", measured, "accuracy", lambda name: titles.get(name, name))
        metric, rows = METRICS[name], measure_rows(run, name)
        st.caption(f"{metric.title}: {metric.meaning}. {words.BETTER[metric.better]}")
        names = short_names(run.config.methods)
        st.table(measure_table(rows, names, metric))
        csv_button("This measure as CSV", rows, name, run, more={"metric": name})
    with chart:
        picture = pictures.measure_dots(rows, names, metric.title, metric.form)
        charts.draw(picture, name.replace("_", "-"), pictures.measure_text(rows, metric.title, metric.form))
        st.caption(words.ERRORS if run.config.folds else words.SINGLE)


def measure_table(rows: list[dict], names: dict[str, str], metric: Metric) -> pd.DataFrame:
    """A column per variant, since folds may be many; of many variants a row for each."""
    shown = {
        names[row["label"]]: {_heading(key): metric.written(value) for key, value in row.items() if key != "label"}
        for row in rows
    }
    table = pd.DataFrame.from_dict(shown)
    return (table if len(rows) <= FEW else table.T).rename_axis(metric.title)


def measure_rows(run: FinishedRun, name: str) -> list[dict]:
    """Per method that has a metric: mean, standard error, and the value in each fold."""
    rows = []
    for entry in run.summary():
        if entry[f"{name}_mean"] is None:
            continue
        own = [row for row in run.rows if row["label"] == entry["label"]]
        folds = {f"fold {row['fold'] + 1}": row.get(name) for row in own} if run.config.folds else {}
        rows.append(
            {"label": entry["label"], "mean": entry[f"{name}_mean"], "standard_error": entry[f"{name}_se"], **folds}
        )
    return rows


def _heading(key: str) -> str:
    return key.replace("_", " ").capitalize()


def _front(run: FinishedRun, summary: list[dict]) -> None:
    st.header("Quality against time")
    names = short_names(run.config.methods)
    chart, story = st.columns([3, 2], gap="large")
    with story:
        score = choose_score(run)
        front = on_front(summary, score)
        st.markdown(words.front_line([names[row["label"]] for row in summary], front))
        st.caption(words.FRONT)
        rows = [
            {"label": row["label"], "train_seconds": row["train_seconds_mean"],
             score.name: row[f"{score.name}_mean"], "on_front": chosen}
            for row, chosen in zip(summary, front)
        ]  # fmt: skip
        csv_button("These points as CSV", rows, "front", run)
    with chart:
        picture = pictures.front_chart(summary, names, front, score.name, score.title)
        charts.draw(picture, "front", pictures.front_text(summary, front, score.name, score.title))


def on_front(summary: list[dict], score: Metric) -> list[bool]:
    """Which methods no other one beats in both time and score."""
    gains = [score.gain(row[f"{score.name}_mean"]) for row in summary]
    return pareto_front([row["train_seconds_mean"] for row in summary], gains)
