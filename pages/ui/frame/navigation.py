"""Which pages there are, and that they run inside app.py only."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import streamlit as st

from labseq_core.learners.plugins import add_to_pages
from labseq_core.serving.streamlit_inside import with_selectors
from pages.ui.choices.registry import begin
from pages.ui.drawing.colours import style_variables

_HERE = Path(__file__).resolve().parent
_IN_APP = "in app"


@cache
def _style() -> str:
    """The style sheet with Streamlit's selectors, after the colours that it uses: these are declared with the theme, once."""
    return f"{style_variables()}\n{with_selectors((_HERE / 'style.css').read_text(encoding='utf-8'))}"


def navigate() -> st.Page:
    """The chosen page; app.py runs it."""
    st.session_state[_IN_APP] = True
    # Without an icon of our own, browsers would fetch that of the page from a foreign host.
    st.set_page_config(page_title="LabSeq", page_icon=str(_HERE / "icon.svg"), layout="wide")
    st.logo(str(_HERE / "logo.svg"), size="large", link=None)
    st.html(f"<style>{_style()}</style>")
    return st.navigation(
        [
            st.Page("pages/start.py", title="Start", icon=":material/home:", default=True),
            st.Page("pages/data.py", title="Data", icon=":material/database:"),
            st.Page("pages/train.py", title="Train", icon=":material/model_training:"),
            st.Page("pages/compare.py", title="Compare", icon=":material/bar_chart:"),
            st.Page("pages/abstain.py", title="Abstain", icon=":material/front_hand:"),
            st.Page("pages/inside.py", title="Inside", icon=":material/search_insights:"),
            st.Page("pages/sequence.py", title="One sequence", icon=":material/account_tree:"),
            st.Page("pages/learn.py", title="Learn", icon=":material/school:"),
            st.Page("pages/history.py", title="History", icon=":material/history:"),
        ]
    )


def begin_page(name: str) -> None:
    """What each page says first: its name, as choices have it.

    A server runs the files of a folder called `pages` by themselves until `st.navigation` has been called once, and the
    first visitor of a new server may come by a link to a page. After this call the page runs again, inside app.py.
    """
    if _IN_APP not in st.session_state:
        navigate()
        st.rerun()
    add_to_pages()
    begin(name)
