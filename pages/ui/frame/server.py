"""What concerns the server as a whole, on whichever page."""

from __future__ import annotations

import streamlit as st

from labseq_core.experiments import notices
from labseq_core.experiments.service import require_store
from pages.ui.frame.errors import shown_errors


def show_notices() -> None:
    """Damaged run stores that were set aside, and why nothing can be written now."""
    with shown_errors():
        require_store()
        for notice in notices():
            st.warning(notice, icon=":material/warning:")
