"""A variant as it is typed: "crf:l2=0.1|1:decode=posterior:noise=0.1", on the command line and in links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

SEARCH = "|"  # between values to try
_BETWEEN_COLUMNS = "+"


@dataclass(frozen=True)
class VariantText:
    """A method, and texts by the names of its options and of what else a variant chooses. Not checked: it may say nonsense."""

    method: str
    given: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> VariantText:
        method, *pieces = text.strip().split(":")
        pairs: list[str] = []
        for piece in pieces:
            # What has no name goes on with the value before it: "kernel=poly:2" is one pair.
            pairs[-1:] = [f"{pairs[-1]}:{piece}"] if pairs and "=" not in piece else [*pairs[-1:], piece]
        parted = (pair.partition("=") for pair in pairs)
        return cls(method, {name: value for name, _, value in parted})

    def __str__(self) -> str:
        return ":".join([self.method, *(f"{name}={value}" if value else name for name, value in self.given.items())])

    def but(self, texts: Mapping[str, str]) -> VariantText:
        """The same with other texts; an empty one takes a name out."""
        changed = {**self.given, **texts}
        return VariantText(self.method, {name: text for name, text in changed.items() if text or name not in texts})

    @property
    def tried(self) -> dict[str, list[str]]:
        """The values to try of options that are chosen on development data."""
        return {name: values_in(text) for name, text in self.given.items() if SEARCH in text}


def values_in(text: str) -> list[str]:
    return [value for value in text.split(SEARCH) if value]


def listed(values: Sequence[str]) -> str:
    """Values to try; a single one ends with the sign that makes it a list."""
    return SEARCH.join(values) + (SEARCH if len(values) == 1 else "")


def columns_text(columns: Sequence[str]) -> str:
    """Names of columns in one text, whatever is in them; of no columns the sign between them alone."""
    return _BETWEEN_COLUMNS.join(quote(name, safe="[]") for name in columns) or _BETWEEN_COLUMNS


def columns_in(text: str) -> tuple[str, ...]:
    return tuple(unquote(name) for name in text.split(_BETWEEN_COLUMNS) if name)
