"""P(observation | label) by counting in loops: columns of values, bare names, numbers."""

from __future__ import annotations

import math
import re

Observation = dict[str, float]  # name -> number; 1 where there is nothing but the name


class CountedColumns:
    """A multinomial per column with k added to each count; a normal density per number with k observations added."""

    def __init__(self, X: list[list[Observation]], Y: list[list[str]], k: float):
        self.labels = sorted({label for y in Y for label in y})
        self.X, self.k = X, k
        self.tokens = [(x, t, y[t]) for x, y in zip(X, Y) for t in range(len(x))]
        numbers: dict[str, set[float]] = {}
        for x, t, _ in self.tokens:
            for name, number in x[t].items():
                numbers.setdefault(name, set()).add(number)
        self.real = {name for name, found in numbers.items() if len(found) > 1}
        self.columns: dict[tuple, set[str]] = {}
        for name in numbers:
            self.columns.setdefault(self.column(name), set()).add(name)
        self._counts = {(column, label): self._count(column, label) for column in self.columns for label in self.labels}

    def column(self, name: str) -> tuple:
        if name in self.real or "=" not in name:
            return ("single", name)
        return ("values", name.split("=")[0])

    @staticmethod
    def has_neighbour(column: tuple, x: list, t: int) -> bool:
        mark = re.search(r"\[([+-]\d+)\]$", column[1].split("=")[0])
        return mark is None or 0 <= t + int(mark[1]) < len(x)

    def outcomes(self, column: tuple, x: list[Observation], t: int) -> list[str | None]:
        """The values that are there; [None] where there is none; [] where the sequence has no such neighbour."""
        found: list[str | None] = [name for name in x[t] if name in self.columns[column]]
        if found or not self.has_neighbour(column, x, t):
            return found
        return [None]

    def _count(self, column: tuple, label: str) -> dict[str | None, int]:
        counts = dict.fromkeys([*self.columns[column], None], 0)
        for x, t, truth in self.tokens:
            if truth == label:
                for outcome in self.outcomes(column, x, t):
                    counts[outcome] += 1
        return counts

    def probability(self, column: tuple, outcome: str | None, label: str) -> float:
        counts = self._counts[column, label]
        return (counts[outcome] + self.k) / (sum(counts.values()) + self.k * len(counts))

    def normal(self, name: str, label: str) -> tuple[float, float]:
        """Mean and variance."""
        everything = [(x[t][name], truth) for x, t, truth in self.tokens if name in x[t]]
        own = [number for number, truth in everything if truth == label]
        center = sum(number for number, _ in everything) / len(everything)
        spread = sum((number - center) ** 2 for number, _ in everything) / len(everything)
        total = len(own) + self.k
        mean = (sum(own) + self.k * center) / total
        variance = sum((number - mean) ** 2 for number in own) + self.k * (spread + (center - mean) ** 2)
        return mean, max(variance / total, 1e-9 * spread)

    def log_prob(self, x: list[Observation], t: int, label: str) -> float:
        """log P(x_t | label)."""
        total = 0.0
        for column in self.columns:
            for outcome in self.outcomes(column, x, t):
                total += math.log(self.probability(column, outcome, label))
        for name in self.real & set(x[t]):
            mean, variance = self.normal(name, label)
            total -= 0.5 * math.log(2 * math.pi * variance) + (x[t][name] - mean) ** 2 / (2 * variance)
        return total

    def prior(self, label: str) -> float:
        count = sum(1 for *_, truth in self.tokens if truth == label)
        return (count + self.k) / (len(self.tokens) + self.k * len(self.labels))
