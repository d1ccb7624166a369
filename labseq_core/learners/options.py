"""Options are declared once: type, range, default, help, place in the thesis. Forms, flags and checks follow."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from labseq_core.checks import LabSeqError
from labseq_core.kernels import KERNELS, Kernel, Linear, parse_kernel
from labseq_core.kernels.registry import syntax
from labseq_core.kernels.route import ROUTES

# What a variant chooses beside the options of its method, by the names of the command line.
OF_VARIANTS = ("search", "decode", "features", "window", "bins", "columns", "joint", "sequences", "noise")
TUNING_FITS = 6  # combinations that *Tune* tries for each method: the same budget for all
# Numbers of numpy count too: grids of a search are made of them.
KINDS = {"float": (Real,), "int": (Integral,), "bool": (bool, np.bool_), "choice": (str,), "kernel": (Kernel,)}


@dataclass(frozen=True)
class Option:
    """One hyper-parameter of a method."""

    name: str
    kind: str  # a key of KINDS
    default: float | int | bool | str | Kernel | None
    help: str
    low: float | None = None
    high: float | None = None
    choices: Collection[str | None] = ()  # or a registry; None is shown and typed as "none"
    log_scale: bool = False  # a form offers powers of ten
    where: str = ""  # equation or section
    advanced: bool = False  # a form hides it at first
    tuning: tuple = ()  # values that *Tune* tries; those of all options of a method make TUNING_FITS combinations

    def check(self, value: Any) -> None:
        """Raise an error that names the allowed values."""
        if value is None and self.may_be_none:
            return
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        fits = isinstance(value, KINDS[self.kind]) and (self.kind not in ("float", "int") or is_number)
        if fits and is_number:
            inside = (self.low is None or value >= self.low) and (self.high is None or value <= self.high)
            fits = inside and (isinstance(value, Integral) or math.isfinite(value))  # no float holds every whole number
        elif self.kind == "choice":
            fits = value in self.choices
        if not fits:
            raise LabSeqError(f"{self.name} is {value!r}; allowed: {self.allowed}")

    @property
    def about(self) -> str:
        """Its help; of a kernel with those that there are when it is asked for, kernels from outside among them."""
        if self.kind != "kernel":
            return self.help
        return f"{self.help} {'; '.join(f'{name}: {kernel.summary}' for name, kernel in KERNELS.items())}."

    @property
    def allowed(self) -> str:
        if self.kind == "bool":
            return "True or False"
        if self.kind == "choice":
            return ", ".join(map(shown_choice, self.choices))
        if self.kind == "kernel":
            return f"a kernel such as Polynomial(2), written {syntax()}"
        noun = "a whole number" if self.kind == "int" else "a number"
        if self.low is not None and self.high is not None:
            noun += f" from {self.low:g} to {self.high:g}"
        elif self.low is not None:
            noun += f" of at least {self.low:g}"
        return f"{noun}, or none" if self.may_be_none else noun

    @property
    def may_be_none(self) -> bool:
        """A number that need not be given."""
        return self.default is None and self.kind in ("float", "int")

    def plain(self, value):
        """The value as configurations and JSON hold it: a kernel is its text."""
        return str(value) if self.kind == "kernel" else value

    def read(self, plain):
        """The value back from its plain form."""
        return parse_kernel(plain) if self.kind == "kernel" and isinstance(plain, str) else plain

    def parse(self, text: str) -> float | int | bool | str | Kernel | None:
        """The value a user typed."""
        if self.kind == "kernel":
            return parse_kernel(text)
        if self.may_be_none and text.strip().lower() == shown_choice(None):
            return None
        try:
            if self.kind == "choice":
                return {shown_choice(choice): choice for choice in self.choices}[text.strip()]
            if self.kind == "bool":
                value: float | int | bool = {"true": True, "false": False}[text.strip().lower()]
            else:
                value = {"float": float, "int": int}[self.kind](text.strip())
        except (KeyError, ValueError):
            raise LabSeqError(f"{self.name} is {text!r}; allowed: {self.allowed}") from None
        self.check(value)
        return value


def shown_choice(choice: str | None) -> str:
    return "none" if choice is None else choice


# Options that several methods share.
SMOOTHING = Option(
    "smoothing", "float", 0.1,
    "Added to every count, so that nothing unseen is impossible. Many attributes at once want little of it.",
    low=1e-9, high=1e3, log_scale=True, where="lecture slides, Limitations of HMMs",
    tuning=(1e-5, 1e-4, 1e-3, 0.01, 0.1, 1.0),
)  # fmt: skip
SEED = Option("seed", "int", 0, "Seed of the random order of sequences; the same seed gives the same model.", low=0)
START_STOP = Option(
    "start_stop", "bool", False, "Learn weights for the first and the last label of a sequence too.", advanced=True
)
CONSTRAINTS = Option(
    "constraints", "choice", None, "bio: I-X only after B-X or I-X, in training and in decoding. For BIO labels only.",
    choices=(None, "bio"), where="T B.2",
)  # fmt: skip
L2 = Option(
    "l2", "float", 1.0, "Strength of the squared penalty on all weights; 0 switches it off.", low=0.0, high=1e6,
    log_scale=True, where="T 2.2.2", tuning=(0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
)  # fmt: skip
L1 = Option(
    "l1", "float", 0.0, "Strength of the absolute penalty: the larger, the more weights are exactly zero.", low=0.0,
    high=1e6, log_scale=True, where="T 3.7",
)  # fmt: skip
MAX_ITER = Option("max_iter", "int", 300, "At most this many iterations.", low=1, high=100_000, advanced=True)
TOL = Option(
    "tol", "float", 1e-3, "Stop when the gradient is this small relative to the weights.", low=0.0, high=1.0,
    log_scale=True, advanced=True,
)  # fmt: skip

# Those of the kernel methods.
KERNEL = Option("kernel", "kernel", Linear(), "How alike two observations are.", where="T 2.1.2")
ETA = Option(
    "eta", "float", 1.0, "Weight of pairs of labels against observations.", low=1e-6, high=1e6, log_scale=True,
    where="T 2.9b",
)  # fmt: skip
MEMORY = Option(
    "memory", "float", 2.0, "GiB that kernel values, or explicit features in their place, may take.", low=1e-3, high=1e4,
    advanced=True,
)  # fmt: skip
ROUTE = Option(
    "route", "choice", "auto",
    "How scores are computed: gram by kernel values, explicit by the features that the kernel stands for. The result is "
    "the same; auto takes what is estimated to be faster.", choices=ROUTES, advanced=True,
)  # fmt: skip
