"""The lines of a text, block by block: a reader needs memory for one block at a time, and somebody hears how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np

from labseq_core.data.formats.source import DataError
from labseq_core.data.limits import MAX_LINE_CHARACTERS

_BLOCK = 1 << 16  # characters; no longer than any line may be
_heard: ContextVar[Callable[[float], object]] = ContextVar("heard", default=lambda fraction: None)


@contextmanager
def hearing(tell: Callable[[float], object]) -> Iterator[None]:
    """Meanwhile `tell` is told which share of the lines has been read; what it raises ends the reading."""
    before = _heard.set(tell)
    try:
        yield
    finally:
        _heard.reset(before)


def blocks(file: str, text: str, longest: int = MAX_LINE_CHARACTERS) -> Iterator[tuple[int, str]]:
    """Whole lines, some at a time, each time with the number of the first; longest: how many characters a line may have."""
    begin, number = 0, 1
    while begin < len(text):
        _heard.get()(begin / len(text))
        last_line = text.rfind("\n", begin, begin + _BLOCK) + 1 or begin  # the only one here that can be too long
        end = text.find("\n", begin + _BLOCK)
        end = len(text) if end < 0 else end
        if end - last_line > longest:
            line = number + text.count("\n", begin, last_line)
            cause = f"the line has {end - last_line:,} characters, more than {longest:,}"
            raise DataError(file, line, cause, "break it into shorter lines, or leave columns out")
        yield number, text[begin:end]
        number += text.count("\n", begin, end) + 1
        begin = end + 1


@dataclass(frozen=True)
class TokenLines:
    """Which lines have a token; a line without one, or several, ends a sequence."""

    numbers: np.ndarray  # int64, (tokens,), counted from 1

    @property
    def ends(self) -> np.ndarray:
        """(sequences,): the position after the last token of each."""
        return np.append(np.flatnonzero(np.diff(self.numbers) > 1) + 1, self.numbers.size)

    def line_of(self, position: int) -> int:
        return int(self.numbers[position])


class Shared(dict[str, str]):
    """Cells that are equal become one text in memory; `change` is done to each distinct one.

    `map(shared.__getitem__, cells)` takes them all.
    """

    def __init__(self, change: Callable[[str], str] = str):
        super().__init__()
        self._change = change

    def __missing__(self, cell: str) -> str:
        self[cell] = kept = self._change(cell)
        return kept
