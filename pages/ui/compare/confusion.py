"""The confusion matrix of a method: its heat map, the choice of a cell, the sentences of that cell, and its CSV."""

from __future__ import annotations

from dataclasses import dataclass

import plotly.graph_objects as go
import streamlit as st

from pages.ui.choices.registry import Compare
from pages.ui.compare import cached as caching_compare
from pages.ui.compare.sentences import leaf_through
from pages.ui.drawing import charts
from pages.ui.drawing.charts import CELL_LETTERS, MARGIN, clickable, kept
from pages.ui.drawing.colours import look
from pages.ui.drawing.downloads import csv_button
from pages.ui.drawing.plain_text import names_in_chart, shortened
from pages.ui.memory import FinishedRun

_LARGEST_CELL, _HIGHEST = 30, 560  # pixels of a mark, and of a matrix of many labels
_FEW = 12  # labels whose cells are large enough for numbers
_HELP = (
    "Rows are true labels, columns predicted ones; numbers are tokens, colour is the share of the row. **Click a cell**, or "
    "choose it below, to see its sentences."
)


@dataclass(frozen=True)
class Cell:
    """How often one label was predicted where another, or the same, is true."""

    true: str
    predicted: str
    tokens: int

    @property
    def name(self) -> str:
        """As the URL has it."""
        return cell_name(self.true, self.predicted)

    @property
    def line(self) -> str:
        """As the list of cells has it: labels may be long."""
        return f"{cell_name(shortened(self.true), shortened(self.predicted))} ({self.tokens:,})"


def cell_name(true: str, predicted: str) -> str:
    return f"{true} → {predicted}"


def choose_cell(run: FinishedRun, label: str) -> Cell:
    """The matrix of a method, in which a cell is chosen by a click or from a list."""
    labels, counts = _counted(run, label)
    cells = ordered_cells(labels, counts)
    st.header("What is taken for what")
    st.caption(_HELP)
    place = st.empty()
    wanted = Compare.cell.choose("Cell: true → predicted (tokens)", list(cells), describe=lambda name: cells[name].line)
    alt = f"Confusion of {label}: rows are true labels, columns predicted labels"
    with place:
        figure = heat_map(labels, counts, cells[wanted])
        charts.draw(figure, "confusion", alt, Compare.cell.change)
    return cells[wanted]


def save_matrix(run: FinishedRun, label: str) -> None:
    """A button that saves the whole matrix, a row per cell."""
    labels, counts = _counted(run, label)
    rows = [
        {"method": label, "true": true, "predicted": predicted, "tokens": count}
        for true, row in zip(labels, counts)
        for predicted, count in zip(labels, row)
    ]
    csv_button("This matrix as CSV", rows, "confusion", run, label)


def sentences_of(run: FinishedRun, label: str, cell: Cell) -> None:
    """The sentences that a cell counts, with the labels of all methods."""
    places = caching_compare.mistaken(run, label, cell.true, cell.predicted)
    st.header("The sentences of this cell")
    st.text(cell_line(label, cell, len(places)))
    leaf_through(run, places, Compare.mistakes)


def _counted(run: FinishedRun, label: str) -> tuple[list[str], list[list[int]]]:
    """Labels, and counts[true][predicted]."""
    return run.confusion[label]["labels"], run.confusion[label]["counts"]


def ordered_cells(labels: list[str], counts: list[list[int]]) -> dict[str, Cell]:
    """All cells with tokens by name: mistakes first, the most frequent on top, then what is right."""
    cells = [
        Cell(true, predicted, count)
        for true, row in zip(labels, counts)
        for predicted, count in zip(labels, row)
        if count
    ]  # fmt: skip
    cells.sort(key=lambda cell: (cell.true == cell.predicted, -cell.tokens))
    return {cell.name: cell for cell in cells}


def row_shares(counts: list[list[int]]) -> list[list[float]]:
    """Each count as a share of its row; an empty row stays empty."""
    return [[count / total if total else 0.0 for count in row] for row in counts for total in [sum(row)]]


def cell_line(label: str, cell: Cell, sentences: int) -> str:
    """What a cell holds, as a sentence of plain text."""
    true, predicted = shortened(cell.true), shortened(cell.predicted)
    many = "sentence" if sentences == 1 else "sentences"
    if cell.true == cell.predicted:
        return f"{label} rightly says {true} of {cell.tokens:,} tokens, in {sentences:,} {many}."
    return f"{label} takes {true} for {predicted} {cell.tokens:,} times, in {sentences:,} {many}."


@kept
def heat_map(labels: list[str], counts: list[list[int]], chosen: Cell) -> go.Figure:
    """Rows are true labels, columns predicted ones; colour is the share within the row, the number is the count. The chosen
    cell has a frame, and over each cell with tokens lies a mark nobody sees, which is what a click finds.
    """
    few, names, shares = len(labels) <= _FEW, names_in_chart(labels, CELL_LETTERS), row_shares(counts)
    figure = go.Figure(
        go.Heatmap(
            z=shares, x=names, y=names, customdata=counts, text=counts if few else None,
            texttemplate="%{text}" if few else None, zmin=0, zmax=1, showscale=False, xgap=1, ygap=1,
            hovertemplate="true %{y}, predicted %{x}: %{customdata} tokens, %{z:.1%} of the row<extra></extra>",
        )
    )  # fmt: skip
    _marks_to_click(figure, labels, names, counts, shares)
    row, column = labels.index(chosen.true), labels.index(chosen.predicted)
    figure.add_shape(
        type="rect", x0=column - 0.5, x1=column + 0.5, y0=row - 0.5, y1=row + 0.5,
        line={"color": look(1).colour, "width": 3},
    )  # fmt: skip
    figure.update_layout(
        height=min(700, 34 * len(labels) + 120), margin={**MARGIN, "t": 10},
        xaxis={"title": "predicted", "type": "category", "side": "bottom"},
        yaxis={"title": "true", "type": "category", "autorange": "reversed"},
    )  # fmt: skip
    return clickable(figure)


def _marks_to_click(
    figure: go.Figure, labels: list[str], names: list[str], counts: list[list[int]], shares: list[list[float]]
) -> None:
    places = [(row, column) for row, counted in enumerate(counts) for column, count in enumerate(counted) if count]
    unseen = {"opacity": 0.0}
    figure.add_scatter(
        x=[names[column] for _, column in places], y=[names[row] for row, _ in places], mode="markers", showlegend=False,
        marker={"symbol": "square", "size": min(_LARGEST_CELL, _HIGHEST / len(labels)), **unseen},
        selected={"marker": unseen}, unselected={"marker": unseen},
        customdata=[cell_name(labels[row], labels[column]) for row, column in places],
        hovertemplate=[
            f"true {names[row]}, predicted {names[column]}: {counts[row][column]:,} tokens, "
            f"{shares[row][column]:.1%} of the row. Click to see them.<extra></extra>"
            for row, column in places
        ],
    )  # fmt: skip
