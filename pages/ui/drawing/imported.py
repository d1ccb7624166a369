"""The mark of runs that came from a file: one sentence, on every page that shows such a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from labseq_core.experiments import RunResult, RunSummary
from labseq_core.experiments.results.run_results import IMPORTED
from labseq_core.experiments.service import methods_without_model
from pages.ui.drawing.plain_text import in_markdown

_WHAT_IT_MEANS = (
    "Its scores, predictions and models fit together; whether they are those of a training on this corpus cannot be seen from "
    "the file. Train it here to make sure."
)


def imported_mark(run: RunResult) -> None:
    """Nothing for a run that was trained here."""
    if run.imported:
        st.caption(f":material/move_to_inbox: **{IMPORTED[:1].upper()}{IMPORTED[1:]}.** {_WHAT_IT_MEANS}")
        for label, file in methods_without_model(run).items():
            name, place = in_markdown(label), in_markdown(file)
            st.caption(
                f"{name} is a method of {place}: its model was not imported, so it can be compared but not looked into."
            )


def imported_rows_mark(rows: Sequence[Mapping]) -> None:
    """The same of a table whose rows come from several runs."""
    if any(row.get("imported") for row in rows):
        st.caption(f":material/move_to_inbox: **Some of its runs: {IMPORTED}.** {_WHAT_IT_MEANS}")


def with_mark(text: str, run: RunSummary | RunResult) -> str:
    """A line that tells a run from others, or its state, with the mark if it was imported."""
    return f"{text}, {IMPORTED}" if run.imported else text
