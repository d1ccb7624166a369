"""The supervised hidden Markov model by counting in loops, and its posterior by Bayes' rule over all labellings."""

from __future__ import annotations

import itertools


class CountedHMM:
    """Probabilities as relative frequencies with k added to each count; one more word stands for all unknown ones."""

    def __init__(self, X: list[list[str]], Y: list[list[str]], k: float):
        self.labels = sorted({label for y in Y for label in y})
        self.words = {word for x in X for word in x}
        self.X, self.Y, self.k = X, Y, k

    def start(self, label: str) -> float:
        count = sum(1 for y in self.Y if y[0] == label)
        return (count + self.k) / (len(self.Y) + self.k * len(self.labels))

    def transition(self, before: str, label: str) -> float:
        pairs = [(a, b) for y in self.Y for a, b in itertools.pairwise(y)]
        followed = sum(1 for a, _ in pairs if a == before)
        return (pairs.count((before, label)) + self.k) / (followed + self.k * len(self.labels))

    def emission(self, label: str, word: str) -> float:
        tokens = [(a, b) for x, y in zip(self.X, self.Y) for a, b in zip(x, y)]
        uses = sum(1 for _, b in tokens if b == label)
        count = tokens.count((word, label)) if word in self.words else 0
        return (count + self.k) / (uses + self.k * (len(self.words) + 1))

    def joint(self, x: list[str], y: tuple[str, ...]) -> float:
        """p(x, y)."""
        probability = self.start(y[0])
        for before, label in itertools.pairwise(y):
            probability *= self.transition(before, label)
        for word, label in zip(x, y):
            probability *= self.emission(label, word)
        return probability

    def posterior(self, x: list[str]) -> dict[tuple[str, ...], float]:
        """p(y | x) = p(x, y) / Σ_y' p(x, y')."""
        joints = {y: self.joint(x, y) for y in itertools.product(self.labels, repeat=len(x))}
        evidence = sum(joints.values())
        return {y: joint / evidence for y, joint in joints.items()}
