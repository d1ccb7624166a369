"""What all readers share: columns of numbers or strings, and the checks that need a line number."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

import numpy as np

from labseq_core.data.formats.source import DataError, no_tokens
from labseq_core.data.limits import MAX_CELL_CHARACTERS, MAX_COLUMNS, MAX_LABELS
from labseq_core.data.sequences import Column, Sequences

LineOf = Callable[[int], int]  # from the position of a token to the line that it stands on
MISSING = frozenset({"", "NA", "NaN", "nan"})
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


def as_column(cells: list[str]) -> Column:
    """Float64 where every cell is a number or missing (NaN), else the strings as they are."""
    values: dict[str, float] = {}
    for cell in set(cells):
        if cell in MISSING:
            values[cell] = math.nan
        elif _NUMBER.fullmatch(cell) and math.isfinite(number := float(cell)):
            values[cell] = number
        else:
            return cells
    return np.fromiter(map(values.__getitem__, cells), np.float64, len(cells))


def require_filled(file: str, what: str, cells: list[str], line_of: LineOf) -> None:
    """A token or label must not be the empty string."""
    if "" in cells:
        fix = f"give every line a {what}, or leave the whole line blank"
        raise DataError(file, line_of(cells.index("")), f"the {what} is empty", fix)


def require_few_columns(file: str, line: int | None, columns: int) -> None:
    if columns > MAX_COLUMNS:
        raise DataError(file, line, f"{columns:,} columns, more than {MAX_COLUMNS:,}", "leave columns out")


def require_short_cells(file: str, cells: list[str], line_of: LineOf) -> None:
    longest = max(map(len, cells), default=0)
    if longest > MAX_CELL_CHARACTERS:
        place = next(place for place, cell in enumerate(cells) if len(cell) == longest)
        raise too_long(file, line_of(place), f"{longest:,}")


def too_long(file: str, line: int | None, characters: str) -> DataError:
    cause = f"a cell has {characters} characters, more than {MAX_CELL_CHARACTERS:,}"
    return DataError(file, line, cause, "shorten it, or check what separates columns")


def require_few_labels(file: str, labels: list[str], line_of: LineOf) -> None:
    distinct = dict.fromkeys(labels)
    if len(distinct) > MAX_LABELS:
        one_too_many = labels.index(list(distinct)[MAX_LABELS])
        cause = f"{len(distinct):,} distinct labels in the file, number {MAX_LABELS + 1:,} of them here"
        fix = f"choose a label column with at most {MAX_LABELS:,}, or None for no labels"
        raise DataError(file, line_of(one_too_many), cause, fix)


def build(
    file: str,
    tokens: list[str],
    labels: list[str] | None,
    columns: dict[str, list[str]],
    ends: Sequence[int] | np.ndarray,
    line_of: LineOf,
) -> Sequences:
    """Sequences from flat cells; `ends[i]` is the position after the last token of sequence i. What is too much is refused."""
    if not tokens:
        raise no_tokens(file)
    require_few_columns(file, None, len(columns))
    for cells in (tokens, labels or [], list(columns), *columns.values()):
        require_short_cells(file, cells, line_of)
    require_few_labels(file, labels or [], line_of)
    offsets = np.concatenate([[0], np.asarray(ends, dtype=np.int64)])
    return Sequences(tokens, offsets, labels, {name: as_column(cells) for name, cells in columns.items()})
