"""Runs that were exported elsewhere."""

from __future__ import annotations

import streamlit as st

from labseq_core.data.limits import MAX_UPLOAD_MEGABYTES
from labseq_core.experiments import import_run
from pages.ui.drawing.plain_text import in_markdown
from pages.ui.frame.errors import shown_errors
from pages.ui.history import list as history_list

_DONE, _CANCELLED = "imported run", "import cancelled"


def import_form() -> None:
    """A zip file that `Export` made, here or elsewhere."""
    with st.expander("Import a run", icon=":material/upload_file:"):
        with st.form("import", clear_on_submit=True, border=False):
            file = st.file_uploader(
                "Zip file that LabSeq exported", type="zip", key="import.file", max_upload_size=MAX_UPLOAD_MEGABYTES,
                help=f"Up to {MAX_UPLOAD_MEGABYTES} MB here; `labseq runs import FILE` takes larger ones. The file is checked "
                "before anything of it is kept, and the run is marked as imported.",
            )  # fmt: skip
            wanted = st.form_submit_button("Import", icon=":material/upload:")
        if wanted:
            _take(file)
    imported = st.session_state.pop(_DONE, None)
    if imported:
        st.success(f"Run {imported} is in the list now.", icon=":material/check_circle:")
    if st.session_state.pop(_CANCELLED, False):
        st.info("The import was cancelled; nothing of the file was kept.", icon=":material/cancel:")


def _take(file) -> None:
    """Check the file in a process of its own, and show how far it is."""
    if file is None:
        st.error("Choose a file first.", icon=":material/error:")
        return
    meanwhile = st.empty()
    with meanwhile.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0, text="Reading the file")
        # A click runs the page anew. That ends this run of it at its next look at the bar, and with it the process.
        st.button("Cancel", icon=":material/stop_circle:", on_click=_cancelled)
    with shown_errors():
        run_id = import_run(file.getvalue(), lambda fraction, text: bar.progress(fraction, text=in_markdown(text)))
        st.session_state[_DONE] = run_id
        history_list.choose([run_id])
        st.rerun()
    meanwhile.empty()


def _cancelled() -> None:
    st.session_state[_CANCELLED] = True
