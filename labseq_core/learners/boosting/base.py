"""What the boosting methods share: one feature a round; what was chosen, when and why is kept. T chapter 3, B 5."""

from __future__ import annotations

import math
from functools import partial
from typing import ClassVar

import numpy as np

from labseq_core.archives import LoadedArrays
from labseq_core.chain import path_scores, refuse_forbidden
from labseq_core.checks import require
from labseq_core.data.alphabet import Alphabet
from labseq_core.features import EncodedSequences
from labseq_core.learners.bases.linear_learner import LinearLearner
from labseq_core.learners.boosting.development import Development
from labseq_core.learners.boosting.rounds import (
    NUMBERS,
    ON_DEVELOPMENT,
    WORDS,
    EarlyStop,
    dev_columns,
    dev_numbers,
    finite_loss,
    round_numbers,
)
from labseq_core.learners.cost import rounds_cost
from labseq_core.learners.inputs import Labels, encode_input, flat_labels, labels_of
from labseq_core.learners.options import Option
from labseq_core.progress import STOPPED, Recorder
from labseq_core.scoring.linear import LinearWeights
from labseq_core.solvers.boosting.booster import Booster
from labseq_core.solvers.boosting.features import feature_lists, order_by_length

BOUND = Option(
    "bound", "choice", "exact",
    "What chooses a feature and its step. loose: one range for all sequences, closed form; tight: each sequence has its own "
    "range; exact: tight, then the best step by inference.",
    choices=("loose", "tight", "exact"), where="T 3.26, 3.35, 3.25",
)  # fmt: skip
ROUNDS = Option("rounds", "int", 500, "At most this many rounds; each moves the weight of one feature.", low=1, high=1_000_000,
                where="T Alg. 3", tuning=(50, 100, 200, 500, 1000, 2000))  # fmt: skip
SMOOTHING = Option(
    "smoothing", "float", 1e-4, "ε: keeps the steps of features that are always right, or never, from going to infinity.",
    low=0.0, high=1.0, log_scale=True, where="T 3.37",
)  # fmt: skip
LENGTH_DECAY = Option(
    "length_decay", "float", 1.0,
    "π: a sequence of length l counts π^l times. At 1 the longest sequences own all weight; 1 over the number of labels "
    "gives all the same weight at first.",
    low=1e-6, high=1.0, where="T 3.2, 3.12",
)  # fmt: skip
PATIENCE = Option(
    "patience", "int", 100,
    "With development data: stop after so many rounds without a better F1 (accuracy where labels are not BIO) and keep the "
    "best round. 0: never stop.",
    low=0, high=1_000_000, where="T 3.6",
)  # fmt: skip


class BoostingLearner(LinearLearner):
    """What the boosting methods share. `fit(..., init=model)` goes on from the rounds of a fitted model.

    Attributes
    ----------
    rounds_ : DataFrame
        One row per round: the feature, its step, the bound, the loss.
    n_rounds_ : int
        Rounds done.
    best_round_ : int
        The round whose weights were kept: the best on development data, else the last.
    n_selected_ : int
        Features with a weight other than zero.
    n_observed_ : int
        Features that training could choose from.
    feature_fraction_ : float
        n_selected_ / n_observed_.
    stop_reason_ : str
        Why the training stopped.
    """

    inverse_probability: ClassVar[bool] = True  # the exponential loss; else the log loss
    cost = rounds_cost(5e-10)
    facts: ClassVar[dict[str, type]] = {
        "n_rounds_": int, "best_round_": int, "n_selected_": int, "n_observed_": int, "feature_fraction_": float,
        "stop_reason_": str,
    }  # fmt: skip

    bound: str
    rounds: int
    smoothing: float
    patience: int
    length_decay: float = 1.0

    # What a subclass may see differently

    def _training_view(self, encoded: EncodedSequences, labels: np.ndarray) -> EncodedSequences:
        """The observations as training sees them."""
        return encoded

    # Learning

    def _learn(self, encoded: EncodedSequences, labels: np.ndarray, dev, recorder: Recorder) -> None:
        weights = self._start()
        booster = self._booster(encoded, labels, weights)
        rows = self._rows_before()
        development = None if dev is None else self._development(dev, weights)
        watch = EarlyStop(development, self.patience, len(rows))
        recorder.present = partial(self._scored, weights)
        recorder.record(len(rows), finite_loss(booster.log_loss), 0.0, **dev_numbers(development))
        why = STOPPED
        for number in range(1, self.rounds + 1):
            if recorder.stopped:
                break
            done = booster.round()
            if done is None:
                why = "no feature reduces the bound any more"
                break
            weights.flat[done.feature] += done.step
            if development is not None:
                development.move(done.feature, done.step)
            rows.append((done.feature, *round_numbers(done), *dev_columns(development)))
            recorder.record(len(rows), finite_loss(done.log_loss), number / self.rounds, **dev_numbers(development))
            watch.look(len(rows), weights)
            if watch.over:
                why = f"no gain on the development data in {self.patience} rounds"
                break
        else:
            why = "all rounds are done"
        self._keep(watch.best_weights(weights), rows, watch.best_round(len(rows)), booster, why)

    def _booster(self, encoded: EncodedSequences, labels: np.ndarray, weights: LinearWeights) -> Booster:
        n_labels = len(self.classes_)
        view = self._training_view(encoded, labels)
        order = order_by_length(view)
        positions = np.concatenate([np.arange(view.offsets[i], view.offsets[i + 1]) for i in order])
        view, labels = view.select(order), labels[positions]
        lists = feature_lists(view, labels, n_labels)
        scoring = self._scoring(view)
        # The weights of the view may be more than those of the model; a view without pairs has no use for pairs.
        flat = np.zeros(view.n_attributes * n_labels + n_labels * n_labels)
        flat[: weights.flat.size] = weights.flat[: flat.size]
        potentials = scoring.potentials(scoring.weights(flat))
        refuse_forbidden(path_scores(potentials, labels))
        log_weights = math.log(self.length_decay) * np.diff(view.offsets)
        return Booster(
            lists, potentials, bound=self.bound, smoothing=float(self.smoothing), log_weights=log_weights,
            inverse_probability=self.inverse_probability,
        )  # fmt: skip

    def booster_at(self, X, y: Labels | None, rounds: int) -> Booster:
        """The state of training on X, y after so many rounds of this model."""
        encoded = encode_input(X, self.vocabulary_, self.template_)
        labels = self._known_labels(flat_labels(labels_of(X, y), encoded.offsets))
        return self._booster(encoded, labels, self.weights_after(rounds))

    def _rows_before(self) -> list[tuple]:
        """The rounds of the model that this fit goes on from, in the numbers of this one."""
        before = self._init
        if not isinstance(before, BoostingLearner):
            return []
        kept = before._rounds[: before.best_round_]
        features = _renumbered(kept[:, 0].astype(np.int64), before, self)
        require(bool((features >= 0).all()), "init was trained on other attributes or labels; fit it on the same data")
        return [(feature, *row[1:]) for feature, row in zip(features.tolist(), kept.tolist())]

    def _development(self, dev, weights: LinearWeights) -> Development:
        encoded, labels = dev
        return Development(self._scoring(encoded), weights, labels, self.classes_)

    def _keep(self, weights: LinearWeights, rows: list[tuple], best: int, booster: Booster, why: str) -> None:
        self.model_ = self._model_of(weights)
        self._rounds = np.array(rows, dtype=np.float64).reshape(len(rows), 1 + len(NUMBERS))
        self.n_rounds_ = len(rows)
        self.best_round_ = best
        self.n_selected_ = int(np.count_nonzero(weights.flat))
        self.n_observed_ = booster.lists.observed
        self.feature_fraction_ = self.n_selected_ / max(1, self.n_observed_)
        self.stop_reason_ = why

    # What was chosen

    @property
    def rounds_(self):
        """A data frame with a row per round."""
        import pandas as pd

        rounds = self._fitted("_rounds")
        words = [self.feature_in_words(int(feature)) for feature in rounds[:, 0]]
        columns = {"round": np.arange(1, len(rounds) + 1), **{key: [row[key] for row in words] for key in WORDS}}
        numbers = {name: rounds[:, 1 + place] for place, name in enumerate(NUMBERS)}
        numbers["evaluations"] = numbers["evaluations"].astype(np.int64)
        return pd.DataFrame({**columns, **numbers})

    def feature_in_words(self, feature: int) -> dict[str, str]:
        """A feature number in words, and its parts: kind, attribute, label, previous label; "" for what it has not."""
        first, label = divmod(feature, len(self.classes_))
        label = self.classes_[label]
        if first < len(self.vocabulary_):
            attribute = self.vocabulary_.names[first]
            name, equals, value = attribute.partition("=")
            shown = f"{name} = {value}" if equals else name
            parts = ("attribute", attribute, label, "")
        else:
            previous = self.classes_[first - len(self.vocabulary_)]
            shown = f"y_{{t-1}} = {previous}"
            parts = ("transition", "", label, previous)
        return dict(zip(WORDS, (f"y_t = {label}, {shown}", *parts)))

    def feature_number(self, label: str, *, attribute: str | None = None, previous_label: str | None = None) -> int:
        """The number of a feature given by its parts: a label, and an attribute or a previous label."""
        self._fitted("classes_")
        one = (attribute is None) != (previous_label is None)
        require(one, "a feature is a label with either an attribute or a previous label; name one of them")
        labels = Alphabet(self.classes_)
        if attribute is not None:
            return self.vocabulary_.index(attribute) * len(labels) + labels.index(label)
        return (len(self.vocabulary_) + labels.index(previous_label)) * len(labels) + labels.index(label)

    def weights_after(self, rounds: int) -> LinearWeights:
        """The weights as they were after so many rounds; 0: before the first."""
        done = self._fitted("_rounds")
        whole = 0 <= rounds <= len(done)
        require(whole, f"rounds is {rounds!r}; this model has {len(done)} rounds, choose from 0 to {len(done)}")
        flat = self.weights_.flat.copy()
        kept = self.best_round_
        later, sign = (done[rounds:kept], -1.0) if rounds < kept else (done[kept:rounds], 1.0)
        np.add.at(flat, later[:, 0].astype(np.int64), sign * later[:, 1])
        # Nothing but rounding is left of a weight that only those rounds have moved.
        flat[np.setdiff1d(done[rounds:, 0], done[:rounds, 0]).astype(np.int64)] = 0.0
        return LinearWeights.of(flat, len(self.vocabulary_), len(self.classes_), False)

    # Keeping it

    def _arrays(self) -> dict[str, np.ndarray]:
        return {**super()._arrays(), "rounds": self._rounds}

    def _restore(self, loaded: LoadedArrays) -> None:
        super()._restore(loaded)
        self._rounds = loaded.floats("rounds", None, 1 + len(NUMBERS), infinite=True)
        features = self._rounds[:, 0]
        known = bool(((features >= 0) & (features < self.weights_.flat.size) & (features % 1 == 0)).all())
        require(known and bool(np.isfinite(self._rounds[:, 1]).all()), "rounds has features or steps that cannot be")
        always = [1 + place for place, name in enumerate(NUMBERS) if name not in ON_DEVELOPMENT]
        require(not np.isnan(self._rounds[:, always]).any(), "rounds has what is no number")
        whole = len(self._rounds) == self.n_rounds_ and 0 <= self.best_round_ <= self.n_rounds_
        require(whole, "rounds does not fit n_rounds_ and best_round_")


def _renumbered(features: np.ndarray, before: LinearLearner, now: LinearLearner) -> np.ndarray:
    """Feature numbers of one model in those of another; -1 where it lacks the attribute or a label."""
    labels = Alphabet(now.classes_).encode(before.classes_, unknown=-1)
    attributes = now.vocabulary_.encode(before.vocabulary_.names, unknown=-1)
    rows = np.concatenate([attributes, np.where(labels >= 0, labels + len(now.vocabulary_), -1)])
    first, label = rows[features // len(before.classes_)], labels[features % len(before.classes_)]
    return np.where((first >= 0) & (label >= 0), first * len(now.classes_) + label, -1)
