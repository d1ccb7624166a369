"""Inside: what a trained model has learned. Each tab is a file of `pages/ui`, and only the open one runs."""

import streamlit as st

from pages.ui.choices import session
from pages.ui.frame.navigation import only_in_app
from pages.ui.inside.boosting import tab as inside_boosting
from pages.ui.inside.gpsc import tab as inside_gpsc
from pages.ui.inside.hmsvm import tab as inside_support
from pages.ui.inside.margins import tab as inside_margins
from pages.ui.inside.weights import tab as inside_weights

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
