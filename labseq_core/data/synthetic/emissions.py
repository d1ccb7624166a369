"""Distributions of one visible value given the hidden state: each can be drawn from and knows its exact log-probability.

Draws use `Random.random()` only: it is the one stream that Python promises to keep, so the bundled files stay reproducible.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Mapping, Sequence
from itertools import accumulate
from random import Random
from statistics import NormalDist
from typing import Protocol

Value = str | float
_STANDARD_NORMAL = NormalDist()


class Emission(Protocol):
    """P(value | state), or P(value | state, token of the same position) where `token` is used."""

    def draw(self, random: Random, token: str = "") -> Value: ...

    def log_prob(self, value: Value, token: str = "") -> float: ...


def log_or_minus_infinity(probability: float) -> float:
    return math.log(probability) if probability > 0 else -math.inf


def weighted(text: str) -> dict[str, float]:
    """`"el*3 la"` as {"el": 3.0, "la": 1.0}: words with relative frequencies."""
    pairs = (item.partition("*") for item in text.split())
    return {word: float(weight or 1) for word, _, weight in pairs}


class Choice:
    """One of a list of strings."""

    def __init__(self, weights: str | Mapping[str, float]) -> None:
        weights = weighted(weights) if isinstance(weights, str) else weights
        total = sum(weights.values())
        self.probabilities = {word: weight / total for word, weight in weights.items()}
        self._words = list(self.probabilities)
        self._cumulative = list(accumulate(self.probabilities.values()))

    def draw(self, random: Random, token: str = "") -> str:
        return self._words[min(bisect(self._cumulative, random.random()), len(self._words) - 1)]

    def log_prob(self, value: Value, token: str = "") -> float:
        return log_or_minus_infinity(self.probabilities.get(value, 0.0))


class Coined:
    """Invented words: a first part, k middle parts (k drawn from `middle_counts`) and an ending."""

    def __init__(self, first: str, middle: str, ending: str, middle_counts: Sequence[float]) -> None:
        self._first, self._middle, self._ending = Choice(first), Choice(middle), Choice(ending)
        self._count = Choice({str(count): weight for count, weight in enumerate(middle_counts)})

    def draw(self, random: Random, token: str = "") -> str:
        return "".join(slot.draw(random) for slot in self._slots(int(self._count.draw(random))))

    def log_prob(self, value: Value, token: str = "") -> float:
        counts = self._count.probabilities.items()
        return log_or_minus_infinity(sum(weight * self._spelling(value, int(count)) for count, weight in counts))

    def _slots(self, middle_count: int) -> list[Choice]:
        return [self._first, *[self._middle] * middle_count, self._ending]

    def _spelling(self, word: str, middle_count: int) -> float:
        """Σ over all ways to cut the word into parts: different parts may spell the same word."""
        reached = {0: 1.0}  # letters used up -> probability
        for slot in self._slots(middle_count):
            following: dict[int, float] = {}
            for position, mass in reached.items():
                for part, probability in slot.probabilities.items():
                    if word.startswith(part, position):
                        end = position + len(part)
                        following[end] = following.get(end, 0.0) + mass * probability
            reached = following
        return reached.get(len(word), 0.0)


class Mixture:
    """One of several emissions, chosen with the given weights; a value that several of them can make is summed over."""

    def __init__(self, *components: tuple[float, Emission]) -> None:
        self._which = Choice({str(number): weight for number, (weight, _) in enumerate(components)})
        self._emissions = [emission for _, emission in components]

    def draw(self, random: Random, token: str = "") -> Value:
        return self._emissions[int(self._which.draw(random))].draw(random, token)

    def log_prob(self, value: Value, token: str = "") -> float:
        weights = self._which.probabilities.values()
        parts = (weight * math.exp(part.log_prob(value, token)) for weight, part in zip(weights, self._emissions))
        return log_or_minus_infinity(sum(parts))


class Capitalised:
    """The words of another emission with a capital first letter, as at the beginning of a sentence or in a name."""

    def __init__(self, emission: Emission) -> None:
        self._emission = emission

    def draw(self, random: Random, token: str = "") -> str:
        word = self._emission.draw(random, token)
        return word[0].upper() + word[1:]

    def log_prob(self, value: Value, token: str = "") -> float:
        if value[0] != value[0].upper():
            return -math.inf
        sources = {value, value[0].lower() + value[1:]}  # "Fuentes" may have been "Fuentes" or "fuentes"
        return log_or_minus_infinity(sum(math.exp(self._emission.log_prob(word, token)) for word in sources))


class RoundedNormal:
    """A normal value written with three decimals.

    The probability of a written value is the density times the width of its rounding cell. The error of that is below
    1e-5 of it for the standard deviations used here, and the width is the same for all states.
    """

    WIDTH = 1e-3

    def __init__(self, mean: float, deviation: float) -> None:
        self._mean, self._deviation = mean, deviation

    def draw(self, random: Random, token: str = "") -> float:
        # 1 - u is never 0, where the inverse would be infinite; u = 0 becomes the largest value below 1.
        uniform = min(1.0 - random.random(), 1.0 - 2.0**-53)
        return round(self._mean + self._deviation * _STANDARD_NORMAL.inv_cdf(uniform), 3) + 0.0

    def log_prob(self, value: Value, token: str = "") -> float:
        standardised = (value - self._mean) / self._deviation
        return -0.5 * standardised**2 + math.log(self.WIDTH / (self._deviation * math.sqrt(2 * math.pi)))
