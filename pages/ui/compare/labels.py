"""Compare, tab Labels: F1 of each label, and the confusion matrix of a method."""

from __future__ import annotations

import streamlit as st

from pages.ui.choices.registry import Compare
from pages.ui.choices.variant_names import short_names
from pages.ui.compare import charts as pictures
from pages.ui.compare import confusion
from pages.ui.drawing import charts, metrics
from pages.ui.drawing.downloads import csv_button
from pages.ui.memory import FinishedRun


def tab(run: FinishedRun) -> None:
    st.header("Label by label, every method")
    st.caption("Each token counts by itself. The most frequent label is on top.")
    names = short_names(run.config.methods)
    charts.draw(pictures.label_dots(run.per_label, names), "labels", pictures.label_text(run.per_label))
    rows = [{"method": label, **row} for label, own in run.per_label.items() for row in own]
    csv_button("All labels as CSV", rows, "labels", run)
    _one_method(run)


def _one_method(run: FinishedRun) -> None:
    labels = list(run.per_label)
    label = Compare.method.buttons("Method", labels, labels[-1])
    table, matrix = st.columns([2, 3], gap="large")
    with matrix:
        cell = confusion.choose_cell(run, label)
    with table:
        st.header(f"Scores of {label}")
        st.dataframe(run.per_label[label], hide_index=True, column_config=metrics.column_formats())
        st.caption("Support: how many tokens truly have the label.")
        confusion.save_matrix(run, label)
    confusion.sentences_of(run, label, cell)
