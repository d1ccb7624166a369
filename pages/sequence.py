"""One sequence: what the methods of a run make of one sentence, and why."""

import streamlit as st

from pages.ui.choices import session
from pages.ui.frame.navigation import only_in_app
from pages.ui.sequence import page as sequence_page

only_in_app()
st.title("One sequence")
with session.shown_errors():
    sequence_page.page()
