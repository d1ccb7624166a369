"""Inside: what a trained model has learned. Each tab is a file of `pages/ui`, and only the open one runs."""

import streamlit as st

from pages.ui import inside_boosting, inside_gpsc, inside_margins, inside_support, inside_weights, session
from pages.ui.navigation import only_in_app

TABS = {
    "Weights": inside_weights.tab,
    "Boosting": inside_boosting.tab,
    "HM-SVM": inside_support.tab,
    "Margins": inside_margins.tab,
    "GPSC": inside_gpsc.tab,
}

only_in_app()
st.title("Inside")
for container, draw in zip(st.tabs(list(TABS), key="tab", bind="query-params"), TABS.values()):
    if container.open:
        with container, session.shown_errors():
            draw()
