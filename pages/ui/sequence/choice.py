"""One sequence: which sentence, in whose words, and by which methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from pages.ui.choices import session
from pages.ui.choices.variant_names import short_names
from pages.ui.drawing import metrics
from pages.ui.memory import FinishedRun
from pages.ui.sequence import cached as data
from pages.ui.sequence import words
from pages.ui.start.type_sentence import word_box

NUMBER, WORDS, POSITION, VIEW = "n", "words", "step", "show"
RECURSION, NODE, AGAINST, FORCE = "recursion", "node", "against", "force"
AT_POSITION = (NODE, AGAINST, FORCE)  # choices that belong to a position
IN_SENTENCE = (POSITION, *AT_POSITION)  # and those that belong to a sentence
_SEEN, _BESIDE = "sequence seen", "beside"


def choose_sentence(found: FinishedRun) -> data.Asked:
    """A sentence of the test part by its number, its words as they are or as the visitor wants them."""
    part = data.part(found)
    usual = min(metrics.most_telling(found.examples) + 1, len(part))
    left, right = st.columns([1, 4], vertical_alignment="bottom")
    with left:
        number = session.choose_number(
            f"Sentence (of {len(part):,})", NUMBER, 1, len(part), usual, st.number_input, (WORDS, *IN_SENTENCE),
            help=words.NUMBER,
        )  # fmt: skip
    with right:
        typed = word_box(
            "Its words: change them as you like", WORDS, part.tokens[number - 1], IN_SENTENCE, help=words.WORDS
        )
    return data.Asked(found, number - 1, typed)


def begin_anew_with(asked: data.Asked) -> None:
    """After a link to another sentence, positions that were chosen in the one before are forgotten unless it names them."""
    if st.session_state.get(_SEEN) not in (None, asked):
        for name in IN_SENTENCE:
            if name not in st.query_params:
                session.forget(name)
    st.session_state[_SEEN] = asked


def choose_methods(found: FinishedRun) -> dict[str, str]:
    """Labels of the methods to show side by side, by their short names; all where none is chosen."""
    names = {short: label for label, short in short_names(found.config.methods).items() if label in found.per_label}
    if not set(st.session_state.get(_BESIDE, names)) & set(names):
        st.session_state[_BESIDE] = list(names)  # of another run none is left, and an empty box would show all of them
    chosen = st.multiselect(
        "Methods", list(names), default=list(names), key=_BESIDE, bind="query-params", help=words.METHODS
    )
    return {name: names[name] for name in names if name in chosen} or names


def choose_view(own: Mapping[str, Sequence[str]]) -> str:
    """Which view of one model is open; own: the choices of each view, by its name. Those of the others leave the URL and are
    kept for when their view is open again.
    """
    views = list(own)
    if VIEW not in st.query_params:
        # A link that says something of one view and does not name any means that one.
        meant = (view for view in views if any(name in st.query_params for name in own[view]))
        if view := next(meant, None):
            session.remember(VIEW, view)
    open_view = session.choose(
        "Show", VIEW, views, str, views[0], draw=st.segmented_control, required=True, help=words.VIEW
    )
    for view in views:
        if view != open_view:
            session.set_aside(*own[view])
    return open_view


def tell_about_words(asked: data.Asked, labels: Sequence[str]) -> None:
    """What changed words mean for the columns that models look at, and the way back."""
    if asked.words is None:
        return
    left, right = st.columns([4, 1], vertical_alignment="center")
    columns = data.columns_seen(asked.run, list(labels))
    own = len(data.part(asked.run).tokens[asked.number])
    left.info(words.changed(len(asked.words), own, columns), icon=":material/edit:")
    right.button(
        "Back to its own words", icon=":material/undo:", on_click=session.change, args=(WORDS, None, IN_SENTENCE)
    )
