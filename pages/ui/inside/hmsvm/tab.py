"""Inside, tab HM-SVM: the rivals that a margin was won against, and how training closed the duality gap (thesis chapter 4)."""

from __future__ import annotations

from functools import partial

import streamlit as st

from labseq_core.explain import has_support, support_csv, support_examples, support_figure, training_rows
from labseq_core.learners.hmsvm import HMSVM
from pages.ui import cached as caching
from pages.ui.choices.registry import Inside
from pages.ui.choices.run import choose_run, shown_choices
from pages.ui.choices.variant_names import short_names
from pages.ui.drawing import charts, tokens
from pages.ui.drawing.downloads import csv_button
from pages.ui.drawing.plain_text import shortened
from pages.ui.inside.hmsvm import charts as pictures
from pages.ui.inside.hmsvm import words
from pages.ui.memory import FinishedRun

DEFAULT = "margins"
_RIVALS_SHOWN = 10
_WORDS_SHOWN = 8  # of a sentence in the list of sentences


def tab() -> None:
    """One HM-SVM of a run: how sparse it is, its support sequences sentence by sentence, and its training."""
    run = choose_run(has_support, words.OTHERWISE, DEFAULT)
    if run is None:
        return
    choices = shown_choices(run, has_support)
    names = short_names(choices)
    st.markdown(words.INTRODUCTION)
    with st.expander("The words used here", icon=":material/menu_book:"):
        st.markdown(words.GLOSSARY)
    name = Inside.svm.buttons(
        "Model", list(names.values()), list(names.values())[-1],
        help="The HM-SVMs of this run, named by what they differ in.",
    )  # fmt: skip
    label = next(label for label, short in names.items() if short == name)
    learner = caching.trained(run, label)
    st.markdown(words.sparseness_line(learner))
    _sentence(run, label, learner)
    _training(run, label, learner)


def _sentence(run: FinishedRun, label: str, learner: HMSVM) -> None:
    st.header("Support sequences of a sentence")
    examples = support_examples(learner)
    if not examples:
        st.info("This model has no support sequences: every sentence keeps the margin by itself.")
        return
    st.markdown(words.FIGURE)
    sentences = caching.training_sentences(run, label)
    lines = {str(row["sequence"] + 1): _line(row, sentences[row["sequence"]]) for row in examples}
    chosen = Inside.sentence.choose(
        "Sentence", list(lines), describe=lines.__getitem__,
        help="Training sentences that have support sequences, those with the largest sum of α first.",
    )  # fmt: skip
    number = int(chosen) - 1
    rows = support_figure(learner, number, _RIVALS_SHOWN)
    st.html(tokens.rivals(sentences[number], rows, learner.classes_))
    left_out = next(row["rivals"] for row in examples if row["sequence"] == number) - (len(rows) - 1)
    if left_out > 0:
        st.caption(f"… and {left_out} more with a smaller α; the CSV has them all.")
    csv_button(
        "All support sequences as CSV", partial(support_csv, learner), "support", run, label, main=True,
        help_text="Every support sequence of this model with its α.",
    )  # fmt: skip


def _line(row: dict, sentence: list[str]) -> str:
    beginning = " ".join(map(shortened, sentence[:_WORDS_SHOWN])) + (" …" if len(sentence) > _WORDS_SHOWN else "")
    rivals = "1 rival" if row["rivals"] == 1 else f"{row['rivals']} rivals"
    return f"{row['sequence'] + 1}: {beginning} ({rivals}, Σα = {row['alpha']:.3g})"


def _training(run: FinishedRun, label: str, learner: HMSVM) -> None:
    st.header("How training went")
    st.markdown(words.gap_line(learner))
    rows = training_rows(learner)
    gap, growth = st.columns(2, gap="large")
    with gap:
        st.caption(words.GAP)
        figure = pictures.lines_by_round(rows, pictures.OBJECTIVES, "objective")
        charts.draw(figure, "duality-gap", pictures.lines_text(rows, pictures.OBJECTIVES))
    with growth:
        st.caption(words.WORKING_SET)
        figure = pictures.lines_by_round(rows, pictures.SIZES, "labellings")
        charts.draw(figure, "working-set", pictures.lines_text(rows, pictures.SIZES))
    st.subheader("What each round added")
    st.caption(words.GROWTH)
    charts.draw(pictures.growth_bars(rows), "growth", pictures.growth_text(rows))
    csv_button("These numbers as CSV", rows, "training", run, label)
