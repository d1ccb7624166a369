"""Names and their numbers: labels, or any other finite set of strings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Literal, TypeVar

import numpy as np

from labseq_core.checks import LabSeqError, require

_LISTED_AT_MOST = 10
Value = TypeVar("Value", bound=Hashable)


@dataclass(frozen=True)
class Alphabet:
    """Distinct names in fixed order; the number of a name is its place."""

    names: Sequence[str]
    _places: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require(not isinstance(self.names, str), f"names must be a list of strings, not the string {self.names!r}")
        names = tuple(self.names)
        places = {name: place for place, name in enumerate(names)}
        if len(places) != len(names):
            doubled = next(name for place, name in enumerate(names) if places[name] != place)
            raise LabSeqError(f"the name {doubled!r} stands twice in an alphabet; give each name once")
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "_places", places)

    @classmethod
    def of(cls, values: Iterable[str]) -> Alphabet:
        """The distinct values, sorted."""
        return cls(sorted(set(values)))

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def index(self, name: str) -> int:
        """The number of a name."""
        try:
            return self._places[name]
        except KeyError:
            raise self._unknown(name) from None

    def encode(self, values: Sequence[str], unknown: Literal["error", -1] = "error") -> np.ndarray:
        """The numbers of a flat list of names, int64; an unknown name is an error, or -1 if `unknown=-1`."""
        require(unknown in ("error", -1), f"unknown is {unknown!r}; choose 'error' or -1")
        if unknown == -1:
            places = self._places
            return np.fromiter((places.get(value, -1) for value in values), np.int64, len(values))
        try:
            return np.fromiter(map(self._places.__getitem__, values), np.int64, len(values))
        except KeyError as missing:
            raise self._unknown(missing.args[0]) from None

    def _unknown(self, name: object) -> LabSeqError:
        known = ", ".join(self.names[:_LISTED_AT_MOST]) or "none"
        more = len(self.names) - _LISTED_AT_MOST
        return LabSeqError(f"unknown name {name!r}; known are {known}" + (f" and {more} more" if more > 0 else ""))


def distinct_rows(values: list[Value]) -> tuple[list[Value], np.ndarray]:
    """The distinct values in order of appearance, and for each value its place among them."""
    places: dict = defaultdict(count().__next__)
    rows = np.fromiter(map(places.__getitem__, values), np.int64, len(values))
    return list(places), rows
