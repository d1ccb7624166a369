"""What a metric says of itself: tables, charts, files, forms and the command line are made from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from labseq_core.checks import require

# What a metric can be a function of, in the order of the columns of a row; see `Tested` in registry.py.
NEEDS = ("labels", "spans", "probabilities", "confidence", "development", "model", "timing")
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
    # From `SequenceCounts`: what gives standard errors over sequences and significance tests; None where labels are not BIO.
    ratio: Callable[[Any], Ratio | None] | None = None

    def __post_init__(self) -> None:
        for field, known in (("needs", NEEDS), ("better", BETTER), ("shown", SHOWN)):
            value = getattr(self, field)
            require(
                value in known, f"metric {self.name}: {field} is {value!r}; choose from {', '.join(map(repr, known))}"
            )

    def value(self, tested: Any) -> float | None:
        """Of a model that was tested."""
        given = getattr(tested, self.needs)
        if given is None:
            return None
        value = getattr(given, self.name) if self.of is None else self.of(given)
        return value.item() if isinstance(value, np.generic) else value

    def written(self, value: float | None) -> str:
        """A value as pages write it."""
        return "–" if value is None else self.form.format(value)

    @property
    def heading(self) -> str:
        """Of a column on the command line."""
        return (self.short or self.name) + " %" * self.share
