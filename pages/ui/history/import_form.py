"""Runs that were exported elsewhere."""

from __future__ import annotations

import streamlit as st

from labseq_core.data.limits import MAX_UPLOAD_MEGABYTES
from labseq_core.experiments import import_run
from pages.ui.frame.errors import shown_errors
from pages.ui.history import list as history_list

_DONE = "imported run"


def import_form() -> None:
    """A zip file that `Export` made, here or elsewhere."""
    with (
        st.expander("Import a run", icon=":material/upload_file:"),
        st.form("import", clear_on_submit=True, border=False),
    ):
        file = st.file_uploader(
            "Zip file that LabSeq exported", type="zip", key="import.file", max_upload_size=MAX_UPLOAD_MEGABYTES,
            help=f"Up to {MAX_UPLOAD_MEGABYTES} MB here; `labseq runs import FILE` takes larger ones.",
        )  # fmt: skip
        if st.form_submit_button("Import", icon=":material/upload:"):
            _take(file)
    imported = st.session_state.pop(_DONE, None)
    if imported:
        st.success(f"Run {imported} is in the list now.", icon=":material/check_circle:")


def _take(file) -> None:
    if file is None:
        st.error("Choose a file first.", icon=":material/error:")
        return
    with shown_errors():
        st.session_state[_DONE] = import_run(file.getvalue())
        history_list.choose([st.session_state[_DONE]])
        st.rerun()
