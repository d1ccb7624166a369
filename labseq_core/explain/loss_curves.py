"""Losses as functions of the margin of one example: T Fig. 5.4.

m = F(x, y) - max over other labellings: what the true labelling wins by. All but the perceptron's bound the number of errors
from above; the slope is how hard an example pulls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Loss(NamedTuple):
    method: str  # that minimises it
    value: Callable[[np.ndarray], np.ndarray]
    pull: Callable[[np.ndarray], np.ndarray]  # minus the derivative


def _sigmoid(m: np.ndarray) -> np.ndarray:
    return 0.5 * (1.0 + np.tanh(0.5 * m))


MARGIN_LOSSES = {
    "0/1": Loss("what is meant", lambda m: (m <= 0.0).astype(float), np.zeros_like),
    "log": Loss("CRF, GPSC", lambda m: np.logaddexp(0.0, -m) / np.log(2.0), lambda m: _sigmoid(-m) / np.log(2.0)),
    "exp": Loss("boosting", lambda m: np.exp(-m), lambda m: np.exp(-m)),
    "hinge": Loss("HM-SVM", lambda m: np.maximum(0.0, 1.0 - m), lambda m: (m < 1.0).astype(float)),
    "perceptron": Loss("perceptron", lambda m: np.maximum(0.0, -m), lambda m: (m < 0.0).astype(float)),
}


def loss_curves(low: float, high: float, points: int) -> dict[str, np.ndarray]:
    """The margins, as "margin", and each loss at them."""
    margins = np.linspace(low, high, points)
    return {"margin": margins, **{name: loss.value(margins) for name, loss in MARGIN_LOSSES.items()}}


def losses_at(margin: float) -> list[dict]:
    """A row for each loss: its value at this margin, and how hard such an example pulls."""
    at = np.array([margin])
    return [
        {"loss": name, "method": loss.method, "value": float(loss.value(at)[0]), "pull": float(loss.pull(at)[0])}
        for name, loss in MARGIN_LOSSES.items()
    ]
