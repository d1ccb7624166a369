"""The dashboard. `labseq app` starts it; `pages/` holds its pages."""

import sys
from pathlib import Path

import streamlit as st

from labseq_core import __version__
from labseq_core.serving import server as serving

serving.wait_until_loaded()
# In an installed package nothing else makes `pages` importable.
HERE = str(Path(__file__).resolve().parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)

from pages.ui.drawing import charts  # noqa: E402
from pages.ui.frame import preparing, server  # noqa: E402
from pages.ui.frame.errors import shown_errors  # noqa: E402
from pages.ui.frame.navigation import navigate  # noqa: E402
from pages.ui.frame.preload import preload_parts  # noqa: E402

page = navigate()
with st.sidebar:
    charts.choose_figure_format()
    st.caption(f"LabSeq {__version__}. Everything runs on this machine; nothing is sent anywhere.")
    preparing.side_bar_line()
    preload_parts()
server.show_notices()
try:
    with shown_errors():
        page.run()
finally:
    serving.page_delivered()
