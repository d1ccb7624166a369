"""Options are declared once: type, range, default, help, place in the thesis. Forms, flags and checks follow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np

from labseq_core._checks import LabSeqError

# Numbers of numpy count too: grids of a search are made of them.
KINDS = {"float": (Real,), "int": (Integral,), "bool": (bool, np.bool_), "choice": (str,)}


@dataclass(frozen=True)
class Option:
    """One hyper-parameter of a method."""

    name: str
    kind: str  # a key of KINDS
    default: float | int | bool | str
    help: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    log_scale: bool = False  # a form offers powers of ten
    where: str = ""  # equation or section
    advanced: bool = False  # a form hides it at first

    def check(self, value) -> None:
        """Raise an error that names the allowed values."""
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        fits = isinstance(value, KINDS[self.kind]) and (self.kind in ("bool", "choice") or is_number)
        if fits and is_number:
            inside = (self.low is None or value >= self.low) and (self.high is None or value <= self.high)
            fits = math.isfinite(value) and inside
        elif fits and self.kind == "choice":
            fits = value in self.choices
        if not fits:
            raise LabSeqError(f"{self.name} is {value!r}; allowed: {self.allowed}")

    @property
    def allowed(self) -> str:
        if self.kind == "bool":
            return "True or False"
        if self.kind == "choice":
            return ", ".join(self.choices)
        noun = "a whole number" if self.kind == "int" else "a number"
        if self.low is not None and self.high is not None:
            return f"{noun} from {self.low:g} to {self.high:g}"
        return noun if self.low is None else f"{noun} of at least {self.low:g}"

    def parse(self, text: str) -> float | int | bool | str:
        """The value a user typed."""
        try:
            if self.kind == "bool":
                value: float | int | bool | str = {"true": True, "false": False}[text.strip().lower()]
            else:
                value = {"float": float, "int": int, "choice": str}[self.kind](text.strip())
        except (KeyError, ValueError):
            raise LabSeqError(f"{self.name} is {text!r}; allowed: {self.allowed}") from None
        self.check(value)
        return value


# Options that several methods share.
SEED = Option("seed", "int", 0, "Seed of the random order of sequences; the same seed gives the same model.", low=0)
START_STOP = Option(
    "start_stop", "bool", False, "Learn weights for the first and the last label of a sequence too.", advanced=True
)
