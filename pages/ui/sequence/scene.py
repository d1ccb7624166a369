"""What the parts of the page One sequence share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from labseq_core.csv_text import table_csv
from labseq_core.explain import Reading
from pages.ui.drawing.downloads import csv_button
from pages.ui.memory import FinishedRun
from pages.ui.sequence import cached as data


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
