"""Buttons that save a table."""

from __future__ import annotations

import pandas as pd
import streamlit as st

_PLAIN = str.maketrans({":": "-", " ": "-", "(": "", ")": "", ",": "", "=": "-"})


def csv_button(label: str, table: pd.DataFrame, file: str) -> None:
    """Save a table as it is shown, with full precision."""
    st.download_button(
        label, table.to_csv(index=False), file, "text/csv", on_click="ignore", icon=":material/download:"
    )


def file_name(what: str, run_id: str, label: str = "", ending: str = "csv") -> str:
    """What it is, of which run, and of which of its models."""
    return "-".join(["labseq", what, run_id, *([label] if label else [])]).translate(_PLAIN) + f".{ending}"
