"""Gaussian process sequence classification from its definitions: all labellings, the kernel of T 2.9, T 5.11-5.19."""

from __future__ import annotations

import itertools

import numpy as np

from labseq_core.chain import ChainPotentials
from labseq_core.kernels import Kernel
from tests.reference import enumeration
from tests.reference import kernels as naive
from tests.reference.dual_perceptron import sequence_kernel

Observation = dict[str, float]
NO_PAIR = -1  # the last position of a sequence has no pair of labels


def objective(
    gram: np.ndarray, rows: np.ndarray, offsets: np.ndarray, labels: np.ndarray, beta, delta, l2: float, eta: float
) -> float:
    """Σ_i -log p(y^i | x^i) + (l2/2) (tr βᵀGβ + η ‖δ‖²)."""
    scores, n_labels, nothing = gram @ beta, len(delta), np.zeros(len(delta))
    total = 0.5 * l2 * (float(np.sum(beta * scores)) + eta * float(np.sum(delta * delta)))
    assert n_labels == beta.shape[1]
    for begin, end in itertools.pairwise(offsets):
        chain = ChainPotentials(nothing, scores[rows[begin:end]], eta * delta, nothing)
        total += enumeration.log_partition(chain) - enumeration.score(chain, tuple(labels[begin:end]))
    return total


def pairs_of_data(X: list[list[Observation]], labels: list[str]) -> list[tuple[int, tuple[str, ...]]]:
    """All (i, y): a sequence of the training data with any labelling."""
    return [(i, y) for i, x in enumerate(X) for y in itertools.product(labels, repeat=len(x))]


def sequence_gram(X, labels, kernel: Kernel, eta: float) -> np.ndarray:
    """K, T 2.9."""
    pairs = pairs_of_data(X, labels)
    return np.array([[sequence_kernel(kernel, eta, X[i], y, X[j], z) for j, z in pairs] for i, y in pairs])


def coordinates(X, labels) -> list[tuple[int, int, str, str | int]]:
    """(j, t, σ, τ), with σ alone at the last position."""
    found = []
    for j, x in enumerate(X):
        for t in range(len(x)):
            found += [(j, t, s, u) for s in labels for u in (labels if t + 1 < len(x) else [NO_PAIR])]
    return found


def theta(X, labels) -> np.ndarray:
    """Θ, T 5.12."""
    pairs = pairs_of_data(X, labels)

    def there(j, t, s, u, i, y) -> bool:
        return i == j and y[t] == s and (u == NO_PAIR or y[t + 1] == u)

    return np.array([[float(there(*row, *pair)) for pair in pairs] for row in coordinates(X, labels)])


def reduced_gram(X, labels, kernel: Kernel, eta: float, across_sequences: bool = True) -> np.ndarray:
    """K′ of T 5.16, with η and with pairs of labels that couple across sequences; printed, they do not."""
    rows = coordinates(X, labels)

    def value(i, s, a, b, j, t, c, d) -> float:
        same_pair = a == c and b == d != NO_PAIR and (across_sequences or i == j)
        return (a == c) * naive.value(kernel, X[i][s], X[j][t]) + eta * same_pair

    return np.array([[value(*one, *other) for other in rows] for one in rows])
