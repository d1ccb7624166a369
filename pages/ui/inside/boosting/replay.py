"""The replay of boosting: round after round comes by itself."""

from __future__ import annotations

import streamlit as st

from pages.ui.choices.registry import Inside
from pages.ui.inside.boosting import words

_REPLAY, _ON_SCREEN = "replay", "round on screen"
_SECONDS = 1.0  # that a round is shown
_SKIPPED = 10  # after round 10 a tenth more of the rounds each time


def switch(number: int, last: int) -> bool:
    """Whether it is on, and there is a next round. number: of the round that is shown."""
    if last == 1:
        return False
    at_end = number == last
    playing = st.toggle("Replay", key=_REPLAY, help=words.REPLAY, on_change=_begin_anew if at_end else None)
    return playing and not at_end


def _begin_anew() -> None:
    """A replay that is switched on at the last round."""
    if st.session_state[_REPLAY]:
        Inside.round.change("1")


@st.fragment(run_every=_SECONDS)
def go_on(number: int, last: int) -> None:
    """A round that has been on the screen for a moment makes room for the next; later ones, which do less, are skipped."""
    if st.session_state.get(_ON_SCREEN) == number:
        Inside.round.change(str(min(last, number + max(1, number // _SKIPPED))))
        st.rerun()
    st.session_state[_ON_SCREEN] = number
