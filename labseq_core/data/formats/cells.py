"""What all readers share: columns of numbers or strings, and the checks that need a line number."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from labseq_core.data.formats.source import DataError, no_tokens
from labseq_core.data.sequences import Column, Sequences

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


def require_filled(file: str, what: str, cells: list[str], line_numbers: Sequence[int]) -> None:
    """A token or label must not be the empty string."""
    if "" in cells:
        line = int(line_numbers[cells.index("")])
        raise DataError(file, line, f"the {what} is empty", f"give every line a {what}, or leave the whole line blank")


def build(
    file: str,
    tokens: list[str],
    labels: list[str] | None,
    columns: dict[str, list[str]],
    ends: Sequence[int] | np.ndarray,
) -> Sequences:
    """Sequences from flat cells; `ends[i]` is the position after the last token of sequence i."""
    if not tokens:
        raise no_tokens(file)
    offsets = np.concatenate([[0], np.asarray(ends, dtype=np.int64)])
    return Sequences(tokens, offsets, labels, {name: as_column(cells) for name, cells in columns.items()})
