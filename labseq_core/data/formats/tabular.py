"""Readers of tables with a header (TSV, CSV) and of JSON lines."""

from __future__ import annotations

import bisect
import csv
import json
import math
from dataclasses import dataclass
from itertools import compress, repeat

import numpy as np

from labseq_core.checks import require
from labseq_core.csv_text import plain_cell
from labseq_core.data.formats.cells import (
    LineOf,
    build,
    require_few_columns,
    require_filled,
    require_short_cells,
    too_long,
)
from labseq_core.data.formats.lines import Shared, TokenLines, blocks
from labseq_core.data.formats.source import ONE_COLUMN, DataError, Source, base_name, extension_of, read_text
from labseq_core.data.limits import MAX_JSON_LINE_CHARACTERS
from labseq_core.data.sequences import Column, Sequences

_USUAL_TOKEN_NAMES = ("token", "word", "form")
SEQUENCE_NAME = "sequence"


def read_table(
    source: Source,
    *,
    delimiter: str | None = None,
    token: str | None = None,
    label: str | None = "label",
    sequence: str | None = None,
    quoted: bool = True,
    encoding: str = "utf-8",
    name: str | None = None,
) -> Sequences:
    """A table with a header line, one token per row, quoted as Python's csv module does.

    `token=None` takes the first of token, word, form that the header has; `label=None` reads text without labels.
    A sequence ends where the value of the column `sequence` changes (an empty cell repeats the one above); without
    such a column it ends at blank rows. A column that is named "sequence" is used without being asked for.
    `delimiter=None` is a tab in .tsv files and a comma in .csv files, else what the header shows.
    """
    file = base_name(source, name)
    text = read_text(source, encoding, name)
    delimiter = delimiter or _delimiter(file, text)
    require(is_delimiter(delimiter), f"delimiter is {delimiter!r}; give one character")
    table = _read_rows(file, text, delimiter, quoted)
    token = token or next((usual for usual in _USUAL_TOKEN_NAMES if usual in table.columns), _USUAL_TOKEN_NAMES[0])
    if sequence is None and SEQUENCE_NAME in table.columns:
        sequence = SEQUENCE_NAME
    if token == label:
        raise DataError(file, 1, ONE_COLUMN, "choose another column as label, or None for no labels")
    tokens = table.column(token, "token")
    line_of = table.lines.line_of
    require_filled(file, "token", tokens, line_of)
    labels = None if label is None else table.column(label, "label")
    if labels is not None:
        require_filled(file, "label", labels, line_of)
    ends = table.lines.ends
    if sequence is not None:
        ends = _ends_by_change(table.column(sequence, "sequence"), ends)
    others = {key: table.column(key, key) for key in table.columns if key not in (token, label, sequence)}
    return build(file, tokens, labels, others, ends, line_of)


@dataclass(frozen=True)
class _Table:
    file: str
    columns: dict[str, list[str]]
    lines: TokenLines

    def column(self, key: str, role: str) -> list[str]:
        if key not in self.columns:
            cause = f"no column {key!r} in the header, which has {', '.join(map(repr, list(self.columns)[:10]))}"
            fix = f"name one of these as {role}, or choose the format conll if the file has no header"
            raise DataError(self.file, 1, cause, fix)
        return self.columns[key]


def is_delimiter(delimiter: str) -> bool:
    """Whether cells can be separated by it."""
    return len(delimiter) == 1 and delimiter not in '"\r\n '


def _delimiter(file: str, text: str) -> str:
    header = text.lstrip("\n").split("\n", 1)[0]
    return {".tsv": "\t", ".csv": ","}.get(extension_of(file)) or ("\t" if "\t" in header else ",")


def _read_rows(file: str, text: str, delimiter: str, quoted: bool) -> _Table:
    columns: dict[str, list[str]] = {}
    line_numbers: list[np.ndarray] = []
    shared = Shared(plain_cell)
    for first, block in blocks(file, text):
        rows = _csv_rows(file, first, block.split("\n"), delimiter, quoted)
        filled = np.fromiter(map(str.strip, map("".join, rows), repeat(" ")), np.bool_, len(rows))
        numbers, rows = np.flatnonzero(filled) + first, list(compress(rows, filled))
        if not columns and rows:
            columns = _header(file, int(numbers[0]), rows[0])
            numbers, rows = numbers[1:], rows[1:]
        widths = np.fromiter(map(len, rows), np.int64, len(rows))
        ragged = np.flatnonzero(widths != len(columns))
        if ragged.size:
            cause = f"{widths[ragged[0]]} columns where the header has {len(columns)}"
            raise DataError(file, int(numbers[ragged[0]]), cause, "give every row as many cells as the header")
        line_numbers.append(numbers)
        for column, cells in zip(columns.values(), zip(*rows)):
            column.extend(map(shared.__getitem__, cells))
    lines = TokenLines(np.concatenate(line_numbers))
    if lines.numbers.size == 0:
        raise DataError(file, None, "no rows below the header", "give at least one token")
    return _Table(file, columns, lines)


def _header(file: str, line: int, row: list[str]) -> dict[str, list[str]]:
    require_few_columns(file, line, len(row))
    header: dict[str, list[str]] = {}
    for cell in row:
        name = plain_cell(cell.strip(" "))
        if name in header:
            raise DataError(file, line, f"the header has {name!r} twice", "give each column its own name")
        header[name] = []
    return header


def _csv_rows(file: str, first: int, lines: list[str], delimiter: str, quoted: bool) -> list[list[str]]:
    """A row for each line. A cell over several lines is nearly always a lone quote mark: refused."""
    quoting = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    reader = csv.reader(lines, delimiter=delimiter, quoting=quoting, strict=True)
    rows: list[list[str]] = []
    fault = ""
    try:
        for row in reader:
            rows.append(row)
            if reader.line_num > len(rows):
                rows.pop()
                break
    except csv.Error as error:
        fault = str(error)
    if len(rows) == len(lines):
        return rows
    line = first + len(rows)
    fix = 'write a quote mark inside a cell twice and the cell in quotes, or read with quoted=False if " is plain text'
    if reader.line_num > len(rows) + 1 or "unexpected end" in fault:
        raise DataError(file, line, "a quoted cell goes on over the end of the line", fix)
    if "field limit" in fault:
        raise too_long(file, line, "too many")
    raise DataError(file, line, f"the row cannot be split into cells ({fault})", fix)


def _ends_by_change(values: list[str], blank_row_ends: np.ndarray) -> np.ndarray:
    """Where the value changes, or a blank row stands; an empty cell repeats the one above."""
    codes: dict[str, int] = {"": 0}
    code = np.fromiter((codes.setdefault(value, len(codes)) for value in values), np.int64, len(values))
    given = np.flatnonzero(code)
    changes = given[1:][np.diff(code[given]) != 0]
    if given.size and given[0] > 0:  # the first rows have none: theirs is the empty one
        changes = np.append(given[0], changes)
    return np.union1d(changes, blank_row_ends)


def read_jsonl(source: Source, *, encoding: str = "utf-8", name: str | None = None) -> Sequences:
    """One JSON object per line: "tokens" (list of strings), optionally "labels", and further lists as columns.

    Lists of numbers (null: not given) become float64 columns. Values that are not lists are ignored.
    """
    file = base_name(source, name)
    tokens: list[str] = []
    ends: list[int] = []
    numbers: list[int] = []  # of the lines
    lists: dict[str, list] = {}
    shared = Shared()

    def line_of(position: int) -> int:
        return numbers[bisect.bisect_right(ends, position)]

    for first, block in blocks(file, read_text(source, encoding, name), MAX_JSON_LINE_CHARACTERS):
        for number, line in enumerate(block.split("\n"), start=first):
            if line and not line.isspace():
                found = _json_lists(file, number, line)
                _require_same_lists(file, number, lists if tokens else None, found)
                tokens += map(shared.__getitem__, found.pop("tokens"))
                ends.append(len(tokens))
                numbers.append(number)
                for key, values in found.items():
                    same = map(shared.__getitem__, values) if key == "labels" else values
                    lists.setdefault(key, []).extend(same)
    labels = lists.pop("labels", None)
    sequences = build(file, tokens, labels, {}, ends, line_of)
    columns = {key: _json_column(file, key, values, line_of) for key, values in lists.items()}
    return Sequences(sequences.flat_tokens, sequences.offsets, labels, columns)


def _json_lists(file: str, number: int, line: str) -> dict[str, list]:
    """The lists of one line, each as long as "tokens"."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        cause = getattr(error, "msg", None) or "nested too deep or too long a number"
        at = f" at column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise DataError(file, number, f"not valid JSON ({cause}{at})", "write one JSON object per line") from None
    if not isinstance(record, dict) or not isinstance(record.get("tokens"), list):
        cause = 'no list "tokens"' if isinstance(record, dict) else "not a JSON object"
        raise DataError(file, number, cause, 'write {"tokens": [...], "labels": [...]} on each line')
    lists = {key: values for key, values in record.items() if isinstance(values, list)}
    require_few_columns(file, number, len(lists))
    require_short_cells(file, list(lists), lambda place: number)
    if not lists["tokens"]:
        raise DataError(file, number, "the list of tokens is empty", "remove the line")
    for key, values in lists.items():
        if len(values) != len(lists["tokens"]):
            cause = f"{key!r} has {len(values)} values for {len(lists['tokens'])} tokens"
            raise DataError(file, number, cause, "give one value per token")
        _require_values(file, number, key, values)
    return lists


def _require_values(file: str, number: int, key: str, values: list) -> None:
    if key in ("tokens", "labels"):
        if not all(isinstance(value, str) and value for value in values):
            raise DataError(file, number, f"{key!r} has a value that is not a string or is empty", "give strings only")
    elif any(isinstance(value, (list, dict)) for value in values):
        raise DataError(file, number, f"{key!r} has lists inside", "give strings or numbers, one per token")
    texts = "".join([key, *(value for value in values if isinstance(value, str))])
    if odd := next((mark for mark in "\n\r\0" if mark in texts), None):
        raise DataError(file, number, f"{key!r} has the character {odd!r}", "write a blank in its place")
    try:
        texts.encode()
    except UnicodeEncodeError:
        cause = f"{key!r} has half a surrogate pair (\\ud800 to \\udfff)"
        raise DataError(file, number, cause, "write the character itself") from None


def _require_same_lists(file: str, number: int, before: dict[str, list] | None, found: dict[str, list]) -> None:
    if before is not None and (odd := (before.keys() | {"tokens"}) ^ found.keys()):
        key = min(odd)
        cause = f"{key!r} is {'new' if key in found else 'missing'} here"
        raise DataError(file, number, cause, "give every line the same lists")


def _json_column(file: str, key: str, values: list, line_of: LineOf) -> Column:
    """Numbers or strings."""
    numeric = all(
        value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)) for value in values
    )
    if not numeric:
        cells = ["" if value is None else str(value) for value in values]
        require_short_cells(file, cells, line_of)
        return cells
    column = np.array([math.nan if value is None else _as_float(value) for value in values])
    if (infinite := np.isinf(column)).any():
        line = line_of(int(infinite.argmax()))
        raise DataError(file, line, f"{key!r} has an infinite number", "give finite numbers or null")
    return column


def _as_float(value: float) -> float:
    """Infinite where it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf
