"""What the four losses of the CRF minimise, as functions of the weights: by listing all labellings and their features."""

from __future__ import annotations

import itertools
import math

import numpy as np

from tests.reference.perceptron import Observation, features


class Objective:
    """loss(w) + (l2/2) ‖w‖² for named weights, in the order of `names`; the absolute penalty is left to the caller."""

    def __init__(
        self, X: list[list[Observation]], Y: list[list[str]], names: list[tuple], loss: str, l2: float, decay: float
    ):
        self.loss, self.l2, self.decay = loss, l2, decay
        labels = sorted({label for y in Y for label in y})
        start_stop = any(name[0] == "start" for name in names)
        self.cases = []
        for x, y in zip(X, Y):
            labellings = list(itertools.product(labels, repeat=len(x)))
            counts = [features(x, labelling, start_stop) for labelling in labellings]
            matrix = np.array([[one.get(name, 0.0) for name in names] for one in counts])
            right = np.array([[a == b for a, b in zip(labelling, y)] for labelling in labellings])
            self.cases.append((matrix, labellings.index(tuple(y)), right))

    def __call__(self, weights: np.ndarray) -> float:
        return 0.5 * self.l2 * float(np.sum(weights**2)) + sum(self._of(weights, *case) for case in self.cases)

    def _of(self, weights: np.ndarray, matrix: np.ndarray, truth: int, right: np.ndarray) -> float:
        scores = matrix @ weights
        p = np.exp(scores - scores.max())
        p /= p.sum()
        tokens, length = right.T @ p, right.shape[1]
        return {
            "log": lambda: -math.log(p[truth]),
            "exp": lambda: self.decay**length * (1.0 / p[truth] - 1.0),
            "marginal": lambda: -float(np.sum(np.log(tokens))) / length,
            "marginal-exp": lambda: float(np.sum(1.0 / tokens)),
        }[self.loss]()

    def slopes(self, weights: np.ndarray, step: float) -> np.ndarray:
        """The gradient by central differences."""
        moves = step * np.eye(weights.size)
        return np.array([self(weights + move) - self(weights - move) for move in moves]) / (2.0 * step)
