"""The hidden Markov perceptron by enumeration: T Algorithm 1 line by line, and the average of the weights written out."""

from __future__ import annotations

import itertools
from collections import defaultdict

Weights = dict[tuple, float]
Observation = dict[str, float]


def features(x: list[Observation], y: tuple[str, ...], start_stop: bool) -> Weights:
    """ψ(x, y): counts of (attribute, label), (label, label) and, if asked for, of the first and the last label."""
    counts: Weights = defaultdict(float)
    for t, (observation, label) in enumerate(zip(x, y)):
        for name, value in observation.items():
            counts["node", name, label] += value
        if t > 0:
            counts["edge", y[t - 1], label] += 1.0
    if start_stop:
        counts["start", y[0]] += 1.0
        counts["stop", y[-1]] += 1.0
    return counts


def decode(weights: Weights, x: list[Observation], labels: list[str], start_stop: bool) -> tuple[str, ...]:
    """The labelling with the highest score; among equals the one with the lowest labels, read from the end."""
    best, best_score = None, None
    for reversed_y in itertools.product(labels, repeat=len(x)):
        y = reversed_y[::-1]
        score = sum(weights.get(key, 0.0) * count for key, count in features(x, y, start_stop).items())
        if best_score is None or score > best_score:
            best, best_score = y, score
    return best


def train(
    X: list[list[Observation]], Y: list[tuple[str, ...]], labels: list[str], orders: list[list[int]], start_stop: bool
) -> tuple[Weights, Weights]:
    """The last weights and the average of the weights after every step; stops after a pass without a mistake."""
    weights: Weights = defaultdict(float)
    after_each_step: list[Weights] = []
    for order in orders:
        mistakes = 0
        for i in order:
            guess = decode(weights, X[i], labels, start_stop)
            if guess != tuple(Y[i]):
                mistakes += 1
                for key, count in features(X[i], tuple(Y[i]), start_stop).items():
                    weights[key] += count
                for key, count in features(X[i], guess, start_stop).items():
                    weights[key] -= count
            after_each_step.append(dict(weights))
        if mistakes == 0:
            break
    average = {key: sum(step.get(key, 0.0) for step in after_each_step) / len(after_each_step) for key in weights}
    return dict(weights), average
