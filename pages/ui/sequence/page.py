"""The page One sequence: labels side by side, then one model and one position in depth."""

from __future__ import annotations

import streamlit as st

from pages.ui.choices.registry import OneSequence
from pages.ui.choices.run import choose_run
from pages.ui.frame.errors import shown_errors
from pages.ui.sequence import cached as data
from pages.ui.sequence import how_sure, side_by_side, step_by_step, what_if, which_sentence, why, words
from pages.ui.sequence.scene import choose_scene

SEQUENCE_VIEWS = {
    "How sure": how_sure.how_sure,
    "Step by step": step_by_step.steps,
    "Why this label": why.decision,
    "What if": what_if.what_if,
}


def page() -> None:
    """All parts from the top; of the views of one model only the open one is made."""
    run = choose_run()
    if run is None:
        return
    st.markdown(words.INTRODUCTION)
    with st.expander("How to read this page, and what to try", icon=":material/menu_book:"):
        st.markdown(words.GLOSSARY)
    asked = which_sentence.choose_sentence(run)
    methods = which_sentence.choose_methods(run)
    which_sentence.tell_about_words(asked, list(methods.values()))
    readings = {name: data.reading(asked, label) for name, label in methods.items()}
    beside = st.container()
    st.header("One model, one position")
    scene = choose_scene(run, asked, methods, readings)
    with beside:
        side_by_side.side_by_side(scene)
    draw = SEQUENCE_VIEWS[OneSequence.show.buttons("Show", list(SEQUENCE_VIEWS), help=words.VIEW)]
    with shown_errors():
        draw(scene)
