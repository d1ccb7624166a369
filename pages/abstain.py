"""Abstain: what is gained when a model does not answer where it is not sure."""

import streamlit as st

from pages.ui.abstain import page as abstention
from pages.ui.choices import session
from pages.ui.frame.navigation import only_in_app

only_in_app()
st.title("Abstain")
with session.shown_errors():
    abstention.page()
