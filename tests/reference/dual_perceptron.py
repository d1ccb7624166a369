"""T Algorithm 6 line by line: counters α over (sequence, labelling), the kernel of T 2.9 between sequences, enumeration."""

from __future__ import annotations

import itertools
from collections import defaultdict

from labseq_core.kernels import Kernel
from tests.reference import kernels as naive

Labelling = tuple[str, ...]
Counters = dict[tuple[int, Labelling], float]


def sequence_kernel(kernel: Kernel, eta: float, x, y: Labelling, other_x, other_y: Labelling) -> float:
    """T 2.9: k¹ couples observations with the same label, k² counts common pairs of neighbouring labels."""
    observations = sum(
        naive.value(kernel, a, b) for a, label in zip(x, y) for b, other in zip(other_x, other_y) if label == other
    )
    pairs = sum(pair == other for pair in itertools.pairwise(y) for other in itertools.pairwise(other_y))
    return observations + eta * pairs


def score(counters: Counters, X, kernel: Kernel, eta: float, x, y: Labelling) -> float:
    """F(x, y) = Σ α_(j,ȳ) k((x^j, ȳ), (x, y))."""
    return sum(
        count * sequence_kernel(kernel, eta, X[j], labelling, x, y)
        for (j, labelling), count in counters.items()
        if count
    )


def decode(counters: Counters, X, kernel: Kernel, eta: float, x, labels: list[str]) -> Labelling:
    """The best labelling; among equals the one with the lowest labels, read from the end."""
    best, best_score = None, None
    for reversed_y in itertools.product(labels, repeat=len(x)):
        found = score(counters, X, kernel, eta, x, reversed_y[::-1])
        if best_score is None or found > best_score:
            best, best_score = reversed_y[::-1], found
    return best


def train(X, Y: list[Labelling], labels: list[str], orders: list[list[int]], kernel: Kernel, eta: float):
    """The last counters and their average over all steps; stops after a pass without a mistake."""
    counters: Counters = defaultdict(float)
    after_each_step: list[Counters] = []
    for order in orders:
        mistakes = 0
        for i in order:
            guess = decode(counters, X, kernel, eta, X[i], labels)
            if guess != Y[i]:
                mistakes += 1
                counters[i, Y[i]] += 1.0
                counters[i, guess] -= 1.0
            after_each_step.append(dict(counters))
        if mistakes == 0:
            break
    average = {key: sum(step.get(key, 0.0) for step in after_each_step) / len(after_each_step) for key in counters}
    return dict(counters), average
