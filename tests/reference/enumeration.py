"""Inference by listing all S^l labellings of one sequence, straight from the definition of F."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

from labseq_core.chain import ChainPotentials


def all_labellings(potentials: ChainPotentials) -> list[tuple[int, ...]]:
    length, n_labels = potentials.node.shape
    return list(itertools.product(range(n_labels), repeat=length))


def score(potentials: ChainPotentials, labels: tuple[int, ...]) -> float:
    """F(x, y), term by term."""
    total = potentials.start[labels[0]] + potentials.stop[labels[-1]]
    for t, label in enumerate(labels):
        total += potentials.node[t, label]
        if t > 0:
            matrix = potentials.edge[t] if potentials.edge.ndim == 3 else potentials.edge
            total += matrix[labels[t - 1], label]
    return float(total)


def scores(potentials: ChainPotentials) -> dict[tuple[int, ...], float]:
    return {labels: score(potentials, labels) for labels in all_labellings(potentials)}


def log_partition(potentials: ChainPotentials) -> float:
    values = [value for value in scores(potentials).values() if value > -math.inf]
    largest = max(values)
    return largest + math.log(math.fsum(math.exp(value - largest) for value in values))


def probabilities(potentials: ChainPotentials) -> dict[tuple[int, ...], float]:
    log_z = log_partition(potentials)
    return {labels: math.exp(value - log_z) for labels, value in scores(potentials).items()}


def marginals(potentials: ChainPotentials) -> tuple[np.ndarray, np.ndarray]:
    """Node marginals (l, S) and edge marginals (l, S, S), where entry t is the pair (t - 1, t)."""
    length, n_labels = potentials.node.shape
    node, edge = np.zeros((length, n_labels)), np.zeros((length, n_labels, n_labels))
    for labels, probability in probabilities(potentials).items():
        for t, label in enumerate(labels):
            node[t, label] += probability
            if t > 0:
                edge[t, labels[t - 1], label] += probability
    return node, edge


def best_scores(potentials: ChainPotentials) -> list[float]:
    """All scores of allowed labellings, best first."""
    return sorted((value for value in scores(potentials).values() if value > -math.inf), reverse=True)


def max_marginals(potentials: ChainPotentials) -> np.ndarray:
    through = np.full(potentials.node.shape, -math.inf)
    for labels, value in scores(potentials).items():
        for t, label in enumerate(labels):
            through[t, label] = max(through[t, label], value)
    return through


def distance(labels: tuple[int, ...], truth: tuple[int, ...]) -> int:
    """Hamming distance."""
    return sum(a != b for a, b in zip(labels, truth))


def best_rival(potentials: ChainPotentials, truth: tuple[int, ...]) -> float:
    """The highest score of a labelling other than the truth; -inf if there is none."""
    return max((value for labels, value in scores(potentials).items() if labels != truth), default=-math.inf)


def loss_augmented(potentials: ChainPotentials, truth: tuple[int, ...], loss: float) -> float:
    """max_y F(x, y) + loss Δ(y)."""
    return max(value + loss * distance(labels, truth) for labels, value in scores(potentials).items())


def hamming_maxima(potentials: ChainPotentials, truth: tuple[int, ...]) -> list[float]:
    """The highest score at each distance from the truth."""
    best = [-math.inf] * (len(truth) + 1)
    for labels, value in scores(potentials).items():
        best[distance(labels, truth)] = max(best[distance(labels, truth)], value)
    return best


def slack_rescaled(potentials: ChainPotentials, truth: tuple[int, ...]) -> float:
    """max_y Δ(y) (1 - F(x, y*) + F(x, y)), at least 0."""
    own = score(potentials, truth)
    allowed = [(labels, value) for labels, value in scores(potentials).items() if value > -math.inf]
    return max(0.0, max(distance(labels, truth) * (1.0 - own + value) for labels, value in allowed))


def exact_marginals(potentials: ChainPotentials) -> np.ndarray:
    """Node marginals (l, S) with sums of scores in exact arithmetic, whatever their size; edges the same everywhere."""
    length, n_labels = potentials.node.shape
    exact: dict[tuple[int, ...], Fraction] = {}
    for labels in all_labellings(potentials):
        edges = [potentials.edge[pair] for pair in itertools.pairwise(labels)]
        nodes = [potentials.node[t, label] for t, label in enumerate(labels)]
        terms = [potentials.start[labels[0]], *nodes, *edges, potentials.stop[labels[-1]]]
        if -np.inf not in terms:
            exact[labels] = sum(map(Fraction, terms), Fraction(0))
    best = max(exact.values())
    weights = {labels: math.exp(max(total - best, Fraction(-800))) for labels, total in exact.items()}
    everything, node = math.fsum(weights.values()), np.zeros((length, n_labels))
    for labels, weight in weights.items():
        for t, label in enumerate(labels):
            node[t, label] += weight / everything
    return node
