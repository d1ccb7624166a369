"""Inside: what a trained model has learned. Only the open tab is drawn."""

import streamlit as st

from pages.ui.choices.registry import Inside
from pages.ui.frame.errors import shown_errors
from pages.ui.frame.navigation import begin_page
from pages.ui.inside.tabs import INSIDE_TABS

begin_page("inside")
st.title("Inside")
for title, container in Inside.tab.tabs(list(INSIDE_TABS)):
    with container, shown_errors():
        INSIDE_TABS[title].draw()
