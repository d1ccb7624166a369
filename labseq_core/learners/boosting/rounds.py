"""What is kept of each round of boosting, and which round is the last: early stopping on development data."""

from __future__ import annotations

import math

from labseq_core.learners.boosting.development import Development
from labseq_core.scoring.linear import LinearWeights
from labseq_core.solvers.boosting.booster import Round

LARGEST = 1e308  # a loss beyond is told as this; its logarithm is kept in full

# Columns of `rounds_` that are numbers of the round itself, as `Round` has them or as this file adds them.
ON_DEVELOPMENT = ("dev_accuracy", "dev_f1")  # not a number where nothing, or no span, is there to follow
NUMBERS = (
    "step", "pseudo_accuracy", "bound", "z", "loss", "log_loss", "touched_sequences", "touched_tokens", "evaluations",
    *ON_DEVELOPMENT,
)  # fmt: skip
WORDS = ("feature", "kind", "attribute", "label", "previous_label")  # those that name what was chosen


class EarlyStop:
    """Early stopping: remembers the best round and its weights."""

    def __init__(self, development: Development | None, patience: int, begin: int):
        self._development, self._patience = development, patience
        self._best, self._round, self._now, self._weights = -math.inf, begin, begin, None

    def look(self, number: int, weights: LinearWeights) -> None:
        self._now = number
        if self._development is None or not self._patience:
            return
        if self._development.score > self._best:
            self._best, self._round, self._weights = self._development.score, number, weights.flat.copy()

    @property
    def over(self) -> bool:
        return self._weights is not None and self._now - self._round >= self._patience

    def best_round(self, last: int) -> int:
        return last if self._weights is None else self._round

    def best_weights(self, weights: LinearWeights) -> LinearWeights:
        if self._weights is not None:
            weights.flat[:] = self._weights
        return weights


def round_numbers(done: Round) -> tuple[float, ...]:
    """In the order of NUMBERS, without development data."""
    return (
        done.step, done.pseudo_accuracy, done.bound, done.ratio, finite_loss(done.log_loss), done.log_loss, done.sequences,
        done.tokens, float(done.evaluations),
    )  # fmt: skip


def dev_columns(development: Development | None) -> tuple[float, float]:
    return (math.nan, math.nan) if development is None else (development.accuracy, development.f1)


def dev_numbers(development: Development | None) -> dict[str, float]:
    """What the history says of development data."""
    if development is None:
        return {}
    numbers = {"dev_accuracy": development.accuracy, "dev_f1": development.f1}
    return {name: value for name, value in numbers.items() if not math.isnan(value)}


def finite_loss(log_loss: float) -> float:
    return math.exp(log_loss) if log_loss < math.log(LARGEST) else LARGEST
