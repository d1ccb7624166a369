"""Readers of one token per line with a blank line after each sequence: CoNLL columns and CoNLL-U."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np

from labseq_core.checks import require
from labseq_core.data.formats.cells import build, require_few_columns, require_filled
from labseq_core.data.formats.lines import Shared, TokenLines, blocks
from labseq_core.data.formats.source import ONE_COLUMN, DataError, Source, base_name, no_tokens, read_text
from labseq_core.data.sequences import Sequences

CONLLU_FIELDS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_CONLLU_CHOICES = CONLLU_FIELDS[2:]
_CONLLU_NEVER_BLANK = frozenset({"upos", "xpos", "head", "deprel"})
_RANGE_OR_EMPTY_NODE = re.compile(r"\d+[-.]\d+")
_DOCUMENT_START = re.compile(r"^-DOCSTART-(?=[ \t]|$).*$", re.MULTILINE)


def read_conll(
    source: Source,
    *,
    token_column: int = 0,
    label_column: int | None = -1,
    columns: Sequence[str] | None = None,
    separator: str | None = None,
    encoding: str = "utf-8",
    name: str | None = None,
) -> Sequences:
    """Columns of text, one token per line, a blank line after each sequence.

    Columns are counted from 0, negative numbers from the end; `label_column=None` reads text without labels.
    `columns` names the other columns in file order (default "column2" for the second column of the file, and so on).
    `separator=None` splits at spaces and tabs; other Unicode spaces stay inside tokens. `-DOCSTART-` lines are skipped.
    """
    file = base_name(source, name)
    require(separator in (None, " ", "\t"), f"separator is {separator!r}; choose None (any blank), ' ' or '\\t'")
    grid = _read_grid(file, read_text(source, encoding, name), separator)
    token_at = _position(grid, "token_column", token_column)
    label_at = None if label_column is None else _label_position(grid, label_column, token_at)
    others = [place for place in range(grid.width) if place not in (token_at, label_at)]
    names = _column_names(file, others, columns)
    tokens, line_of = grid.columns[token_at], grid.lines.line_of
    require_filled(file, "token", tokens, line_of)
    labels = None if label_at is None else grid.columns[label_at]
    if labels is not None:
        require_filled(file, "label", labels, line_of)
    further = {key: grid.columns[place] for key, place in zip(names, others)}
    return build(file, tokens, labels, further, grid.lines.ends, line_of)


@dataclass(frozen=True)
class _Grid:
    """The cells of all token lines by column, and where they came from."""

    file: str
    columns: list[list[str]]
    lines: TokenLines

    @property
    def width(self) -> int:
        return len(self.columns)


def _read_grid(file: str, text: str, separator: str | None) -> _Grid:
    columns: list[list[str]] = []
    line_numbers: list[np.ndarray] = []
    shared, between = Shared(), separator or " "
    for first, block in blocks(file, text):
        lines = _tidy(block, separator).split("\n")
        rows = list(filter(None, lines))
        if not rows:
            continue
        numbers = np.flatnonzero(np.fromiter(map(bool, lines), bool, len(lines))) + first
        widths = np.fromiter(map(str.count, rows, repeat(between)), np.int64, len(rows)) + 1
        if not columns:
            width = int(np.bincount(widths).argmax())
            require_few_columns(file, int(numbers[np.argmax(widths == width)]), width)
            columns = [[] for _ in range(width)]
        ragged = np.flatnonzero(widths != len(columns))
        if ragged.size:
            cause = (
                f"{_columns(widths[ragged[0]])} where {len(columns)} {'was' if len(columns) == 1 else 'were'} expected"
            )
            fix = "give every token line the same number of columns"
            raise DataError(file, int(numbers[ragged[0]]), cause, fix)
        line_numbers.append(numbers)
        cells = between.join(rows).split(between)
        for place, column in enumerate(columns):
            column.extend(map(shared.__getitem__, cells[place :: len(columns)]))
    if not columns:
        raise no_tokens(file)
    return _Grid(file, columns, TokenLines(np.concatenate(line_numbers)))


def _tidy(text: str, separator: str | None) -> str:
    """The same lines with one separator between columns and nothing in lines without a token."""
    if separator is None:
        text = text.replace("\t", " ")
    if separator != "\t":
        text = re.sub(" {2,}", " ", text)
        text = re.sub("^ | $", "", text, flags=re.MULTILINE)
    else:
        text = re.sub("^[ \t]+$", "", text, flags=re.MULTILINE)
    return _DOCUMENT_START.sub("", text)


def _position(grid: _Grid, argument: str, column: int) -> int:
    require(isinstance(column, int), f"{argument} is {column!r}; give a number, counted from 0 (-1: the last column)")
    if not -grid.width <= column < grid.width:
        cause = f"{_columns(grid.width)}, so there is no {argument} {column}"
        fix = f"choose {argument} between 0 and {grid.width - 1}, or -1 for the last"
        raise DataError(grid.file, grid.lines.line_of(0), cause, fix)
    return column % grid.width


def _label_position(grid: _Grid, label_column: int, token_at: int) -> int:
    place = _position(grid, "label_column", label_column)
    if place == token_at:
        cause = "no label column: the only column is the token" if grid.width == 1 else ONE_COLUMN
        fix = "add a label to each line, choose another label_column, or read it unlabelled (label_column=None)"
        raise DataError(grid.file, grid.lines.line_of(0), cause, fix)
    return place


def _column_names(file: str, others: list[int], names: Sequence[str] | None) -> list[str]:
    if names is None:
        return [f"column{place + 1}" for place in others]
    require(not isinstance(names, str), "columns must be a list of names, not one string")
    fits = len(names) == len(others)
    require(
        fits, f"{file} has {len(others)} columns beside token and label, but {len(names)} names were given in columns"
    )
    require(len(set(names)) == len(names), "columns contains a name twice; give each column its own name")
    return list(names)


def _columns(count: int) -> str:
    return "1 column" if count == 1 else f"{count} columns"


def read_conllu(
    source: Source,
    *,
    label: str | None = "upos",
    columns: Sequence[str] = (),
    encoding: str = "utf-8",
    name: str | None = None,
) -> Sequences:
    """CoNLL-U with one of its fields as label (None: no labels) and further fields on request as columns.

    Comments, multiword ranges (1-2) and empty nodes (1.1) are skipped: labels belong to syntactic words.
    """
    file = base_name(source, name)
    require(not isinstance(columns, str), "columns must be a list of fields, not one string")
    for field in (label, *columns):
        known = field is None or field in _CONLLU_CHOICES
        require(known, f"unknown CoNLL-U field {field!r}; choose one of {', '.join(_CONLLU_CHOICES)}")
    fields = ["form", *([label] if label else []), *columns]
    cells, line_numbers, ends = _conllu_cells(file, read_text(source, encoding, name), fields)
    line_of = line_numbers.__getitem__
    require_filled(file, "token", cells["form"], line_of)
    if label:
        require_filled(file, "label", cells[label], line_of)
        _require_given(file, label, cells[label], line_numbers)
    further = {field: list(cells[field]) for field in columns}
    return build(file, cells["form"], cells[label] if label else None, further, ends, line_of)


def _conllu_cells(file: str, text: str, fields: list[str]) -> tuple[dict[str, list[str]], list[int], list[int]]:
    """The wanted fields of all words, their line numbers, and the positions where sentences end."""
    cells: dict[str, list[str]] = {field: [] for field in fields}
    wanted = [(CONLLU_FIELDS.index(field), column.append) for field, column in cells.items()]
    line_numbers: list[int] = []
    ends: list[int] = [0]
    shared = Shared()
    for first, block in blocks(file, text):
        for number, line in enumerate(block.split("\n"), start=first):
            if not line or line.isspace():
                if len(line_numbers) > ends[-1]:
                    ends.append(len(line_numbers))
            elif line[0] != "#":
                row = line.split("\t")
                _require_conllu(file, number, row)
                if row[0].isdecimal():
                    line_numbers.append(number)
                    for place, append in wanted:
                        append(shared[row[place]])
    if len(line_numbers) > ends[-1]:
        ends.append(len(line_numbers))
    return cells, line_numbers, ends[1:]


def _require_conllu(file: str, number: int, row: list[str]) -> None:
    if len(row) != len(CONLLU_FIELDS):
        fix = "separate the ten fields of CoNLL-U by single tabs"
        raise DataError(file, number, f"{_columns(len(row))} where 10 were expected", fix)
    if not (row[0].isdecimal() or _RANGE_OR_EMPTY_NODE.fullmatch(row[0])):
        raise DataError(file, number, f"the id {row[0]!r} is not a number", "start each token line with 1, 2, ...")


def _require_given(file: str, label: str, labels: list[str], line_numbers: list[int]) -> None:
    if label in _CONLLU_NEVER_BLANK and "_" in labels:
        line = line_numbers[labels.index("_")]
        raise DataError(file, line, f"no {label} is given (_)", "fill it in, or choose another field as label")
