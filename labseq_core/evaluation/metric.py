"""What a metric says of itself: tables, charts, files, forms and the command line are made from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from labseq_core.checks import LabSeqError, as_plain, require

# What a metric can be a function of, in the order of the columns of a row; see `Tested` in registry.py.
NEEDS = ("labels", "spans", "probabilities", "confidence", "development", "model", "timing")
# The other columns of a row.
ROW = (
    "run_id", "config_hash", "dataset", "features", "label", "method", "options", "fold", "seed", "n_tokens", "n_sequences",
    "temperature", "n_train_sequences", "n_train_tokens", "decode", "noise", "used_of", "metric_mode", "scored_on", "decoding",
    "imported",
)  # fmt: skip
BETTER = ("higher", "lower", "")
SHOWN = ("always", "table", "request")


class Ratio(NamedTuple):
    """A metric as gain · Σ right / (Σ size + Σ answers) over sequences. Size is the same for all methods, answers are not."""

    right: np.ndarray  # (sequences,), as are all
    size: np.ndarray
    answers: np.ndarray | None = None
    gain: float = 1.0


@dataclass(frozen=True)
class Metric:
    """A number that says how good or how costly a trained model is. One whose needs are not met is None."""

    name: str  # its column in rows and files
    title: str
    meaning: str  # in words that can follow the title and a colon
    needs: str = "labels"  # what `of` is given
    of: Callable[[Any], float | None] | None = None  # None: the attribute of this name
    share: bool = True  # from 0 to 1: in per cent on the command line, and drawn with the other scores
    better: str = "higher"  # "lower", or "" where neither is
    form: str = "{:.4f}"  # how pages write a value
    shown: str = "request"  # "always": in every table of scores; "table": in the long one
    short: str = ""  # heading of a column on the command line, if not the name
    # From `SequenceCounts`: what gives standard errors over sequences and significance tests; None where it is not defined.
    ratio: Callable[[Any], Ratio | None] | None = None

    def __post_init__(self) -> None:
        for field, known in (("needs", NEEDS), ("better", BETTER), ("shown", SHOWN)):
            value = getattr(self, field)
            require(
                value in known, f"metric {self.name}: {field} is {value!r}; choose from {', '.join(map(repr, known))}"
            )
        require(self.name not in ROW, f"metric {self.name}: every row has a column of this name; choose another name")
        says = self.ratio is None or self.better != ""
        require(
            says, f"metric {self.name}: methods are compared by its ratio; say whether 'higher' or 'lower' is better"
        )

    def value(self, tested: Any) -> float | None:
        """Of a model that was tested. What goes wrong in the function of a metric is told with its name."""
        given = getattr(tested, self.needs)
        if given is None:
            return None
        try:
            value = getattr(given, self.name) if self.of is None else self.of(given)
        except Exception as problem:
            cause = f"{type(problem).__name__}: {problem}"
            raise LabSeqError(f"metric {self.name} cannot be computed: {cause}; correct its function") from problem
        value = as_plain(value)
        is_number = value is None or isinstance(value, int | float)
        require(
            is_number, f"metric {self.name} gives a {type(value).__name__}; let its function return a number or None"
        )
        return value

    def gain(self, value: float) -> float:
        """A value, or a difference of values, turned so that more is better."""
        return -value if self.better == "lower" else value

    def written(self, value: float | None) -> str:
        """A value as pages write it."""
        return "–" if value is None else self.form.format(value)

    @property
    def heading(self) -> str:
        """Of a column on the command line."""
        return (self.short or self.name) + " %" * self.share
