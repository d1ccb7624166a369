"""Inside, two views of the tab GPSC: who decides on a word, and what the Gram matrix is like (thesis 5.2)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import pandas as pd
import streamlit as st

from labseq_core.explain import INFLUENCE_COLUMNS, rows_csv, spectrum
from pages.ui import cached as caching
from pages.ui.choices.registry import Inside
from pages.ui.drawing import charts, tokens
from pages.ui.drawing.downloads import csv_button
from pages.ui.drawing.plain_text import shortened
from pages.ui.inside import cached as caching_inside
from pages.ui.inside.gpsc import gram_charts as pictures
from pages.ui.inside.gpsc import gram_words as words
from pages.ui.memory import FinishedRun

_BARS, _LISTED = 12, 100  # observations in the chart and in the table
_FEWEST, _MOST = 10, 60  # observations in the heat map


def influence(run: FinishedRun, models: Mapping[str, str]) -> None:
    """Who decides on a word. models: labels by the names that the tab gives them; the first is shown first."""
    st.header("Who decides on a word")
    if not _is_quick(run):
        return
    st.markdown(words.INFLUENCE)
    name = _chosen_model(models)
    _influence(run, models[name], name)


def gram(run: FinishedRun, models: Mapping[str, str]) -> None:
    """The Gram matrix; models as above."""
    st.header("The Gram matrix")
    if not _is_quick(run):
        return
    st.markdown(words.GRAM)
    _gram(run, models[_chosen_model(models)])


def _is_quick(run: FinishedRun) -> bool:
    """Whether the training observations may be looked at: there are few, or somebody has asked for it."""
    there = caching.training_tokens(run)
    asked = {"button": "Look at the training observations", "icon": ":material/search:", "note": words.large(there)}
    return there <= caching.QUICK_TOKENS or Inside.observations.asked(run.run_id, **asked)


def _chosen_model(models: Mapping[str, str]) -> str:
    first = next(iter(models))
    return Inside.gp.buttons("Model", list(models), help=words.MODEL) if len(models) > 1 else first


def _influence(run: FinishedRun, label: str, name: str) -> None:
    text = caching.scored(run)[0]
    left, middle, right = st.columns(3)
    with left:
        number = Inside.text.choose("Sentence", 1, len(text), 1, help=words.SENTENCE)
    sentence, truth = text.tokens[number - 1], text.labels[number - 1]
    guess = caching_inside.predicted(run, label, number - 1)
    places = [str(place + 1) for place in range(len(sentence))]
    lines = {place: _line(int(place) - 1, sentence, truth, guess) for place in places}
    with middle:
        place = Inside.token.choose("Word", places, places[_first_shown(truth, guess)], lines.__getitem__)
    classes = caching.trained(run, label).classes_
    with right:
        wanted = Inside.decided.choose("Label", [words.PREDICTED, *classes], describe=shortened, help=words.FOR_LABEL)
    st.html(tokens.labellings(sentence, truth, {name: guess}, sorted({*classes, *truth})))
    against = Inside.against.choose("Against an average word", True, help=words.AVERAGE)
    by = "difference" if against else "contribution"
    asked = None if wanted == words.PREDICTED else wanted
    shown = caching_inside.influence(run, label, number - 1, int(place) - 1, asked)
    if not shown.rows:
        st.info("This model has no coefficients: it knows no training observation to compare with.")
        return
    rows = shown.largest(by)
    bars, table = st.columns(2, gap="large")
    with bars:
        st.markdown(words.influence_line(shown, rows[:_BARS], by, sentence[int(place) - 1]))
        alt = pictures.contribution_text(shown.label, rows[:_BARS], by)
        charts.draw(pictures.contribution_bars(rows[:_BARS], by), "influence", alt)
    with table:
        st.caption(words.HOW_INFLUENCE)
        titles = {"difference": "β·(k−k̄)", "contribution": "β·k", "kernel": "k", "usual": "k̄", "beta": "β"}
        numbers = {column: st.column_config.NumberColumn(title, format="%.4f") for column, title in titles.items()}
        order = ["word", "label", by, "kernel", "beta", "sequence", "position", "times"]
        listed = pd.DataFrame(rows[:_LISTED])
        st.dataframe(listed, hide_index=True, height=330, column_config=numbers, column_order=order)
    about = {"test_sentence": number, "test_word": place, "for_label": shown.label}
    made = partial(rows_csv, {label: rows}, INFLUENCE_COLUMNS)
    csv_button("All contributions as CSV", made, "influence", run, more=about, main=True)
    st.markdown(words.TRY_INFLUENCE)


def _line(place: int, sentence: list[str], truth: list[str], guess: list[str]) -> str:
    wrong = "" if truth[place] == guess[place] else f" ✗ {shortened(guess[place])}"
    return f"{place + 1}: {shortened(sentence[place])} ({shortened(truth[place])}{wrong})"


def _first_shown(truth: list[str], guess: list[str]) -> int:
    """A word that is labelled wrong, else one with the rarest label of the sentence."""
    wrong = [place for place, (one, other) in enumerate(zip(truth, guess)) if one != other]
    return wrong[0] if wrong else min(range(len(truth)), key=lambda place: truth.count(truth[place]))


def _gram(run: FinishedRun, label: str) -> None:
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        size = Inside.sample.choose("Observations", _FEWEST, _MOST, _MOST, st.slider, help=words.SIZE)
    sample = caching_inside.gram_of(run, label, size)
    with right:
        same_length = Inside.cosine.choose("Same length for all", help=words.COSINE)
    if same_length:
        sample = sample.cosines()
    values = spectrum(sample.values)
    st.markdown(words.spectrum_line(values, *sample.likeness()))
    matrix, eigenvalues = st.columns(2, gap="large")
    with matrix:
        charts.draw(pictures.gram_heat_map(sample), "gram", pictures.gram_text(sample))
        names = [pictures.name_of(row) for row in sample.rows]
        table = pd.DataFrame(sample.values, columns=names)
        table.insert(0, "observation", names)
        csv_button("This matrix as CSV", table, "gram", run, label)
    with eigenvalues:
        charts.draw(pictures.eigenvalue_line(values), "spectrum", pictures.eigenvalue_text(values))
        table = pd.DataFrame({"number": range(1, len(values.eigenvalues) + 1), "eigenvalue": values.eigenvalues})
        csv_button("These eigenvalues as CSV", table, "spectrum", run, label)
    st.caption(words.SPECTRUM)
    st.markdown(words.TRY_GRAM)
