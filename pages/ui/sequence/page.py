"""The page One sequence: labels side by side, then one model and one position in depth."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from labseq_core.explain import Reading
from pages.ui.choices.registry import OneSequence
from pages.ui.choices.run import choose_run
from pages.ui.drawing import metrics
from pages.ui.frame.errors import shown_errors
from pages.ui.memory import FinishedRun
from pages.ui.sequence import cached as data
from pages.ui.sequence import how_sure, side_by_side, step_by_step, what_if, which_sentence, why, words
from pages.ui.sequence.scene import Scene

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
    scene = _scene(run, asked, methods, readings)
    with beside:
        side_by_side.side_by_side(scene)
    draw = SEQUENCE_VIEWS[OneSequence.show.buttons("Show", list(SEQUENCE_VIEWS), help=words.VIEW)]
    with shown_errors():
        draw(scene)


def _scene(run: FinishedRun, asked: data.Asked, methods: Mapping[str, str], readings: Mapping[str, Reading]) -> Scene:
    """The model and the position that the lower part of the page is about."""
    names = list(methods)
    name = OneSequence.look.buttons("Model", names, names[-1], help=words.MODEL)
    one, length = data.given(asked), len(readings[name])
    position = _position(length, readings[name].least_sure + 1)
    known = (label for each in readings.values() for label in each.classes)
    labels = sorted({*metrics.all_labels(run), *known, *(one.flat_labels or ())})
    return Scene(run, asked, methods, readings, one.flat_tokens, one.flat_labels, labels, name, position - 1)


def _position(length: int, usual: int) -> int:
    """The position, from 1 on, with buttons for the one before and the one after."""
    slider, buttons = st.columns([3, 1], vertical_alignment="bottom")
    with slider:
        position = OneSequence.step.choose(f"Position (of {length})", 1, length, usual, st.slider, help=words.POSITION)
    with buttons, st.container(horizontal=True):
        for name, icon, place in (("Previous", "arrow_back", position - 1), ("Next", "arrow_forward", position + 1)):
            st.button(
                name, icon=f":material/{icon}:", disabled=not 1 <= place <= length,
                on_click=OneSequence.step.change, args=(str(place),), width="stretch",
            )  # fmt: skip
    return position
