"""What the parts of the page One sequence share: the sentence, the model and the position that are looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from labseq_core.csv_text import table_csv
from labseq_core.explain import Reading
from pages.ui.choices.registry import OneSequence
from pages.ui.drawing import metrics
from pages.ui.drawing.downloads import csv_button
from pages.ui.memory import FinishedRun
from pages.ui.sequence import cached as data
from pages.ui.sequence import words


@dataclass(frozen=True)
class Scene:
    """A sentence as several models read it, and the model and position that are looked at."""

    run: FinishedRun
    asked: data.Asked
    methods: Mapping[str, str]  # short name -> label in the run
    readings: Mapping[str, Reading]  # by short name
    tokens: Sequence[str]
    truth: Sequence[str] | None  # None: nobody knows
    all_labels: list[str]
    name: str  # of the model that is looked at
    position: int  # from 0 on

    @property
    def reading(self) -> Reading:
        return self.readings[self.name]

    @property
    def label(self) -> str:
        """The model's label in the run."""
        return self.methods[self.name]

    @property
    def word(self) -> str:
        return self.tokens[self.position]

    def save(self, text: str, rows: Callable[[], Sequence[Mapping]], what: str, of_model: bool = True) -> None:
        """A button that saves a table as CSV, saying of which run, model and sentence it is; made when it is clicked."""
        more = {"sentence": self.asked.number + 1, "words_changed": self.asked.words is not None}

        def made(**about: object) -> str:
            return table_csv([{**about, **row} for row in rows()])

        csv_button(text, made, what, self.run, self.label if of_model else "", more)


def choose_scene(
    run: FinishedRun, asked: data.Asked, methods: Mapping[str, str], readings: Mapping[str, Reading]
) -> Scene:
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


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]], what: str) -> None:
    """A small table of texts that are HTML already, numbers to the right."""
    cells = "".join(f'<th scope="col">{title}</th>' for title in head)
    lines = "".join(
        f'<tr><th scope="row">{row[0]}</th>{"".join(f"<td>{cell}</td>" for cell in row[1:])}</tr>' for row in rows
    )
    st.html(
        f'<div class="ls-scroll" role="region" tabindex="0" aria-label="{what}"><table class="ls-numbers">'
        f"<thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table></div>"
    )
