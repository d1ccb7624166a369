"""Errors as a visitor may see them."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from labseq_core import LabSeqError
from pages.ui.drawing.plain_text import in_markdown, shortened
from pages.ui.frame import preparing

UNEXPECTED = (
    "LabSeq failed to draw this part. The server log has the details; your runs are safe. Make another choice, or open the "
    "page again from the list on the left."
)
_MESSAGE = 1000  # letters of an error that are shown


@contextmanager
def shown_errors() -> Iterator[None]:
    """Bad input is a message on the page, and so is what is not compiled yet; the rest of the page goes on."""
    try:
        with preparing.part_of_page():
            yield
    except LabSeqError as problem:
        st.error(in_markdown(shortened(str(problem), _MESSAGE)), icon=":material/error:")
    except Exception as problem:
        unexpected(problem)


def unexpected(problem: Exception) -> None:
    """What nobody foresaw: the details are for the log, a visitor learns what can be done."""
    traceback.print_exception(problem)
    st.error(UNEXPECTED, icon=":material/error:")
