"""The list of runs: filters, pages, and which rows are chosen. All of it stands in the URL."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from labseq_core.experiments import run_datasets
from labseq_core.learners import METHODS
from pages.ui import cached as caching
from pages.ui.choices.registry import History
from pages.ui.history.rows import STATES, Listing, ListSize, list_csv, list_size, listing, scores_csv

ANY = "any"
_TABLE = "number of the table"
_SEPARATOR = ","  # in no id


def filters() -> dict:
    """What `list_runs` takes."""
    corpora = {caching.corpus_name(name): name for name in dict.fromkeys([*caching.corpora(), *run_datasets()])}
    methods = {method.title: method.id for method in METHODS.values()}
    text, corpus, method, state, pinned = st.columns([3, 2, 2, 2, 1.3], vertical_alignment="bottom")
    wanted: dict = {}
    with text:
        wanted["text"] = History.find.choose(
            "Search", icon=":material/search:", live=True, help="In corpora, methods with their options, features and run ids."
        )  # fmt: skip
    with corpus:
        wanted["dataset"] = corpora.get(History.of.choose("Corpus", [ANY, *corpora]))
    with method:
        wanted["method"] = methods.get(History.by.choose("With method", [ANY, *methods]))
    with state:
        wanted["state"] = STATES.get(History.state.choose("State", [ANY, *STATES]))
    with pinned:
        wanted["pinned"] = History.pinned.choose("Pinned")
    return {name: value for name, value in wanted.items() if value}


def choose_rows(wanted: dict) -> list[str]:
    """Draw one page of the list; gives the ids of the runs that are chosen, on whichever page."""
    size = list_size(wanted)
    st.caption(_how_many(size))
    table = st.container()
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        page = History.list.pagination(size.n_pages)
        shown = listing(wanted, size, page)
        with st.container(horizontal=True, width="content"):
            if chosen():
                st.button("Choose none", icon=":material/close:", on_click=choose, args=([],))
            _csv_buttons(wanted, shown)
    with table:
        _table(shown)
    return chosen()


def _table(shown: Listing) -> None:
    if not shown.ids:
        st.info("No run fits. Take a filter away.", icon=":material/filter_alt_off:")
        return
    # Rows move when a run begins or goes: a table of other rows is another widget, and what was chosen is chosen by id.
    key = f"rows.{st.session_state.get(_TABLE, 0)}.{hash(tuple(shown.ids))}"
    rows = [shown.ids.index(run_id) for run_id in chosen() if run_id in shown.ids]
    st.dataframe(
        pd.DataFrame(shown.rows), hide_index=True, key=key, selection_mode="multi-row",
        on_select=lambda: _ticked(key, shown.ids), selection_default={"selection": {"rows": rows}},
        column_config={
            "best accuracy": st.column_config.NumberColumn(format="%.4f"),
            "pinned": st.column_config.TextColumn("★", width=40),
            "methods": st.column_config.TextColumn(width="medium"),
        },
        placeholder="–", alt="Runs, the newest first",
    )  # fmt: skip


def _how_many(size: ListSize) -> str:
    own = f"{size.n_own:,} run{'s' if size.n_own > 1 else ''}" if size.n_own else "No runs of your own"
    ours = f", {size.n_ours} results that come with LabSeq" if size.n_ours else ""
    return f"{own}{ours}. Tick one row to see what the run was, two to compare them."


def _csv_buttons(wanted: dict, shown: Listing) -> None:
    st.download_button(
        "List as CSV", lambda: list_csv(wanted), "labseq-runs.csv", "text/csv", on_click="ignore",
        icon=":material/download:", help="All runs that fit the filters, on all pages.", disabled=not shown.ids,
    )  # fmt: skip
    st.download_button(
        "Scores as CSV", lambda: scores_csv(shown.finished), "labseq-scores.csv", "text/csv", on_click="ignore",
        icon=":material/download:", disabled=not shown.finished,
        help="The finished runs in the table above: a row for each method and fold, with run id and seed.",
    )  # fmt: skip


def chosen() -> list[str]:
    """The ids in the URL."""
    return [run_id for run_id in History.runs.text.split(_SEPARATOR) if run_id]


def choose(ids: list[str]) -> None:
    """Choose these runs; the table, which remembers its own ticks, is made anew."""
    _remember(ids)
    st.session_state[_TABLE] = st.session_state.get(_TABLE, 0) + 1


def _remember(ids: list[str]) -> None:
    History.runs.change(*([_SEPARATOR.join(ids)] if ids else []))


def _ticked(key: str, ids: list[str]) -> None:
    elsewhere = [run_id for run_id in chosen() if run_id not in ids]
    _remember([*elsewhere, *(ids[row] for row in st.session_state[key].selection.rows)])
