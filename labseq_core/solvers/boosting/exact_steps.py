"""Steps that need a look at the sequences of the chosen feature: exact ones, and those of the majorised log loss."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from labseq_core.chain.shifted import FeatureShift, shifted_rest
from labseq_core.solvers.boosting.bounds import FARTHEST, loose_step, tight_step
from labseq_core.solvers.boosting.selection import pseudo_accuracy_of
from labseq_core.solvers.boosting.state import BoostingState

EVALUATIONS = 50
SMALL = 1e-3  # a relative change of the step this small is the last: the error left is about its square


def exact_step(state: BoostingState, feature: int, first: float) -> tuple[float, int]:
    """The minimiser of the loss itself (plus smoothing) along one feature, and how many evaluations it took."""
    lists = state.lists
    touched, widths = lists.widths_of(feature)
    shift = feature_shift(state, feature)

    def slope_and_curvature(step: float) -> tuple[float, float]:
        sequences = state.mattering(touched, widths, step)
        weights = state.log_weights[sequences] - state.reference
        log_odds, mean, square = shifted_rest(state.potentials, lists.labels, shift, step, sequences)
        if state.inverse_probability:
            with np.errstate(over="ignore"):
                odds = np.exp(np.minimum(log_odds + weights, 700.0))
            return float(odds @ mean), float(odds @ square)
        rest = np.exp(log_odds - np.logaddexp(0.0, log_odds))  # 1 - p
        expected = rest * mean
        return float(expected.sum()), float((rest * square - expected * expected).sum())

    return _newton(_smoothed(slope_and_curvature, state, feature), first, farthest(state, feature))


def majorised_log_step(state: BoostingState, feature: int, first: float) -> tuple[float, float]:
    """The minimiser of Σ_i log(s_i e^{Δ L_i} + (1 - s_i) e^{Δ U_i}) (plus smoothing), and by how much that sum falls."""
    upper, lower, share, _ = sequence_chords(state, feature)

    def slope_and_curvature(step: float) -> tuple[float, float]:
        low, high = share * np.exp(step * lower), (1.0 - share) * np.exp(step * upper)
        part = high / (low + high)
        slope = part * upper + (1.0 - part) * lower
        return float(slope.sum()), float((part * (1.0 - part) * (upper - lower) ** 2).sum())

    step, _ = _newton(_smoothed(slope_and_curvature, state, feature), first, farthest(state, feature))
    return step, -float(np.log1p(share * np.expm1(step * lower) + (1.0 - share) * np.expm1(step * upper)).sum())


def sequence_chords(state: BoostingState, feature: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """U_i, L_i, s_i (T 3.36) and W_i of a feature in each sequence in which it can fire."""
    lists, n_labels = state.lists, state.lists.n_labels
    first_pair = lists.n_attributes * n_labels
    if feature < first_pair:
        attribute, label = divmod(feature, n_labels)
        terms, incidences, kind = lists.terms, lists.incidences_of(attribute).astype(np.int64), 0
        sequences = lists.sequence[incidences]
        positions, values = lists.entries_of(attribute)
        counts = np.diff(lists.entry_pointer)[incidences]
        starts = np.cumsum(counts) - counts
        slope = np.add.reduceat(values * state.derivative[positions, label], starts)
    else:
        label = feature - first_pair
        terms, incidences = lists.edge_terms, lists.edge_sequences
        kind = int(label // n_labels == label % n_labels)
        sequences = incidences
        slope = state.edge_derivative[incidences, label]
    high, low = terms.high[incidences, kind].copy(), terms.low[incidences, kind].copy()
    for place, j in enumerate(incidences.tolist()):
        own = slice(terms.present_pointer[j], terms.present_pointer[j + 1])
        found = np.flatnonzero(terms.present_label[own] == label)
        if found.size:
            high[place], low[place] = terms.present_high[own][found[0]], terms.present_low[own][found[0]]
    upper = np.where(high >= 0, terms.exponents[high], 0.0)
    lower = np.where(low >= 0, terms.exponents[low], 0.0)
    weights = state.weights[sequences]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (upper - slope / weights) / (upper - lower)
    fires = (upper > lower) & (weights > 0.0)
    return upper[fires], lower[fires], np.clip(share[fires], 0.0, 1.0), weights[fires]


def feature_shift(state: BoostingState, feature: int) -> FeatureShift:
    """The feature as `chain.shifted` takes it."""
    lists, n_labels = state.lists, state.lists.n_labels
    if feature >= lists.n_attributes * n_labels:
        previous, label = divmod(feature - lists.n_attributes * n_labels, n_labels)
        return FeatureShift(label, None, previous)
    positions, values = lists.entries_of(feature // n_labels)
    amounts = np.zeros(lists.labels.size)
    np.add.at(amounts, positions, values)
    return FeatureShift(feature % n_labels, amounts)


def farthest(state: BoostingState, feature: int) -> float:
    """A step beyond this gains nothing more. Smoothing alone keeps steps finite, whatever counts the labellings have."""
    if state.smoothing > 0.0:
        return math.inf
    pair = feature >= state.lists.n_attributes * state.lists.n_labels
    smallest = 1.0 if pair else float(state.smallest[feature // state.lists.n_labels])
    return FARTHEST / smallest


def _smoothed(function: Callable, state: BoostingState, feature: int) -> Callable:
    """Adds the derivatives of ε ΣW [ψ_U(Δ) + ψ_{-L}(-Δ)]."""
    smoothing = state.smoothing * state.total
    upper, lower = state.range_of(feature)

    def with_smoothing(step: float) -> tuple[float, float]:
        slope, curvature = function(step)
        if smoothing:
            up, down = math.exp(min(700.0, upper * step)), math.exp(min(700.0, lower * step))
            slope += smoothing * (up - down)
            curvature += smoothing * (upper * up - lower * down)
        return slope, curvature

    return with_smoothing


def _newton(function: Callable[[float], tuple[float, float]], first: float, limit: float) -> tuple[float, int]:
    """The root of an increasing slope beyond a first guess or before it: Newton's steps within a bracket, at most `limit`."""
    sign = math.copysign(1.0, first)
    near, far = 0.0, math.inf  # distances in the direction of descent
    distance = min(abs(first), limit)
    evaluations = 0
    while evaluations < EVALUATIONS:
        evaluations += 1
        slope, curvature = function(sign * distance)
        slope *= sign
        if slope < 0.0:
            near = distance
            if near == limit:
                break
        else:
            far = distance
        guess = distance - slope / curvature if curvature > 0.0 else math.inf
        if abs(guess - distance) <= SMALL * distance:
            distance = min(guess, limit)
            break
        if not near < guess < far:
            guess = 0.5 * (near + far) if far < math.inf else 2.0 * distance
        distance = min(guess, 4.0 * distance, limit)
    return sign * distance, evaluations


def bounds_along(state: BoostingState, feature: int, steps: np.ndarray) -> dict[str, np.ndarray]:
    """Loose bound, tight bound and Z itself for steps on one feature (T Fig. 3.1), relative to the present loss."""
    lists, total = state.lists, state.total
    upper, lower = state.range_of(feature)
    accuracy = pseudo_accuracy_of(float(state.slopes.flat[feature]), upper, lower, total)
    sequences, shift = lists.sequences_of(feature).astype(np.int64), feature_shift(state, feature)
    weights = state.log_weights[sequences] - state.reference
    chord_upper, chord_lower, share, chord_weights = sequence_chords(state, feature)
    curves: dict[str, list[float]] = {"loose": [], "tight": [], "exact": []}
    for step in steps.tolist():
        gained = share * np.expm1(step * chord_lower) + (1.0 - share) * np.expm1(step * chord_upper)
        log_odds = shifted_rest(state.potentials, lists.labels, shift, step, sequences)[0]
        moved = float(np.exp(log_odds + weights).sum() - state.weights[sequences].sum())
        curves["loose"].append(accuracy * math.exp(step * lower) + (1.0 - accuracy) * math.exp(step * upper))
        curves["tight"].append(1.0 + float(chord_weights @ gained) / total)
        curves["exact"].append(1.0 + moved / total)
    return {kind: np.array(values) for kind, values in curves.items()}


def minimisers_along(state: BoostingState, feature: int) -> dict[str, float]:
    """The smoothed steps that minimise each of the three, for one feature."""
    total = state.total
    upper, lower = state.range_of(feature)
    accuracy = pseudo_accuracy_of(float(state.slopes.flat[feature]), upper, lower, total)
    loose, _ = loose_step(accuracy, upper, lower, state.smoothing)
    chord_upper, chord_lower, share, weights = sequence_chords(state, feature)
    exponents = np.concatenate([chord_lower, chord_upper])
    coefficients = np.concatenate([weights * share, weights * (1.0 - share)])
    some = exponents != 0.0
    tight = tight_step(exponents[some], coefficients[some], upper, lower, state.smoothing * total)
    exact = exact_step(state, feature, tight)[0] if tight else 0.0
    return {"loose": loose, "tight": tight, "exact": exact}
