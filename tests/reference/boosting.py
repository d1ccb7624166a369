"""Sequence AdaBoost by enumeration: T Algorithm 3 line by line, every labelling of every sequence written out.

Bounds, steps and weights are taken from their definitions (T 3.15-3.37 with the corrections of METHODS 7): D(i, y) is kept
for each labelling, u_k for each labelling and feature. Nothing is shared with the library.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

Observation = dict[str, float]
FARTHEST = 30.0  # over the smallest exponent: as far as a step is searched for


@dataclass(frozen=True)
class Choice:
    feature: int
    step: float
    bound: float  # relative to the present loss


class NaiveBoosting:
    """Features: attribute a at label σ is a·S + σ; label σ before label τ is A·S + σ·S + τ."""

    def __init__(
        self,
        X: list[list[Observation]],
        Y: list[list[int]],
        attributes: list[str],
        n_labels: int,
        *,
        length_decay: float = 1.0,
        smoothing: float = 0.0,
        log_loss: bool = False,
        allowed=lambda y: True,
    ):
        self.n_features = (len(attributes) + n_labels) * n_labels
        self.smoothing, self.log_loss = smoothing, log_loss
        self.labellings, self.u, self.ranges, self.truth = [], [], [], []
        self.weights = np.array([length_decay ** len(x) for x in X])
        for x, y in zip(X, Y):
            every = [z for z in itertools.product(range(n_labels), repeat=len(x)) if allowed(z)]
            own = every.index(tuple(y))
            counts = np.array([self._counts(x, z, attributes, n_labels) for z in every])
            self.labellings.append(every)
            self.truth.append(own)
            self.u.append(counts - counts[own])
            self.ranges.append(self._ranges(x, counts[own], attributes, n_labels))
        self.parameters = np.zeros(self.n_features)

    def _counts(self, x, y, attributes, n_labels) -> np.ndarray:
        counts = np.zeros(self.n_features)
        for t, (observation, label) in enumerate(zip(x, y)):
            for name, value in observation.items():
                counts[attributes.index(name) * n_labels + label] += value
            if t > 0:
                counts[(len(attributes) + y[t - 1]) * n_labels + label] += 1.0
        return counts

    def _ranges(self, x, observed, attributes, n_labels) -> tuple[np.ndarray, np.ndarray]:
        """U_i and L_i: what u can be at most and at least, over all labellings."""
        highest, lowest = np.zeros(self.n_features), np.zeros(self.n_features)
        for name in attributes:
            values = [observation.get(name, 0.0) for observation in x]
            own = slice(attributes.index(name) * n_labels, (attributes.index(name) + 1) * n_labels)
            highest[own] = sum(v for v in values if v > 0)
            lowest[own] = sum(v for v in values if v < 0)
        for r, s in itertools.product(range(n_labels), repeat=2):
            highest[(len(attributes) + r) * n_labels + s] = len(x) - 1 if r == s else len(x) // 2
        return highest - observed, lowest - observed

    # Distributions

    def odds(self, i: int, shift: tuple[int, float] | None = None) -> np.ndarray:
        """e^{F(y) - F(y^i)} of each labelling, 0 for y^i itself; at Λ + Δ e_k if a shift (k, Δ) is given."""
        parameters = self.parameters.copy()
        if shift is not None:
            parameters[shift[0]] += shift[1]
        found = np.exp(self.u[i] @ parameters)
        found[self.truth[i]] = 0.0
        return found

    def sequence_weights(self) -> np.ndarray:
        """W_i = w_i (1/p_i - 1)."""
        return np.array([weight * math.fsum(self.odds(i)) for i, weight in enumerate(self.weights)])

    def loss(self, shift: tuple[int, float] | None = None) -> float:
        odds = [math.fsum(self.odds(i, shift)) for i in range(len(self.u))]
        if self.log_loss:
            return math.fsum(math.log1p(value) for value in odds)
        return math.fsum(weight * value for weight, value in zip(self.weights, odds))

    def rank_loss(self) -> float:
        """Σ_i w_i #{y ≠ y^i: F(y) >= F(y^i)}."""
        total = 0.0
        for i, weight in enumerate(self.weights):
            score = self.u[i] @ self.parameters
            beats = score >= 0.0
            beats[self.truth[i]] = False
            total += weight * beats.sum()
        return total

    def distribution(self, i: int) -> tuple[float, np.ndarray]:
        """The weight of a sequence in the bounds, and the distribution over labellings under which u is averaged."""
        odds = self.odds(i)
        if self.log_loss:
            odds[self.truth[i]] = 1.0
            return 1.0, odds / odds.sum()
        total = odds.sum()
        return self.weights[i] * total, odds / total if total > 0 else odds

    # Bounds relative to the sum of weights, each as Σ coefficient · e^{Δ exponent} (T 3.25, 3.26, 3.35)

    def total(self) -> float:
        return math.fsum(weight for weight, _ in self._distributions())

    def _distributions(self) -> list[tuple[float, np.ndarray]]:
        return [self.distribution(i) for i in range(len(self.u))]

    def exact_terms(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Z: a term for each sequence and labelling."""
        parts = [(weight * probability, u[:, k]) for (weight, probability), u in zip(self._distributions(), self.u)]
        return np.concatenate([part[0] for part in parts]) / self.total(), np.concatenate([part[1] for part in parts])

    def tight_terms(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Σ_i D(i) [s_i e^{Δ L_i} + (1 - s_i) e^{Δ U_i}]."""
        coefficients, exponents = [], []
        for i, (weight, probability) in enumerate(self._distributions()):
            upper, lower = self.ranges[i][0][k], self.ranges[i][1][k]
            s = (upper - float(probability @ self.u[i][:, k])) / (upper - lower) if upper > lower else 1.0
            coefficients += [weight * s, weight * (1.0 - s)]
            exponents += [lower, upper]
        return np.array(coefficients) / self.total(), np.array(exponents)

    def loose_terms(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """s e^{Δ L} + (1 - s) e^{Δ U} with one range for all sequences."""
        s = self.pseudo_accuracy(k)
        return np.array([s, 1.0 - s]), np.array(self.feature_range(k)[::-1])

    def feature_range(self, k: int) -> tuple[float, float]:
        """U_k and L_k."""
        return max(r[0][k] for r in self.ranges), min(r[1][k] for r in self.ranges)

    def pseudo_accuracy(self, k: int) -> float:
        upper, lower = self.feature_range(k)
        mean = math.fsum(
            weight * float(probability @ u[:, k]) for (weight, probability), u in zip(self._distributions(), self.u)
        )
        return (upper - mean / self.total()) / (upper - lower)

    def bound(self, k: int, kind: str, step: float) -> float:
        coefficients, exponents = getattr(self, f"{kind}_terms")(k)
        return float(coefficients @ np.exp(step * exponents))

    # Choosing

    def usable(self) -> list[int]:
        """Features that can fire somewhere, if there is anything left to do."""
        if self.total() == 0.0:
            return []
        return [k for k in range(self.n_features) if self.feature_range(k)[0] > self.feature_range(k)[1]]

    def step(self, k: int, kind: str) -> float:
        """The minimiser of a bound (or of Z) plus ε [ψ_U(Δ) + ψ_{-L}(-Δ)]: the root of its derivative, by bisection."""
        coefficients, exponents = getattr(self, f"{kind}_terms")(k)
        upper, lower = self.feature_range(k)

        def slope(step: float) -> float:
            with np.errstate(over="ignore"):
                own = float((coefficients * exponents) @ np.exp(step * exponents))
                return own + self.smoothing * float(np.exp(upper * step) - np.exp(lower * step))

        if slope(0.0) == 0.0:
            return 0.0
        down = slope(0.0) < 0.0
        drives = exponents[(coefficients > 0.0) & ((exponents < 0.0) if down else (exponents > 0.0))]
        near, far = 0.0, math.copysign(FARTHEST / np.abs(drives).min(), 1.0 if down else -1.0)
        for _ in range(200):
            middle = 0.5 * (near + far)
            near, far = (middle, far) if (slope(middle) < 0.0) == down else (near, middle)
        return 0.5 * (near + far)

    def choose(self, kind: str) -> tuple[Choice, np.ndarray]:
        """The feature whose bound is smallest at its step; and the bounds of all features."""
        bounds, steps = np.ones(self.n_features), np.zeros(self.n_features)
        for k in self.usable():
            steps[k] = self.step(k, kind)
            bounds[k] = self.bound(k, kind, steps[k])
        best = int(np.argmin(bounds))
        return Choice(best, float(steps[best]), float(bounds[best])), bounds

    def move(self, k: int, step: float) -> None:
        self.parameters[k] += step
