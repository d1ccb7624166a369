"""The dashboard. `labseq app` starts it; `pages/` holds its pages."""

import sys
from pathlib import Path

import streamlit as st

# In an installed package nothing else makes `pages` importable.
HERE = str(Path(__file__).resolve().parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)

from labseq_core import __version__  # noqa: E402
from pages.ui import charts  # noqa: E402

st.set_page_config(page_title="LabSeq", page_icon=":material/label:", layout="wide")
st.logo(f"{HERE}/pages/ui/logo.svg", size="large", link=None)
page = st.navigation(
    [
        st.Page("pages/start.py", title="Start", icon=":material/home:", default=True),
        st.Page("pages/data.py", title="Data", icon=":material/database:"),
        st.Page("pages/train.py", title="Train", icon=":material/model_training:"),
        st.Page("pages/compare.py", title="Compare", icon=":material/bar_chart:"),
    ]
)
with st.sidebar:
    charts.choose_figure_format()
    st.caption(f"LabSeq {__version__}. Everything runs on this machine; nothing is sent anywhere.")
page.run()
