"""Parameters of kernels: declared once, in the class of the kernel; checks, texts and forms follow."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, TypeVar
from urllib.parse import quote, unquote

from labseq_core.checks import LabSeqError

Value = TypeVar("Value", int, float, str)


@dataclass(frozen=True)
class Parameter:
    """A whole number, a number or a text: what its default is."""

    name: str
    default: int | float | str
    help: str = ""
    low: float | None = None
    high: float | None = None
    above: float | None = None  # a lower bound that is not allowed itself

    @property
    def kind(self) -> type:
        return type(self.default)

    @property
    def allowed(self) -> str:
        noun = {int: "a whole number", float: "a number", str: "a text"}[self.kind]
        if self.above is not None:
            return f"{noun} above {self.above:g}"
        if self.low is None:
            return noun
        return f"{noun} of at least {self.low:g}" if self.high is None else f"{noun} from {self.low:g} to {self.high:g}"

    def checked(self, value: object) -> Any:
        """The value as a plain number or text, or an error that says what is allowed."""
        fits = {int: Integral, float: Real, str: str}[self.kind]
        if isinstance(value, fits) and not isinstance(value, bool) and self._is_inside(plain := self.kind(value)):
            return plain
        raise LabSeqError(f"{self.name} is {value!r}; give {self.allowed}")

    def _is_inside(self, value: Any) -> bool:
        if self.kind is str:
            return value != ""
        from_below = (self.low is None or value >= self.low) and (self.above is None or value > self.above)
        return math.isfinite(value) and from_below and (self.high is None or value <= self.high)

    def text(self, value: Any) -> str:
        """The value within the text of a kernel."""
        return quote(value, safe="[]") if self.kind is str else number_text(value)

    def read(self, text: str) -> Any:
        """The value back from that text; a ValueError if it is none."""
        return unquote(text) if self.kind is str else self.kind(text)


def parameter(
    default: Value, help: str = "", *, low: float | None = None, high: float | None = None, above: float | None = None
) -> Value:
    """Declares a parameter of a kernel: `width: float = parameter(1.0, "What it means.", above=0.0)`."""
    return field(default=default, metadata={"help": help, "low": low, "high": high, "above": above})


def number_text(value: float) -> str:
    """The shortest text that is read back as the same number."""
    return repr(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value).replace("e+", "e")
