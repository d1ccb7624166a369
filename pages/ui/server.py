"""What concerns the server as a whole, on whichever page: runs that it goes on with, and what an operator should know."""

from __future__ import annotations

import streamlit as st

from labseq_core.experiments import notices, resume_interrupted
from labseq_core.experiments.store import store_path
from pages.ui import session


def go_on_with_interrupted_runs() -> None:
    """With those whose process has died, as after a restart: once for each server and store, with the first visitor."""
    with session.shown_errors():
        _go_on(str(store_path()))


@st.cache_resource(show_spinner=False)
def _go_on(store: str) -> list[str]:
    return resume_interrupted()


def show_notices() -> None:
    """Damaged run stores that were set aside, and why nothing can be written now."""
    with session.shown_errors():
        for notice in notices():
            st.warning(notice, icon=":material/warning:")
