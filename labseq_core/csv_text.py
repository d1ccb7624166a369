"""CSV text: the one place that writes it. No cell that is text can be a formula to a spreadsheet.

Text of two or more characters that begins with one of = + - @ TAB CR gets an apostrophe in front, which spreadsheets show
as text and `plain_cell` takes away again; so does text that begins with apostrophes before such a character, so that every
text comes back as it was. Numbers stay numbers: -0.5 is written as it is.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from numbers import Number

_GUARD = "'"
_LIKE_A_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def _needs_guard(text: str) -> bool:
    return len(text) > 1 and _LIKE_A_FORMULA.match(text) is not None


def safe_cell(value: object) -> object:
    """A cell as it is written; whatever is no number is text."""
    if not isinstance(value, str):
        if value is None or isinstance(value, Number):
            return value
        value = str(value)
    return _GUARD + value if _needs_guard(value) else value


def plain_cell(cell: str) -> str:
    """The text of a cell that was read: `safe_cell` undone."""
    return cell[1:] if cell.startswith(_GUARD) and _needs_guard(cell[1:]) else cell


class _Lines(list[str]):
    """What the csv module writes to. It quotes the characters of its line end, here CR too: bare, it would begin a row."""

    ending = "\r\n"

    def write(self, row: str) -> None:
        self.append(row.removesuffix(self.ending) + "\n")


def csv_text(header: Iterable[str], rows: Iterable[Iterable[object]], delimiter: str = ",") -> str:
    """A header and rows as CSV text: numbers with full precision, nothing for None."""
    lines = _Lines()
    writer = csv.writer(lines, delimiter=delimiter, lineterminator=lines.ending)
    writer.writerow(map(safe_cell, header))
    writer.writerows(map(safe_cell, row) for row in rows)
    return "".join(lines)


def table_csv(rows: Sequence[Mapping]) -> str:
    """The same of rows by name, with all their names; empty without rows."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return csv_text(names, ([row.get(name) for name in names] for row in rows)) if rows else ""
