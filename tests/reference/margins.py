"""Hidden Markov SVMs by enumeration: every labelling of every sequence is a constraint, written out as a dense vector.

Primal and dual objectives are taken from their definitions (T 4.10-4.17, METHODS 4). `solve` hands the dense dual to scipy.
Nothing is shared with the library.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.optimize import minimize

from tests.reference.perceptron import Observation, features

Labelling = tuple[str, ...]


class DenseMargins:
    """One row of `differences` for each sequence and each wrong labelling; `owner` says whose it is."""

    def __init__(
        self,
        X: list[list[Observation]],
        Y: list[Labelling],
        *,
        slack: str,
        rescale: str | None,
        C: float,
        eta: float = 1.0,
        allowed=lambda y: True,
    ):
        self.slack, self.rescale, self.C = slack, rescale, C
        labels = sorted({label for y in Y for label in y})
        names = sorted({name for x in X for token in x for name in token})
        self.names = [("node", name, label) for name in names for label in labels]
        self.names += [("edge", a, b) for a in labels for b in labels]
        # η weighs the inner product of the label pairs: the same as pairs counted √η times.
        self.root = np.array([1.0 if name[0] == "node" else math.sqrt(eta) for name in self.names])
        self.rows: list[tuple[int, Labelling]] = []
        differences = []
        for i, (x, y) in enumerate(zip(X, Y)):
            right = self._vector(x, tuple(y))
            for z in itertools.product(labels, repeat=len(x)):
                if z != tuple(y) and allowed(z):
                    self.rows.append((i, z))
                    differences.append(right - self._vector(x, z))
        self.differences = np.array(differences).reshape(len(differences), len(self.names))
        self.owner = np.array([i for i, _ in self.rows], dtype=int)
        self.distance = np.array([sum(a != b for a, b in zip(z, Y[i])) for i, z in self.rows], dtype=float)
        self.n_sequences = len(X)

    def _vector(self, x: list[Observation], y: Labelling) -> np.ndarray:
        counts = features(x, y, start_stop=False)
        return np.array([counts.get(name, 0.0) for name in self.names]) * self.root

    def weights(self, alpha: np.ndarray) -> np.ndarray:
        """w = Σ α ΔΨ, T 4.14a, with √η in the pairs."""
        return alpha @ self.differences

    def slacks(self, weights: np.ndarray) -> np.ndarray:
        """The slack that each constraint needs by itself, at least 0 (T 4.2.2, 4.34, 4.35)."""
        margins = self.differences @ weights
        if self.rescale == "margin":
            return np.maximum(0.0, self.distance - margins)
        return np.maximum(0.0, (1.0 - margins) * (self.distance if self.rescale == "slack" else 1.0))

    def sequence_slacks(self, weights: np.ndarray) -> np.ndarray:
        found = np.zeros(self.n_sequences)
        np.maximum.at(found, self.owner, self.slacks(weights))
        return found

    def primal(self, weights: np.ndarray) -> float:
        """½‖w‖² + what the slacks cost; infinite where a hard margin is violated."""
        own = 0.5 * float(weights @ weights)
        if self.slack == "none":
            return own if self.slacks(weights).max(initial=0.0) <= 1e-9 else math.inf
        if self.slack == "labelling":
            return own + self.C * float(self.slacks(weights).sum())
        per_sequence = self.sequence_slacks(weights)
        return own + self.C * float((per_sequence**2 if self.slack == "l2" else per_sequence).sum())

    def dual(self, alpha: np.ndarray) -> float:
        """The dual objective of METHODS 4; -inf where α is not feasible."""
        target = self.distance if self.rescale == "margin" else np.ones(len(alpha))
        value = float(alpha @ target) - 0.5 * float(np.sum(self.weights(alpha) ** 2))
        shares = alpha / self.distance if self.rescale == "slack" else alpha
        totals = np.bincount(self.owner, shares, self.n_sequences)
        room = 1e-9 * max(1.0, self.C)
        feasible = (alpha >= 0.0).all()
        if self.slack == "l1":
            feasible &= (totals <= self.C + room).all()
        if self.slack == "labelling":
            feasible &= (shares <= self.C + room).all()
        if self.slack == "l2":
            value -= float(totals @ totals) / (4.0 * self.C)
        return value if feasible else -math.inf

    def solve(self) -> tuple[np.ndarray, float]:
        """α and the optimum, by a general method on the dense dual."""
        n = len(self.rows)
        scale = self.distance if self.rescale == "slack" else np.ones(n)  # shares are the variables
        target = self.distance if self.rescale == "margin" else np.ones(n)
        vectors = self.differences * scale[:, np.newaxis]
        gram, linear = vectors @ vectors.T, target * scale
        same = (self.owner[:, np.newaxis] == self.owner).astype(float)
        if self.slack == "l2":
            gram = gram + same / (2.0 * self.C)
        upper = {"none": None, "l1": self.C, "l2": None, "labelling": self.C}[self.slack]
        constraints = []
        if self.slack == "l1":
            sums = np.array([self.owner == i for i in range(self.n_sequences)], dtype=float)
            constraints = [{"type": "ineq", "fun": lambda a: self.C - sums @ a, "jac": lambda a: -sums}]
        found = minimize(
            lambda a: 0.5 * a @ gram @ a - linear @ a, np.zeros(n), jac=lambda a: gram @ a - linear,
            bounds=[(0.0, upper)] * n, constraints=constraints, method="SLSQP",
            options={"maxiter": 2000, "ftol": 1e-14},
        )  # fmt: skip
        return np.maximum(found.x, 0.0) * scale, -float(found.fun)

    def alpha_of(self, support: list[tuple[int, Labelling, float]]) -> np.ndarray:
        """(sequence, labels, α) of a model as a vector over all rows."""
        places = {row: place for place, row in enumerate(self.rows)}
        alpha = np.zeros(len(self.rows))
        for i, labels, value in support:
            alpha[places[i, tuple(labels)]] += value
        return alpha
