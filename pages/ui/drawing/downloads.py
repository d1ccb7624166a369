"""Buttons that save a table: one way for all pages, so that every file says of what it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pandas as pd
import streamlit as st

from labseq_core.csv_text import table_csv
from labseq_core.experiments import RunResult

Table = pd.DataFrame | Sequence[Mapping]
_PLAIN = str.maketrans({":": "-", " ": "-", "(": "", ")": "", ",": "", "=": "-"})


def csv_button(
    label: str,
    table: Table | Callable[..., str],
    what: str,
    run: RunResult | None = None,
    model: str = "",
    more: Mapping | None = None,
    main: bool = False,
    help_text: str | None = None,
) -> None:
    """Save a table as it is shown, with full precision; the file is made when it is asked for.

    table: its rows, or a function of the first columns that gives the whole text. what: in the name of the file. run, model:
    of which run and of which of its models it is; then the first columns are run, configuration, seed and how scores were
    counted. more: further first columns.
    """
    about = (run.about() if run else {}) | ({"model": model} if model else {}) | dict(more or {})

    def text() -> str:
        if callable(table):
            return table(**about)
        rows = table.to_dict("records") if isinstance(table, pd.DataFrame) else table
        return table_csv([{**about, **row} for row in rows])

    st.download_button(
        label, text, file_name(what, run.run_id if run else "", model), "text/csv", on_click="ignore",
        icon=":material/download:", type="primary" if main else "secondary", help=help_text, key=f"save.{what}",
    )  # fmt: skip


def file_name(what: str, run_id: str, label: str = "", ending: str = "csv") -> str:
    """What it is, of which run, and of which of its models."""
    return "-".join(part for part in ("labseq", what, run_id, label) if part).translate(_PLAIN) + f".{ending}"
