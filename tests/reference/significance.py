"""Paired tests by loops over rounds and sequences, straight from their definitions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

# A method is a list with (tokens, correct, spans_true, spans_predicted, spans_right) for each sequence.
Rows = list[tuple[int, int, int, int, int]]


def metric_of(rows: Rows, metric: str) -> Fraction:
    tokens, correct, true, predicted, right = (sum(row[column] for row in rows) for column in range(5))
    part, whole = (correct, tokens) if metric == "accuracy" else (2 * right, true + predicted)
    return Fraction(part, whole) if whole else Fraction(0)


def difference(a: Rows, b: Rows, metric: str) -> Fraction:
    return metric_of(a, metric) - metric_of(b, metric)


def swapped_difference(a: Rows, b: Rows, metric: str, swaps) -> Fraction:
    new_a, new_b = [], []
    for row_a, row_b, swap in zip(a, b, swaps, strict=True):
        new_a.append(row_b if swap else row_a)
        new_b.append(row_a if swap else row_b)
    return difference(new_a, new_b, metric)


def exact_p(a: Rows, b: Rows, metric: str) -> Fraction:
    """The share of all 2^n ways to swap whose difference is as large as the one found."""
    found = abs(difference(a, b, metric))
    hits = [abs(swapped_difference(a, b, metric, swaps)) >= found for swaps in product((False, True), repeat=len(a))]
    return Fraction(sum(hits), len(hits))


def drawn_p(a: Rows, b: Rows, metric: str, rounds_of_swaps) -> Fraction:
    found = abs(difference(a, b, metric))
    hits = sum(abs(swapped_difference(a, b, metric, swaps)) >= found for swaps in rounds_of_swaps)
    return Fraction(1 + hits, 1 + len(rounds_of_swaps))


def resampled_differences(a: Rows, b: Rows, metric: str, rounds_of_draws) -> list[float]:
    """The difference for each round, which is a list of the numbers of the sequences drawn."""
    return [float(difference([a[i] for i in draws], [b[i] for i in draws], metric)) for draws in rounds_of_draws]


def holm(p_values: list[float]) -> list[float]:
    """Each p is corrected by all that are no larger: the maximum of (number of tests not yet done) · p."""
    m = len(p_values)
    corrected = []
    for own in p_values:
        smaller = sorted(p for p in p_values if p <= own)
        corrected.append(max(min(1.0, (m - place) * p) for place, p in enumerate(smaller)))
    return corrected
