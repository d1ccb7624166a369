"""One sequence: what the methods of a run make of one sentence, and why."""

import streamlit as st

from pages.ui.frame.errors import shown_errors
from pages.ui.frame.navigation import begin_page
from pages.ui.sequence import page as sequence_page

begin_page("sequence")
st.title("One sequence")
with shown_errors():
    sequence_page.page()
