"""Compare, tab Labels: F1 of each label, and confusion matrices whose cells open their sentences."""

from __future__ import annotations

import streamlit as st

from labseq_core.experiments import RunResult
from pages.ui.choices import session
from pages.ui.choices.variant_names import short_names
from pages.ui.compare import cached as caching_compare
from pages.ui.compare import charts as pictures
from pages.ui.compare import words
from pages.ui.compare.sentences import leaf_through
from pages.ui.drawing import charts, metrics
from pages.ui.drawing.downloads import csv_button
from pages.ui.drawing.plain_text import shortened

_CELL, _PAGE = "cell", "mistakes"


def tab(found: RunResult) -> None:
    st.header("Label by label, every method")
    st.caption("Each token counts by itself. The most frequent label is on top.")
    names = short_names(found.config.methods)
    charts.draw(pictures.label_dots(found.per_label, names), "labels", pictures.label_text(found.per_label))
    rows = [{"method": label, **row} for label, own in found.per_label.items() for row in own]
    csv_button("All labels as CSV", rows, "labels", found)
    _one_method(found)


def _one_method(found: RunResult) -> None:
    labels = list(found.per_label)
    label = session.pick("Method", "method", labels, labels[-1])
    counts = found.confusion[label]
    cells = ordered_cells(counts["labels"], counts["counts"])
    texts = {name: f"{_written(true, predicted)} ({count:,})" for name, (true, predicted, count) in cells.items()}
    table, matrix = st.columns([2, 3], gap="large")
    with matrix:
        st.header("What is taken for what")
        st.caption(words.CELLS)
        place = st.empty()
        wanted = session.choose(
            "Cell: true → predicted (tokens)", _CELL, list(cells), lambda name: texts.get(name, name), next(iter(cells))
        )
        true, predicted, tokens = cells[wanted]
        with place:
            _matrix(label, counts, (true, predicted))
    with table:
        st.header(f"Scores of {label}")
        st.dataframe(found.per_label[label], hide_index=True, column_config=metrics.column_formats())
        st.caption("Support: how many tokens truly have the label.")
        rows = [
            {"method": label, "true": true, "predicted": predicted, "tokens": count}
            for true, row in zip(counts["labels"], counts["counts"])
            for predicted, count in zip(counts["labels"], row)
        ]
        csv_button("This matrix as CSV", rows, "confusion", found, label)
    places = caching_compare.mistaken(found.run_id, label, true, predicted)
    st.header("The sentences of this cell")
    st.text(words.cell_line(label, shortened(true), shortened(predicted), tokens, len(places)))
    _begin_anew([found.run_id, label, wanted])
    leaf_through(found, places, _PAGE)


def _written(true: str, predicted: str) -> str:
    return words.cell_name(shortened(true), shortened(predicted))


def _begin_anew(shown: list[str]) -> None:
    """Another cell, method or run begins on its first page."""
    if st.session_state.get(f"{_PAGE}.of", shown) != shown:
        session.forget(_PAGE)
    st.session_state[f"{_PAGE}.of"] = shown


def _matrix(label: str, counts: dict, chosen: tuple[str, str]) -> None:
    shares = metrics.row_shares(counts["counts"])
    figure = pictures.clickable_confusion(counts["labels"], counts["counts"], shares, chosen)
    alt = f"Confusion of {label}: rows are true labels, columns predicted labels"
    charts.draw(figure, "confusion", alt, lambda cell: session.remember(_CELL, cell))


def ordered_cells(labels: list[str], counts: list[list[int]]) -> dict[str, tuple[str, str, int]]:
    """All cells with tokens by name: mistakes first, the most frequent on top, then what is right."""
    cells = [
        (true, predicted, count)
        for true, row in zip(labels, counts)
        for predicted, count in zip(labels, row)
        if count
    ]  # fmt: skip
    cells.sort(key=lambda cell: (cell[0] == cell[1], -cell[2]))
    return {words.cell_name(*cell[:2]): cell for cell in cells}
