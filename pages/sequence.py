"""One sequence: what the methods of a run make of one sentence, and why."""

import streamlit as st

from pages.ui import sequence_page, session
from pages.ui.navigation import only_in_app

only_in_app()
st.title("One sequence")
with session.shown_errors():
    sequence_page.page()
