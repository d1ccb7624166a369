"""Inside, tab Weights: what speaks for a label, which label follows which, and how few weights are enough."""

from __future__ import annotations

from functools import partial
from math import isfinite

import streamlit as st

from labseq_core import LabSeqError
from labseq_core.explain import (
    has_weights,
    label_weights,
    shows_log_probabilities,
    transition_table,
    weight_summary,
    weights_csv,
)
from labseq_core.learners.base import SequenceLearner
from pages.ui import cached as caching
from pages.ui.choices.registry import Inside
from pages.ui.choices.run import choose_run, shown_choices
from pages.ui.drawing import charts, metrics
from pages.ui.drawing.downloads import csv_button
from pages.ui.drawing.plain_text import in_markdown, shortened
from pages.ui.inside.weights import l1_path
from pages.ui.memory import FinishedRun

OTHERWISE = "No method of this run has weights to show, so another run is shown."
_ALL, _FEWER = "Weights and transitions", "L1 path"


def tab() -> None:
    """The weights of one model of a run, or how they become fewer."""
    run = choose_run(has_weights, OTHERWISE)
    if run is None:
        return
    if Inside.weights.buttons("Show", [_ALL, _FEWER]) == _FEWER:
        l1_path.show(run)
        return
    choices = shown_choices(run, has_weights)
    # Every weight of a CRF means something; without one, the last method is that with most behind it.
    first = next((choice for choice in choices if choice.method == "crf"), choices[-1])
    method = Inside.weigh.buttons("Method", [choice.label for choice in choices], first.label)
    _side_by_side(run, method, caching.trained(run, method))


def _side_by_side(run: FinishedRun, method: str, learner: SequenceLearner) -> None:
    attributes, transitions = st.columns(2, gap="large")
    with attributes:
        try:
            _attributes(run, method, learner)
        except LabSeqError as reason:
            st.info(in_markdown(str(reason)))
    with transitions:
        _transitions(method, learner)


def _attributes(run: FinishedRun, method: str, learner: SequenceLearner) -> None:
    line = metrics.weight_line(weight_summary(learner), shows_log_probabilities(learner))
    st.header("What speaks for a label")
    st.markdown(line)
    choice, search = st.columns(2)
    with choice:
        label = Inside.label.choose("Label", learner.classes_, describe=shortened)
    with search:
        wanted = Inside.attribute.choose(
            "Attributes with", placeholder="a part of the name",
            help="Shows only attributes that have this in their name, such as word= or a word.",
        )  # fmt: skip
    rows = label_weights(learner, label, contains=wanted)
    if not rows:
        st.info(f"No nonzero weight of {in_markdown(shortened(label))} belongs to such an attribute.")
    elif shows_log_probabilities(learner):
        st.dataframe(
            rows,
            hide_index=True,
            column_config={"weight": st.column_config.NumberColumn("log p(word | label)", format="%.4f")},
        )
    else:
        charts.draw(charts.weight_bars(rows), "weights", charts.weight_text(label, rows))
        st.caption(
            "The highest and the lowest weights; a positive one speaks for the label, a negative one against it."
        )
    csv_button(
        "All weights as CSV", partial(weights_csv, learner), "weights", run, method, main=True,
        help_text="Every weight that is not zero, transitions included, with full precision.",
    )  # fmt: skip


def _transitions(method: str, learner: SequenceLearner) -> None:
    st.header("Which label follows which")
    labels, weights = transition_table(learner)
    unit = "logarithms of probabilities" if shows_log_probabilities(learner) else "weights"
    if weights.any():
        crosses = "" if isfinite(weights.min()) else " ✕: forbidden by the constraints."
        st.caption(f"Rows are labels, columns the labels after them; numbers are {unit}.{crosses}")
    else:
        st.caption(f"{method} sees every token by itself: it has no weights for pairs of labels, all are zero.")
    alt = f"Transition {unit} of {method}: rows are labels, columns the labels that follow"
    charts.draw(charts.transition_heat_map(labels, weights.tolist()), "transitions", alt)
