"""Margins of labelled sequences under a fitted model, and the lengths that make them comparable. T 3.39, 4.7, 4.36.

γ(x, y) = F(x, y) - max_{y' ≠ y} F(x, y')      above 0: the model gives the sequence its true labels
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from labseq_core.csv_text import csv_text
from labseq_core.learners.base import Labels, SequenceLearner

SCALES = ("scores", "length", "sum")  # γ, γ / ‖F‖, γ / Σ|λ|
MARGIN_COLUMNS = ("sequence", "tokens", *(f"margin_by_{scale}" for scale in SCALES))


@dataclass(frozen=True)
class Margins:
    """Margins of some sequences in the scores of a model; inf where no other labelling is possible."""

    values: np.ndarray  # (sequences,)
    tokens: np.ndarray  # (sequences,): how long they are
    length: float | None  # ‖F‖: of the weights, or of the function in the space of the kernel
    total: float | None  # Σ|λ| of explicit weights

    def norm(self, scale: str) -> float | None:
        """What margins are divided by on a scale; None: the model has no such thing."""
        return {"scores": 1.0, "length": self.length, "sum": self.total}[scale]

    def on(self, scale: str) -> np.ndarray | None:
        """The margins on a scale, or None. A model of nothing but zeros has margins of 0 on each."""
        norm = self.norm(scale)
        return None if norm is None else self.values / norm if norm > 0.0 else self.values.copy()


def margins(learner: SequenceLearner, X, y: Labels) -> Margins:
    """The margin of each sequence of X with its labels y, and what it can be divided by."""
    model = learner.fitted_model()
    return Margins(learner.margins(X, y), np.array([len(labels) for labels in y]), model.norm, model.absolute_sum)


def margin_row(margins: Margins) -> dict[str, float | None]:
    """How many sequences are right, and how many with a margin above 1, which is what an HM-SVM asks for; medians."""
    row = {
        "sequences": len(margins.values),
        "right": float(np.mean(margins.values > 0.0)),
        "above_one": float(np.mean(margins.values > 1.0)),
        "length": margins.length,
        "total": margins.total,
    }
    for scale in SCALES:
        own = margins.on(scale)
        row[f"median_by_{scale}"] = None if own is None else float(np.median(own))
    return row


def cumulative(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """P_D[γ ≤ θ] as steps: the finite margins θ in order, each once, and the share of all margins up to each."""
    places, counts = np.unique(values[np.isfinite(values)], return_counts=True)
    return places, np.cumsum(counts) / max(1, len(values))


def margins_csv(models: Mapping[str, Margins], **about: object) -> str:
    """A line per model and sequence, sequences numbered from 1 on; `about`: columns that say the same in each line."""
    rows: list[tuple] = []
    for name, found in models.items():
        columns = [found.on(scale) for scale in SCALES]
        for place, tokens in enumerate(found.tokens.tolist()):
            values = (None if column is None else float(column[place]) for column in columns)
            rows.append((*about.values(), name, place + 1, tokens, *values))
    return csv_text([*about, "model", *MARGIN_COLUMNS], rows)
