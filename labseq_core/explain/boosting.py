"""What boosting has chosen, round by round, and the bounds by which it chose: T Table 3.3, Fig. 3.1."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from labseq_core.checks import require
from labseq_core.csv_text import csv_text
from labseq_core.learners.base import SequenceLearner
from labseq_core.learners.boosting import BoostingLearner
from labseq_core.learners.boosting.rounds import NUMBERS, WORDS
from labseq_core.solvers.boosting.exact_steps import bounds_along, minimisers_along

POINTS = 61  # of a curve, unless steps are given
LARGEST_EXPONENT = 600.0  # of a bound that is drawn; e^710 is no number any more


def has_rounds(method: type[SequenceLearner]) -> bool:
    """Whether the models of a method have rounds to show."""
    return issubclass(method, BoostingLearner)


def round_rows(learner: BoostingLearner) -> list[dict]:
    """A row per round as in `rounds_`, without a data frame; numbers that are not known are None."""
    _require_rounds(learner)
    rows = []
    for number, (feature, *numbers) in enumerate(learner._rounds.tolist(), start=1):
        shown = {name: None if math.isnan(value) else value for name, value in zip(NUMBERS, numbers)}
        rows.append({"round": number, **learner.feature_in_words(int(feature)), **shown})
    return rows


def rounds_csv(learner: BoostingLearner, **about: object) -> str:
    """The rounds as CSV text; `about` are columns before them that say the same in each row, such as the run."""
    columns = ("round", *WORDS, *NUMBERS)
    rows = ((*about.values(), *(row[name] for name in columns)) for row in round_rows(learner))
    return csv_text([*about, *columns], rows)


def promised_log_losses(learner: BoostingLearner) -> list[float]:
    """The logarithm of the training loss after each round if every round had brought it down only as far as its bound
    says: the loss before the first round times the product of the bounds. The loss itself lies below.
    """
    rows = round_rows(learner)
    if not rows:
        return []
    with np.errstate(divide="ignore"):
        before = rows[0]["log_loss"] - np.log(rows[0]["z"])
        return (before + np.cumsum(np.log([row["bound"] for row in rows]))).tolist()


def largest_weights(learner: BoostingLearner, rounds: int, top: int = 15) -> list[dict]:
    """The `top` weights that were farthest from zero after so many rounds, highest first, and how often each was moved."""
    _require_rounds(learner)
    require(top >= 1, f"top is {top!r}; give at least 1")
    flat = learner.weights_after(rounds).flat
    moved = Counter(learner._rounds[:rounds, 0].astype(np.int64).tolist())
    features = np.flatnonzero(flat)
    features = features[np.argsort(-np.abs(flat[features]), kind="stable")][:top]
    features = features[np.argsort(-flat[features], kind="stable")].tolist()
    words = map(learner.feature_in_words, features)
    return [
        {"feature": word["feature"], "kind": word["kind"], "weight": float(flat[feature]), "times": moved[feature]}
        for feature, word in zip(features, words)
    ]


def sizes_by_round(learner: BoostingLearner) -> list[dict]:
    """A row per round: how many different features had been chosen by then, and the accuracy on development data."""
    chosen, rows = set(), []
    for row in round_rows(learner):
        chosen.add(row["feature"])
        rows.append({"round": row["round"], "features": len(chosen), "dev_accuracy": row["dev_accuracy"]})
    return rows


def repeated_features(learners: Mapping[str, BoostingLearner], first: int = 100) -> list[dict]:
    """Features that any of the models chose more than once in its first rounds, and how often each did (T Table 3.3).

    learners: by the name of their column, such as the bound. The most repeated features of the first column come first.
    """
    require(len(learners) > 0, "learners is empty; give at least one fitted boosting model")
    require(first >= 1, f"first is {first!r}; look at one round at least")
    counts = {}
    for name, learner in learners.items():
        _require_rounds(learner)
        chosen = learner._rounds[:first, 0].astype(np.int64).tolist()
        counts[name] = Counter(learner.feature_in_words(feature)["feature"] for feature in chosen)
    often = {feature for found in counts.values() for feature, count in found.items() if count > 1}
    rows = [{"feature": feature, **{name: found[feature] for name, found in counts.items()}} for feature in often]
    return sorted(rows, key=lambda row: (*(-row[name] for name in counts), row["feature"]))


def bound_curves(
    learner: BoostingLearner,
    X,
    y=None,
    *,
    label: str,
    attribute: str | None = None,
    previous_label: str | None = None,
    after: int | None = None,
    steps: Sequence[float] | None = None,
    points: int = POINTS,
) -> dict:
    """Loose bound, tight bound and Z for steps on one feature, on training data X, y (T Fig. 3.1).

    after: take the model as it was after so many rounds (None: as it is). steps: where (None: so many `points` around all
    three minima; each costs a pass over the sequences in which the feature can fire).
    Gives lists "step", "loose", "tight" and "exact", all relative to the present loss, and "minimisers" of the three.
    """
    _require_rounds(learner)
    name = type(learner).__name__
    require(
        learner.inverse_probability, f"{name} minimises the log loss; these bounds are those of the exponential loss"
    )
    feature = learner.feature_number(label, attribute=attribute, previous_label=previous_label)
    booster = learner.booster_at(X, y, learner.best_round_ if after is None else after)
    upper, lower = booster.range_of(feature)
    require(upper > lower, "the feature can fire nowhere in X; choose another one, or other data")
    minimisers = minimisers_along(booster, feature)
    if steps is None:
        far = 1.5 * max(abs(step) for step in minimisers.values()) or 1.0
        far = min(far, LARGEST_EXPONENT / max(upper, -lower))
        steps = np.linspace(-far, far, points)
    places = np.asarray(steps, dtype=np.float64)
    curves = bounds_along(booster, feature, places)
    return {"step": places.tolist(), **{k: v.tolist() for k, v in curves.items()}, "minimisers": minimisers}


def _require_rounds(learner: SequenceLearner) -> None:
    name = type(learner).__name__
    require(has_rounds(type(learner)), f"{name} has no rounds to show; choose a boosting method")
    learner.fitted_model()
