"""Writing sequences as CoNLL columns or CSV, gzipped where the name ends in .gz. What a format cannot hold is refused."""

from __future__ import annotations

import gzip
import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import numpy as np

from labseq_core.checks import LabSeqError, require
from labseq_core.csv_text import csv_text
from labseq_core.data.formats.source import FILE_MARKS, base_name, codec_of, extension_of, is_packed
from labseq_core.data.formats.tabular import SEQUENCE_NAME, is_delimiter
from labseq_core.data.sequences import Column, Sequences

_ENDS_LINE = "\n\r\0"


def write_conll(
    sequences: Sequences,
    path: str | Path | BinaryIO,
    *,
    labels: Sequence[Sequence[str]] | None = None,
    separator: str = " ",
    encoding: str = "utf-8",
) -> None:
    """One token per line, a blank line after each sequence; `labels` (predicted ones) become the last column.

    The order is token, further columns, label, predicted label. Numbers are written so that they read back exactly.
    """
    require(separator in (" ", "\t"), f"separator is {separator!r}; choose ' ' or '\\t'")
    columns = _columns(sequences, labels)
    forbidden = _ENDS_LINE + (" \t" if separator == " " else "\t")
    for name, cells in columns.items():
        _refuse(
            name, cells, forbidden, "CoNLL columns", allow_empty=separator == "\t" and name in sequences.flat_columns
        )
    _refuse_lost_lines(columns["token"])
    lines = list(map(separator.join, zip(*columns.values())))
    texts = ["\n".join(lines[begin:end]) for begin, end in pairwise(sequences.offsets.tolist())]
    _write(path, "".join(text + "\n\n" for text in texts), encoding)


def write_csv(
    sequences: Sequences,
    path: str | Path | BinaryIO,
    *,
    labels: Sequence[Sequence[str]] | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
) -> None:
    """A table with the header sequence, token, further columns, label, predicted; sequences are numbered from 1.

    `delimiter=None` is a tab in .tsv files, else a comma. Text that a spreadsheet would take for a formula has an apostrophe
    in front (see `csv_text`), which `read_table` takes away.
    """
    if delimiter is None:
        delimiter = "\t" if isinstance(path, (str, Path)) and extension_of(str(path)) == ".tsv" else ","
    require(is_delimiter(delimiter), f"delimiter is {delimiter!r}; give one character")
    columns = _columns(sequences, labels)
    require(SEQUENCE_NAME not in columns, f"a column is named {SEQUENCE_NAME!r}, which the table needs; rename it")
    for name, cells in columns.items():
        _refuse(name, cells, _ENDS_LINE, "a table", allow_empty=name in sequences.flat_columns)
        _refuse("column name", [name], _ENDS_LINE, "a table", allow_empty=False)
    numbers = np.repeat(np.arange(1, len(sequences) + 1), sequences.lengths).tolist()
    cells: dict[str, list] = {SEQUENCE_NAME: numbers, **columns}
    real = {name: column for name, column in sequences.flat_columns.items() if isinstance(column, np.ndarray)}
    cells |= {name: _numbers(name, column) for name, column in real.items()}  # numbers are no text to be guarded
    _write(path, csv_text(cells, zip(*cells.values()), delimiter), encoding)


def _columns(sequences: Sequences, predicted: Sequence[Sequence[str]] | None) -> dict[str, list[str]]:
    """All cells by column, in the order they are written."""
    columns = {"token": sequences.flat_tokens}
    further = {name: _cells(name, column) for name, column in sequences.flat_columns.items()}
    taken = {"token", "label", "predicted"} & further.keys()
    require(not taken, f"a column is named {min(taken, default='')!r}, which has a meaning of its own; rename it")
    columns |= further
    if sequences.flat_labels is not None:
        columns["label"] = sequences.flat_labels
    if predicted is not None:
        lengths = [len(row) for row in predicted]
        fits = lengths == sequences.lengths.tolist()
        require(fits, "labels must have one list per sequence with one label per token")
        columns["predicted"] = [label for row in predicted for label in row]
    return columns


def _cells(name: str, column: Column) -> list[str]:
    return list(map(str, _numbers(name, column))) if isinstance(column, np.ndarray) else column


def _numbers(name: str, column: np.ndarray) -> list[float | str]:
    require(not np.isinf(column).any(), f"the column {name!r} has an infinite number, which no format here can hold")
    return ["NA" if math.isnan(value) else value for value in column.tolist()]


def _refuse(what: str, cells: list[str], forbidden: str, format_name: str, *, allow_empty: bool) -> None:
    everything = "".join(cells)
    for character in forbidden:
        if character in everything:
            place = next(place for place, cell in enumerate(cells) if character in cell)
            raise LabSeqError(
                f"{what} {cells[place]!r} (number {place + 1}) has the character {character!r}, which {format_name} "
                "cannot hold; replace it, or use another format or separator"
            )
    if not allow_empty and "" in cells:
        raise LabSeqError(f"{what} number {cells.index('') + 1} is empty, which {format_name} cannot hold; fill it in")


def _refuse_lost_lines(tokens: list[str]) -> None:
    """Tokens whose line a reader would take for the start of a document or for a blank one."""
    hit = next((token for token in tokens if token.startswith("-DOCSTART-") or not token.strip(" ")), None)
    require(hit is None, f"the token {hit!r} has a meaning of its own in CoNLL columns; replace it or write CSV")


def _write(path: str | Path | BinaryIO, text: str, encoding: str) -> None:
    try:
        data = text.encode(codec_of(encoding))
    except UnicodeEncodeError as error:
        character = text[error.start]
        raise LabSeqError(
            f"the character {character!r} does not exist in {encoding}; replace it or use utf-8"
        ) from None
    require(
        not data.startswith(FILE_MARKS),
        f"the text begins with {text[:3]!r}, the mark of another kind of file; change it",
    )
    if not isinstance(path, (str, Path)):
        path.write(data)
        return
    try:
        Path(path).write_bytes(gzip.compress(data, mtime=0) if is_packed(str(path)) else data)
    except OSError as error:
        raise LabSeqError(f"{base_name(path)} cannot be written ({error.strerror}); choose another place") from None
