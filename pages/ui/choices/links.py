"""Ways to other pages with choices made, and the address of this one."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from pages.ui.choices.registry import DATASET, INSTEAD, RUN
from pages.ui.choices.url import visit

Choices = dict[str, str | list[str]]  # by their names in the URL


def open_page(page: str, choices: Choices, fresh: bool = False) -> None:
    """Go there with these choices made. fresh: and no others, whatever run, corpus and views were chosen there before."""
    if fresh:
        visit().forget_page(page)
        for choice in (RUN, INSTEAD, DATASET):
            choice.forget()
    st.switch_page(f"pages/{page}.py", query_params=choices)


def go(label: str, page: str, icon: str, main: bool = False, fresh: bool = False, **choices: str | list[str]) -> None:
    """A button that leads to another page with these choices made."""
    if st.button(label, key=f"go.{label}", icon=f":material/{icon}:", type="primary" if main else "secondary"):
        open_page(page, choices, fresh)


def permalink(*left_out: str, **more: str) -> str:
    """The address of this page with all choices that differ from the defaults."""
    chosen = {name: st.query_params.get_all(name) for name in st.query_params if name not in left_out} | more
    address = (st.context.url or "").split("?")[0]
    return f"{address}?{urlencode(chosen, doseq=True)}" if chosen else address
