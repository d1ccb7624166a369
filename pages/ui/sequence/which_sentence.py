"""One sequence: which sentence, in whose words, and by which methods."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from labseq_core.checks import require
from labseq_core.experiments.service import methods_without_model
from pages.ui.choices.registry import OneSequence
from pages.ui.choices.variant_names import short_names
from pages.ui.drawing import metrics
from pages.ui.memory import FinishedRun
from pages.ui.sequence import cached as data
from pages.ui.sequence import words
from pages.ui.start.type_sentence import word_box


def choose_sentence(run: FinishedRun) -> data.Asked:
    """A sentence of the test part by its number, its words as they are or as the visitor wants them."""
    part = data.part(run)
    usual = min(metrics.most_telling(run.examples) + 1, len(part))
    left, right = st.columns([1, 4], vertical_alignment="bottom")
    with left:
        number = OneSequence.n.choose(f"Sentence (of {len(part):,})", 1, len(part), usual, help=words.NUMBER)
    with right:
        typed = word_box(
            "Its words: change them as you like", OneSequence.words, part.tokens[number - 1], help=words.WORDS
        )
    return data.Asked(run, number - 1, typed)


def choose_methods(run: FinishedRun) -> dict[str, str]:
    """Labels of the methods to show side by side, by their short names; all where none is chosen."""
    shown = run.per_label.keys() - methods_without_model(run).keys()
    require(bool(shown), "No method of this run has a model here, so nothing can be asked of it.")
    names = {short: label for label, short in short_names(run.config.methods).items() if label in shown}
    chosen = OneSequence.beside.choose("Methods", list(names), list(names), help=words.METHODS_SHOWN)
    return {name: names[name] for name in names if name in chosen} or names


def tell_about_words(asked: data.Asked, labels: Sequence[str]) -> None:
    """What changed words mean for the columns that models look at, and the way back."""
    if asked.words is None:
        return
    left, right = st.columns([4, 1], vertical_alignment="center")
    columns = data.columns_seen(asked.run, list(labels))
    own = len(data.part(asked.run).tokens[asked.number])
    left.info(words.changed(len(asked.words), own, columns), icon=":material/edit:")
    right.button("Back to its own words", icon=":material/undo:", on_click=OneSequence.words.change)
