"""Readers of tables with a header (TSV, CSV) and of JSON lines."""

from __future__ import annotations

import bisect
import csv
import io
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from labseq_core.checks import require
from labseq_core.data.formats.cells import build, require_filled
from labseq_core.data.formats.source import ONE_COLUMN, DataError, Source, base_name, extension_of, read_text
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
    token = token or next((usual for usual in _USUAL_TOKEN_NAMES if usual in table.header), _USUAL_TOKEN_NAMES[0])
    if sequence is None and SEQUENCE_NAME in table.header:
        sequence = SEQUENCE_NAME
    if token == label:
        raise DataError(file, 1, ONE_COLUMN, "choose another column as label, or None for no labels")
    tokens = table.column(token, "token")
    require_filled(file, "token", tokens, table.line_numbers)
    labels = None if label is None else table.column(label, "label")
    if labels is not None:
        require_filled(file, "label", labels, table.line_numbers)
    ends = table.ends if sequence is None else _ends_by_change(table.column(sequence, "sequence"), table.ends)
    others = {key: table.column(key, key) for key in table.header if key not in (token, label, sequence)}
    return build(file, tokens, labels, others, ends)


@dataclass
class _Table:
    file: str
    header: dict[str, int]  # name -> place
    rows: list[list[str]] = field(default_factory=list)
    line_numbers: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    def end_sequence(self) -> None:
        if len(self.rows) > (self.ends[-1] if self.ends else 0):
            self.ends.append(len(self.rows))

    def column(self, key: str, role: str) -> list[str]:
        if key not in self.header:
            cause = f"no column {key!r} in the header, which has {', '.join(map(repr, list(self.header)[:10]))}"
            fix = f"name one of these as {role}, or choose the format conll if the file has no header"
            raise DataError(self.file, 1, cause, fix)
        place = self.header[key]
        return [row[place] for row in self.rows]


def is_delimiter(delimiter: str) -> bool:
    """Whether cells can be separated by it."""
    return len(delimiter) == 1 and delimiter not in '"\r\n '


def _delimiter(file: str, text: str) -> str:
    header = text.lstrip("\n").split("\n", 1)[0]
    return {".tsv": "\t", ".csv": ","}.get(extension_of(file)) or ("\t" if "\t" in header else ",")


def _read_rows(file: str, text: str, delimiter: str, quoted: bool) -> _Table:
    table: _Table | None = None
    for line, row in _csv_rows(file, text, delimiter, quoted):
        blank = not any(cell.strip(" ") for cell in row)
        if table is None:
            if not blank:
                table = _Table(file, _header(file, line, row))
        elif blank:
            table.end_sequence()
        elif len(row) != len(table.header):
            cause = f"{len(row)} columns where the header has {len(table.header)}"
            raise DataError(file, line, cause, "give every row as many cells as the header")
        else:
            table.rows.append(row)
            table.line_numbers.append(line)
    if table is None or not table.rows:
        raise DataError(file, None, "no rows below the header", "give at least one token")
    table.end_sequence()
    return table


def _header(file: str, line: int, row: list[str]) -> dict[str, int]:
    header: dict[str, int] = {}
    for place, cell in enumerate(row):
        name = cell.strip(" ")
        if name in header:
            raise DataError(file, line, f"the header has {name!r} twice", "give each column its own name")
        header[name] = place
    return header


def _csv_rows(file: str, text: str, delimiter: str, quoted: bool) -> Iterator[tuple[int, list[str]]]:
    """Rows with the line each starts on. A cell over several lines is nearly always a lone quote mark: refused."""
    quoting = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    reader = csv.reader(io.StringIO(text, newline="\n"), delimiter=delimiter, quoting=quoting, strict=True)
    fix = 'write a quote mark inside a cell twice and the cell in quotes, or read with quoted=False if " is plain text'
    line = 1
    try:
        for row in reader:
            if reader.line_num > line:
                raise DataError(file, line, "a quoted cell goes on over the end of the line", fix)
            yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(file, line, f"the row cannot be split into cells ({error})", fix) from None


def _ends_by_change(values: list[str], blank_row_ends: Sequence[int]) -> list[int]:
    ends = set(blank_row_ends)
    current = values[0]
    for position, value in enumerate(values):
        if value not in ("", current):
            if position:
                ends.add(position)
            current = value
    return sorted(ends)


def read_jsonl(source: Source, *, encoding: str = "utf-8", name: str | None = None) -> Sequences:
    """One JSON object per line: "tokens" (list of strings), optionally "labels", and further lists as columns.

    Lists of numbers (null: not given) become float64 columns. Values that are not lists are ignored.
    """
    file = base_name(source, name)
    tokens: list[str] = []
    ends: list[int] = []
    numbers: list[int] = []  # of the lines
    lists: dict[str, list] = {}
    for number, line in enumerate(read_text(source, encoding, name).split("\n"), start=1):
        if line and not line.isspace():
            found = _json_lists(file, number, line)
            _require_same_lists(file, number, lists if tokens else None, found)
            tokens += found.pop("tokens")
            ends.append(len(tokens))
            numbers.append(number)
            for key, values in found.items():
                lists.setdefault(key, []).extend(values)
    labels = lists.pop("labels", None)
    sequences = build(file, tokens, labels, {}, ends)
    columns: dict[str, Column] = {}
    for key, values in lists.items():
        columns[key] = column = _json_column(values)
        if isinstance(column, np.ndarray) and np.isinf(column).any():
            line = numbers[bisect.bisect_right(ends, int(np.isinf(column).argmax()))]
            raise DataError(file, line, f"{key!r} has an infinite number", "give finite numbers or null")
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
    try:
        "".join(value for value in values if isinstance(value, str)).encode()
    except UnicodeEncodeError:
        cause = f"{key!r} has half a surrogate pair (\\ud800 to \\udfff)"
        raise DataError(file, number, cause, "write the character itself") from None


def _require_same_lists(file: str, number: int, before: dict[str, list] | None, found: dict[str, list]) -> None:
    if before is not None and (odd := (before.keys() | {"tokens"}) ^ found.keys()):
        key = min(odd)
        cause = f"{key!r} is {'new' if key in found else 'missing'} here"
        raise DataError(file, number, cause, "give every line the same lists")


def _json_column(values: list) -> Column:
    """Numbers, of which those too large for a float are infinite, or strings."""
    numeric = all(
        value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)) for value in values
    )
    if not numeric:
        return ["" if value is None else str(value) for value in values]
    return np.array([math.nan if value is None else _as_float(value) for value in values])


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf
