"""One run of the list: what it was, what came of it, and what can be done with it."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from labseq_core.experiments import (
    ExperimentConfig,
    RunStatus,
    RunSummary,
    configuration,
    delete,
    export_run,
    made_with,
    pin,
    status,
    summary,
)
from labseq_core.experiments.service import is_default
from pages.ui import cached as caching
from pages.ui.choices import links
from pages.ui.drawing.downloads import csv_button
from pages.ui.drawing.imported import imported_mark, with_mark
from pages.ui.drawing.metrics import score_table
from pages.ui.drawing.plain_text import in_markdown
from pages.ui.frame.errors import shown_errors
from pages.ui.history import list as history_list
from pages.ui.history.rows import OURS, moment
from pages.ui.memory import FinishedRun
from pages.ui.train import run_panel
from pages.ui.train.form_link import form_choices
from pages.ui.train.recipe import recipe


def one_run(run_id: str) -> None:
    """Everything about a run. What cannot be read is told; the rest, and deleting, still work."""
    if is_default(run_id):
        run = caching.finished(run_id)
        st.header(caching.corpus_name(run.config.dataset))
        st.caption(f"{run_id}, {OURS}. {caching.provenance(run)}")
        _open_buttons(run_id)
        _again(run.config)
        _scores(run)
        return
    run, now = summary(run_id), status(run_id)
    st.header(f"{caching.corpus_name(run.dataset)}: {caching.short_methods(run.labels)}")
    _facts(run, now)
    with st.container(horizontal=True):
        if now.state == "done":
            _open_buttons(run_id)
        elif now.active:
            links.go("Watch it on Train", "train", "visibility", main=True, job=run_id)
        else:
            goes_on_as = run_panel.go_on_button(run_id)
            if goes_on_as:
                st.switch_page("pages/train.py", query_params={"job": goes_on_as})
        _keep_buttons(run, now)
    with shown_errors():
        _again(configuration(run_id))
        if now.state == "done":
            _scores(caching.finished(run_id))


def _facts(run: RunSummary, now: RunStatus) -> None:
    finished = f", {'imported' if run.imported else 'over'} {moment(run.finished)}" if run.finished else ""
    data = f"data {run.data_hash}; " if run.data_hash else ""
    made = in_markdown(", ".join(f"{name} {version}" for name, version in made_with(run.run_id).items()))
    named = with_mark(f"Run {run.run_id}{', pinned' if run.pinned else ''}", run)
    st.caption(f"{named}; begun {moment(run.created)}{finished}; configuration {run.config_hash}, {data}{made}.")
    if now.active:
        st.progress(now.fraction, text=now.message)
    elif now.state != "done":
        run_panel.what_is_left(now)


def _open_buttons(run_id: str) -> None:
    links.go("Compare", "compare", "bar_chart", main=True, run=run_id)
    links.go("Abstain", "abstain", "front_hand", run=run_id)
    links.go("Inside", "inside", "search_insights", run=run_id)


def _keep_buttons(run: RunSummary, now: RunStatus) -> None:
    """Pin, export, delete."""
    if st.button("Unpin" if run.pinned else "Pin", icon=":material/keep:"):
        pin(run.run_id, not run.pinned)
        st.rerun()
    if now.state == "done":
        st.download_button(
            "Export", lambda: export_run(run.run_id), f"labseq-{run.run_id}.zip", "application/zip", on_click="ignore",
            icon=":material/folder_zip:", help="Configuration, tables, predictions and models in one file, which another "
            "LabSeq can import.",
        )  # fmt: skip
    if not now.active:
        delete_button([run.run_id])


def delete_button(ids: list[str]) -> None:
    """Deletes runs when asked twice."""
    what = "this run" if len(ids) == 1 else f"these {len(ids)} runs"
    with st.popover("Delete", icon=":material/delete:"):
        st.markdown(f"Delete {what} with scores, predictions and models? This cannot be undone.")
        if st.button(f"Delete {what}", type="primary"):
            with shown_errors():
                for run_id in ids:
                    delete(run_id)
                    history_list.choose([other for other in history_list.chosen() if other != run_id])
                st.rerun()


def _again(config: ExperimentConfig) -> None:
    """The same choices in the form, and the four other ways to repeat it."""
    choices = form_choices(config)
    links.go("Change it and run again", "train", "tune", fresh=True, **choices)
    address = (st.context.url or "").split("?")[0].removesuffix("/history")
    recipe(config, f"{address}/train?{urlencode(choices, doseq=True)}")


def _scores(run: FinishedRun) -> None:
    imported_mark(run)
    run_panel.warn_of_failures(run)
    score_table(run)
    csv_button("These scores as CSV", run.summary(), "summary", run)
