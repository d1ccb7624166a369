"""What JSON from strangers must look like: a shape is put together from those below, and refuses what does not fit.

`record({"fold": whole(49), "score": maybe(number(0.0, 1.0))})` takes {"fold": 3, "score": null}, and of anything else says
which value is wrong, and what belongs there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from labseq_core.checks import LabSeqError, brief

Shape = Callable[[Any, str], None]  # a value, and where it stands; raises an error unless it fits
MOST_DIGITS = 2**53  # whole numbers below are the same as floats
LONGEST_NAME = 100  # of a value in a record, letters


def text(longest: int = 200) -> Shape:
    def check(value: Any, where: str) -> None:
        fits = isinstance(value, str) and len(value) <= longest
        _require(fits, value, where, f"a text of at most {longest:,} characters")

    return check


def like(pattern: str, what: str) -> Shape:
    """A text that the whole pattern matches; what: in words."""
    known = re.compile(pattern)

    def check(value: Any, where: str) -> None:
        _require(isinstance(value, str) and known.fullmatch(value) is not None, value, where, what)

    return check


def line(longest: int = 200) -> Shape:
    """A text that may be printed: control characters could drive a terminal."""
    return like(rf"[^\x00-\x1f\x7f-\x9f]{{0,{longest}}}", f"a line of at most {longest:,} characters")


def number(low: float = -math.inf, high: float = math.inf) -> Shape:
    """Infinity is one where the bounds allow it; not a number is none."""

    def check(value: Any, where: str) -> None:
        fits = isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
        small = not isinstance(value, int) or abs(value) < MOST_DIGITS
        _require(fits and small, value, where, f"a number from {low:g} to {high:g}")

    return check


def whole(high: int = MOST_DIGITS - 1) -> Shape:
    def check(value: Any, where: str) -> None:
        fits = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= high
        _require(fits, value, where, f"a whole number from 0 to {high}")

    return check


def one_of(*values: Any) -> Shape:
    """Exactly one of these texts, numbers or flags; without any: nothing may be there."""

    def check(value: Any, where: str) -> None:
        fits = any(type(value) is type(each) and value == each for each in values)
        _require(fits, value, where, " or ".join(map(repr, values)) or "absent")

    return check


def maybe(shape: Shape) -> Shape:
    """Or null."""

    def check(value: Any, where: str) -> None:
        if value is not None:
            shape(value, where)

    return check


def any_of(*shapes: Shape) -> Shape:
    """Whatever fits one of them; the last says what is wrong."""

    def check(value: Any, where: str) -> None:
        for shape in shapes[:-1]:
            try:
                return shape(value, where)
            except LabSeqError:
                continue
        return shapes[-1](value, where)

    return check


def many(shape: Shape, most: int) -> Shape:
    """A list."""

    def check(value: Any, where: str) -> None:
        _require(isinstance(value, list) and len(value) <= most, value, where, f"a list of at most {most:,}")
        for place, each in enumerate(value):
            shape(each, f"{where}[{place}]")

    return check


def row(*shapes: Shape) -> Shape:
    """A list of exactly these."""

    def check(value: Any, where: str) -> None:
        _require(isinstance(value, list) and len(value) == len(shapes), value, where, f"a list of {len(shapes)}")
        for place, (shape, each) in enumerate(zip(shapes, value)):
            shape(each, f"{where}[{place}]")

    return check


def record(needed: Mapping[str, Shape], others: Mapping[str, Shape] | None = None, rest: Shape | None = None) -> Shape:
    """Names with values: all that are needed; of others those that are there; any further one is of the shape `rest`."""
    known = {**(others or {}), **needed}

    def check(value: Any, where: str) -> None:
        fits = isinstance(value, dict) and set(needed) <= set(value) and (rest is not None or set(value) <= set(known))
        _require(fits, value, where, f"a record of {', '.join(known)}")
        for name, each in value.items():
            _require(len(name) <= LONGEST_NAME, value, where, "a record of shorter names")
            (known.get(name) or rest)(each, f"{where}.{name}")

    return check


def table(names: Shape, values: Shape, most: int) -> Shape:
    """A record whose names are not known beforehand."""

    def check(value: Any, where: str) -> None:
        _require(isinstance(value, dict) and len(value) <= most, value, where, f"a record of at most {most} names")
        for name, each in value.items():
            names(name, where)
            values(each, f"{where}.{name}")

    return check


def anything(value: Any, where: str) -> None:
    """Of what nobody uses."""


flag = one_of(True, False)


def _require(fits: bool, value: Any, where: str, wanted: str) -> None:
    if not fits:
        raise LabSeqError(f"{where} is {brief(value)}; it must be {wanted}")
