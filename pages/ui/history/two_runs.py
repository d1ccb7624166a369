"""Two runs side by side: in what they differ, and their scores."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from labseq_core.experiments import configuration, made_with, status, summary
from labseq_core.experiments.plan.decoding_words import decoding_line
from labseq_core.experiments.results.run_differences import config_entries, score_contrast, side_by_side
from labseq_core.experiments.service import is_default
from pages.ui import cached as caching
from pages.ui.choices.registry import History
from pages.ui.drawing.downloads import csv_button
from pages.ui.drawing.metrics import always_shown
from pages.ui.drawing.plain_text import in_markdown

_WHICH = ("first", "second")
_COSTS = {"train_seconds": ("Training, s", ".2f"), "n_parameters": ("Parameters", ",.0f")}


def two_runs(first: str, second: str) -> None:
    """The configurations and the scores of two runs."""
    st.header("Two runs side by side")
    for name, run_id in (("First", first), ("Second", second)):
        st.caption(f"{name}: {in_markdown(caching.run_line(run_id))}")
    only = History.differences.choose("Only differences", True)
    rows = _entries(first, second)
    shown = [row for row in rows if row["differs"] or not only]
    left, right = st.columns([2, 3], gap="large")
    with left:
        st.subheader("What was chosen")
        if shown:
            table = pd.DataFrame(shown)[["entry", "first", "second"]]
            st.dataframe(table, hide_index=True)
            csv_button("Configurations as CSV", table, "two-configurations", more=_ids(first, second))
        else:
            st.markdown("Nothing differs: the same configuration, data and versions.")
    with right:
        st.subheader("What came of it")
        _scores(first, second)


def _ids(first: str, second: str) -> dict[str, str]:
    return {f"run_id_{which}": run_id for which, run_id in zip(_WHICH, (first, second))}


def _entries(first: str, second: str) -> list[dict]:
    """Configuration, data and versions."""
    both = []
    for run_id in (first, second):
        if is_default(run_id):
            run = caching.finished(run_id)
            config, data, made = run.config, run.data_hash, run.versions
        else:
            config, made = configuration(run_id), made_with(run_id)
            data = summary(run_id).data_hash
        about = {"data": data or "–", **{f"version: {name}": version for name, version in made.items()}}
        both.append({**config_entries(config), "corpus": caching.corpus_name(config.dataset), **about})
    return side_by_side(*both)


def _scores(first: str, second: str) -> None:
    done = [_is_finished(run_id) for run_id in (first, second)]
    if not all(done):
        which = "Neither run is" if not any(done) else f"The {'second' if done[0] else 'first'} run is not"
        st.markdown(f"{which} finished, so there is nothing to compare yet.")
        return
    both = [caching.finished(run_id) for run_id in (first, second)]
    rows = score_contrast(*both, tuple(_shown()))
    st.dataframe(pd.DataFrame(map(_written, rows)), hide_index=True)
    for run, which in zip(both, _WHICH):
        st.caption(f"The {which} run: {decoding_line(run.config.methods)}")
    about = [{f"{name}_{which}": value for name, value in run.about().items()} for run, which in zip(both, _WHICH)]
    csv_button("Scores side by side as CSV", rows, "two-scores", more=about[0] | about[1])


def _shown() -> dict[str, tuple[str, str]]:
    """What is compared: its title, and how a value and a change of it are written."""
    return {metric.name: (metric.title, ".4f") for metric in always_shown()} | _COSTS


def _written(row: dict) -> dict:
    title, form = _shown()[row["score"]]
    values = {name: "–" if row[name] is None else f"{row[name]:{form}}" for name in ("first", "second")}
    change = "" if row["change"] is None else f"{row['change']:+{form}}"
    return {"method": row["method"], "score": title, **values, "change": change}


def _is_finished(run_id: str) -> bool:
    return is_default(run_id) or status(run_id).state == "done"
