"""Choices that live in the URL by their id, links to them, and errors as a visitor may see them."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from math import isinf
from urllib.parse import urlencode

import streamlit as st
from streamlit.errors import StreamlitAPIException

from labseq_core import LabSeqError
from pages.ui.drawing.plain_text import in_markdown, shortened
from pages.ui.frame import preparing

UNEXPECTED = (
    "Something went wrong here, and it is not your fault: the server's log has the details. Your runs are safe. Make another "
    "choice, or open the page anew from the list on the left."
)
_MESSAGE = 1000  # letters of an error that are shown
_DIGITS = 10  # a number in the URL with more is none of ours


def remember(name: str, value: str) -> None:
    """Put a value into the URL, and keep it for when the visitor comes back from another page."""
    st.query_params[name] = value
    st.session_state[f"kept.{name}"] = value
    st.session_state.pop(f"implied.{name}", None)


def recall(name: str) -> str | None:
    """What the URL says or, after a change of page, what it said."""
    value = st.query_params.get(name) or st.session_state.get(f"kept.{name}")
    if value and st.query_params.get(name) != value:
        st.query_params[name] = value
    if value and not _is_implied(name):
        st.session_state[f"kept.{name}"] = value
    return value


def imply(name: str, value: str, where: str) -> None:
    """Put into the URL what the page took by itself, such as the newest run, so that a link shows the same when there is a
    newer one. It holds for this part of the page; elsewhere `leave` takes it back.
    """
    st.query_params[name] = value
    st.session_state[f"implied.{name}"] = (where, value)


def leave(name: str, where: str) -> None:
    """Forget what another part of a page, or another page, has implied."""
    if _is_implied(name) and st.session_state[f"implied.{name}"][0] != where:
        del st.query_params[name]


def _is_implied(name: str) -> bool:
    _, value = st.session_state.get(f"implied.{name}", (None, None))
    return value is not None and st.query_params.get(name) == value


def forget(name: str) -> None:
    st.query_params.pop(name, None)
    st.session_state.pop(f"kept.{name}", None)


def set_aside(*names: str) -> None:
    """Take choices out of the URL while what they are about is not shown; `recall` finds them again."""
    for name in names:
        if name in st.query_params:
            recall(name)
            del st.query_params[name]


def choose(
    label: str,
    name: str,
    options: Sequence[str],
    describe: Callable[[str], str],
    default: str,
    keep: bool = False,
    forgets: Sequence[str] = (),
    draw: Callable = st.selectbox,
    **more,
) -> str:
    """A select box whose value stands in the URL by id, not by its text as with Streamlit's own binding.

    Streamlit's own loses the value when the same choice stands in another tab too; this one does not.

    A value in the URL that is no option is dropped unless `keep`; check `recall(name)` before if the visitor should be told.
    forgets: choices that make no sense any more when this one changes. draw: another way to choose one of several. more: as
    `draw` takes it.
    """
    wanted = recall(name)
    if wanted not in options:
        if not keep:
            forget(name)
        wanted = default if default in options else options[0]
    key = f"{name}.choice"
    st.session_state[key] = wanted
    asked = {"on_change": _chosen, "args": (name, key, forgets)}
    return draw(label, options, format_func=describe, key=key, **asked, **more)


def choose_number(
    label: str,
    name: str,
    low: int,
    high: int,
    default: int,
    draw: Callable = st.slider,
    forgets: Sequence[str] = (),
    **more,
) -> int:
    """A whole number that stands in the URL; one that is out of bounds there is dropped, and the default may change.

    draw: how it is chosen. forgets: choices that make no sense any more when this one changes. more: as `draw` takes it.
    """
    wanted = recall(name) or ""
    fits = wanted.isdecimal() and len(wanted) < _DIGITS and low <= int(wanted) <= high
    if not fits:
        forget(name)
    if low == high:
        return low
    key = f"{name}.choice"
    st.session_state[key] = int(wanted) if fits else default
    return draw(label, low, high, key=key, on_change=_chosen, args=(name, key, forgets), **more)


def pick(label: str, key: str, options: Sequence[str], default: str, **more) -> str:
    """One of a row of buttons, kept in the URL; an address that says nothing of it or `?key=` means the default.

    more: as a segmented control takes it.
    """
    chosen = st.segmented_control(
        label, options, default=default, required=True, key=key, bind="query-params", **more
    )  # fmt: skip
    return chosen if chosen in options else default


def _chosen(name: str, key: str, forgets: Sequence[str] = ()) -> None:
    change(name, str(st.session_state[key]), forgets)


def change(name: str, value: str | None, forgets: Sequence[str] = ()) -> None:
    """Make a choice from a button; None takes it back. forgets: choices that make no sense any more."""
    remember(name, value) if value else forget(name)
    for other in forgets:
        forget(other)


def asked_for(name: str, what: str, button: str, note: str, **more) -> bool:
    """Whether something that takes long was asked for: by this button, or by a link from there.

    what: of which run, model or round; for another one it has to be asked for anew. more: as a button takes it.
    """
    if recall(name) != what:
        st.caption(note)
        if not st.button(button, **more):
            return False
        remember(name, what)
    return True


def go(label: str, page: str, icon: str, main: bool = False, fresh: bool = False, **choices: str | list[str]) -> None:
    """A button that leads to another page with these choices made; `fresh` forgets those made there before."""
    kind = "primary" if main else "secondary"
    if st.button(label, key=f"go.{label}", icon=f":material/{icon}:", type=kind):
        if fresh:
            st.session_state.clear()
        st.switch_page(f"pages/{page}.py", query_params=choices)


def drop_endless_numbers() -> None:
    """Take numbers that are too large for any computer out of the URL: widgets that are bound to it cannot."""
    endless = [name for name in st.query_params if any(map(_is_endless, st.query_params.get_all(name)))]
    dropped = False
    for name in endless:
        with suppress(StreamlitAPIException):  # bound already, to a widget that has seen to it
            forget(name)
            dropped = True
    if dropped:
        st.rerun()


def _is_endless(text: str) -> bool:
    try:
        return isinf(float(text))
    except ValueError:
        return False


def permalink(*left_out: str, **more: str) -> str:
    """The address of this page with all choices that differ from the defaults."""
    chosen = {name: st.query_params.get_all(name) for name in st.query_params if name not in left_out} | more
    address = (st.context.url or "").split("?")[0]
    return f"{address}?{urlencode(chosen, doseq=True)}" if chosen else address


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
