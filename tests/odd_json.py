"""JSON with one value replaced by another: whatever a stranger may have written in its place."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

ODD: dict[str, Any] = {
    "nothing": None, "a number": 3, "below zero": -7, "a text": "x", "a list": [], "a record": {}, "not a number": math.nan,
    "huge": 10**400, "half a character": "\ud800", "markup": "![](http://host/x)",
}  # fmt: skip

Path = tuple[str | int, ...]


def paths(value: Any, before: Path = ()) -> Iterator[Path]:
    """Where a value can be replaced, the whole first."""
    yield before
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from paths(inner, (*before, name))
    elif isinstance(value, list):
        for place in sorted({0, len(value) - 1}) if value else ():
            yield from paths(value[place], (*before, place))


def replaced(value: Any, path: Path, other: Any) -> Any:
    """A copy with the other value there."""
    if not path:
        return other
    copy = value.copy()
    copy[path[0]] = replaced(value[path[0]], path[1:], other) if path[1:] else other
    return copy


def without(value: Any, path: Path) -> Any:
    """A copy without what is there."""
    copy = value.copy()
    if len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = without(value[path[0]], path[1:])
    return copy


def altered(value: Any) -> Iterator[tuple[str, Any]]:
    """Each path in turn with each odd value, and without what was there."""
    for path in paths(value):
        name = ".".join(map(str, path))
        for how, other in ODD.items():
            yield f"{name}: {how}", replaced(value, path, other)
        if path:
            yield f"{name}: missing", without(value, path)
