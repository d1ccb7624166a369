"""What visitors see while routines are compiled beside the server: a line in the side bar, and a sentence in place of a part
of a page that needs one of them. Both go away by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from labseq_core.compiling.code_cache import NotCompiledYet
from labseq_core.warm_up import background

LOOK_EVERY = 1.5  # seconds between two looks
_LINE_EVERY = 2.0
PREPARING = "Preparing {} (first start only). It appears by itself."
_THIS_PART = PREPARING.format("this part: LabSeq compiles it for your machine")


def side_bar_line() -> None:
    """What is being compiled, and how far; nothing, and nothing that looks again, once all is there."""
    beside = background.of_server
    if beside is None:
        return
    if beside.trouble is not None:
        st.caption(beside.trouble)
    elif beside.progress() is not None:
        st.fragment(_line, run_every=_LINE_EVERY)()


def _line() -> None:
    now = background.of_server.progress()
    if now is None:
        st.rerun()  # the whole page has to run for the looking to stop
    st.caption(
        f":material/hourglass_top: Compiling {now.title}: {now.done} of {now.total} parts ready (first start only)."
    )


@contextmanager
def part_of_page(what: str | None = None) -> Iterator[None]:
    """Where a routine is missing, say so in place of the rest of this part, and draw it when the routine is there.

    what: a part of one line, such as "the estimated time".
    """
    then = _state()  # before: what is finished while this part is tried counts as a change
    try:
        yield
    except NotCompiledYet as missing:
        st.fragment(_in_its_place, run_every=LOOK_EVERY)(missing, then, what)


def _in_its_place(missing: NotCompiledYet, then: tuple[bool, int], what: str | None) -> None:
    """A routine comes with others of its part, which the page needs too: look again when a part has been finished."""
    now = _state()
    if now != then and (missing.has_come or not now[0]):
        st.rerun()
    if what is None:
        st.info(_THIS_PART, icon=":material/hourglass_top:")
    else:
        st.caption(PREPARING.format(what))


def _state() -> tuple[bool, int]:
    """Whether something is being compiled, and how many parts are there."""
    now = background.of_server and background.of_server.progress()
    return (False, 0) if now is None else (True, now.done)
