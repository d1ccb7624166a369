"""Abstain: what is gained when a model does not answer where it is not sure."""

import streamlit as st

from pages.ui.abstain import page as abstention
from pages.ui.frame.errors import shown_errors
from pages.ui.frame.navigation import begin_page

begin_page("abstain")
st.title("Abstain")
with shown_errors():
    abstention.page()
