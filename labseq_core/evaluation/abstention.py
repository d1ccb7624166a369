"""Knowing when not to answer: what is gained when tokens of low confidence are withheld. T 5.6, Fig. 5.3.

A token is answered if its confidence is at least the threshold. Confidences are top marginals or, for methods without
probabilities, score gaps: these order the tokens of one model and mean nothing else, so their curve is marked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from labseq_core.checks import LabSeqError, require
from labseq_core.csv_text import csv_text
from labseq_core.evaluation.label_pairs import Labellings, pair_up
from labseq_core.evaluation.metric import Metric

POINT_COLUMNS = ("threshold", "answered", "correct", "coverage", "precision", "recall", "risk", "error_reduction")


@dataclass(frozen=True)
class AbstentionPoint:
    """What one threshold does. Precision, risk and error reduction of no answer at all are None."""

    threshold: float
    answered: int
    correct: int  # of the answered
    coverage: float  # answered / all
    precision: float | None  # correct / answered
    recall: float  # correct / all
    risk: float | None  # wrong / answered
    error_reduction: float | None  # by which share the risk is below that of answering everything


@dataclass(frozen=True, eq=False)
class AbstentionCurve:
    """A step for each distinct confidence, highest first: tokens of equal confidence are answered together."""

    thresholds: np.ndarray  # float64, (steps,), falling
    answered: np.ndarray  # int64, (steps,), tokens with at least this confidence
    correct: np.ndarray  # int64, (steps,), right ones of them
    calibrated: bool  # confidences are probabilities

    @classmethod
    def of(cls, confidence: np.ndarray, correct: np.ndarray, *, calibrated: bool = True) -> AbstentionCurve:
        """From the confidence of each token and whether its label is right, such as those of all folds one after the other.

        calibrated: confidences are probabilities. Score gaps are not; they may be inf.
        """
        sure, right = np.asarray(confidence, dtype=np.float64), np.asarray(correct)
        fits = sure.ndim == 1 and sure.shape == right.shape
        require(fits, f"confidence has shape {sure.shape}, correct {right.shape}; give two flat arrays of one length")
        require(sure.size > 0, "confidence is empty; there is nothing to evaluate")
        require(right.dtype == np.bool_, f"correct is of type {right.dtype}; give True or False for each token")
        require(not np.isnan(sure).any(), "confidence contains NaN; give a number for each token")
        if calibrated:
            require(bool(((sure >= 0.0) & (sure <= 1.0)).all()), "confidence is not from 0 to 1; give calibrated=False")
        return cls._of_groups(sure, np.ones(len(sure), dtype=np.int64), right.astype(np.int64), calibrated)

    @classmethod
    def concatenate(cls, curves: Sequence[AbstentionCurve]) -> AbstentionCurve:
        """The curve of all tokens of several curves, such as folds: exactly that of `of`, for a curve forgets no token.

        Score gaps of two models have no common scale: put those together only where the models differ by their fold.
        """
        require(len(curves) > 0, "curves is empty; give at least one")
        kinds = {curve.calibrated for curve in curves}
        require(len(kinds) == 1, "curves of probabilities and of score gaps cannot be put together; give one kind")
        answered, correct = (
            np.concatenate([np.diff(getattr(curve, name), prepend=0) for curve in curves])
            for name in ("answered", "correct")
        )
        return cls._of_groups(np.concatenate([curve.thresholds for curve in curves]), answered, correct, kinds.pop())

    @classmethod
    def _of_groups(
        cls, confidence: np.ndarray, tokens: np.ndarray, right: np.ndarray, calibrated: bool
    ) -> AbstentionCurve:
        """From groups of tokens with one confidence each; groups of equal confidence become one step."""
        order = np.argsort(-confidence, kind="stable")
        falling = confidence[order]
        last = np.flatnonzero(np.append(falling[1:] != falling[:-1], True))  # of each run of equals
        return cls(falling[last], np.cumsum(tokens[order])[last], np.cumsum(right[order])[last], calibrated)

    @property
    def n_tokens(self) -> int:
        return int(self.answered[-1])

    @property
    def coverage(self) -> np.ndarray:
        return self.answered / self.n_tokens

    @property
    def precision(self) -> np.ndarray:
        return self.correct / self.answered

    @property
    def recall(self) -> np.ndarray:
        return self.correct / self.n_tokens

    @property
    def risk(self) -> np.ndarray:
        return (self.answered - self.correct) / self.answered

    @property
    def error_reduction(self) -> np.ndarray:
        """1 - risk / risk of answering everything; 0 where nothing is wrong anyway."""
        risk = self.risk
        return 1.0 - risk / risk[-1] if risk[-1] > 0.0 else np.zeros(len(risk))

    @property
    def aurc(self) -> float:
        """Area under risk against coverage, each step with the risk at its end: the mean over tokens of the risk of
        answering just those that are as sure or surer. Smaller is better.
        """
        return float(np.sum(np.diff(self.answered, prepend=0) * self.risk) / self.n_tokens)

    def at(self, threshold: float) -> AbstentionPoint:
        """What happens if tokens below this confidence are withheld."""
        require(threshold == threshold, "threshold is NaN; give a number")
        # Thresholds fall: the last step that is not below the threshold.
        step = int(np.searchsorted(-self.thresholds, -threshold, side="right")) - 1
        if step < 0:
            return AbstentionPoint(float(threshold), 0, 0, 0.0, None, 0.0, None, None)
        return self._point(float(threshold), step)

    def at_coverage(self, coverage: float) -> AbstentionPoint:
        """What happens if the surest tokens are answered: at least this share, and no more than ties make necessary."""
        return self.at(self.threshold_for(coverage))

    def rows(self) -> list[dict]:
        """All steps as dicts."""
        return [vars(self._point(float(threshold), step)) for step, threshold in enumerate(self.thresholds)]

    def threshold_for(self, coverage: float) -> float:
        """The highest threshold with which at least this share is answered; inf for a share of 0."""
        require(0.0 <= coverage <= 1.0, f"coverage is {coverage!r}; give a share from 0 to 1")
        if coverage == 0.0:
            return np.inf
        return float(self.thresholds[np.searchsorted(self.coverage, coverage)])

    def _point(self, threshold: float, step: int) -> AbstentionPoint:
        answered, correct, n = int(self.answered[step]), int(self.correct[step]), self.n_tokens
        risk, everything = (answered - correct) / answered, (n - int(self.correct[-1])) / n
        fall = 1.0 - risk / everything if everything else 0.0
        return AbstentionPoint(threshold, answered, correct, answered / n, correct / answered, correct / n, risk, fall)


AURC = Metric(
    "aurc", "AURC", "area under risk against coverage: mean error over all shares that could be answered", "confidence",
    share=False, better="lower",
)  # fmt: skip


def abstention_curve(
    y_true: Labellings, y_pred: Labellings, confidence: Sequence[np.ndarray], *, calibrated: bool = True
) -> AbstentionCurve:
    """The curve of predictions with a confidence for each token, an (l,) array per sequence.

    calibrated: confidences are probabilities. Score gaps are not; they may be inf.
    """
    pairs = pair_up(y_true, y_pred)
    flat = _flat("confidence", confidence, pairs.offsets, 1)
    return AbstentionCurve.of(flat, pairs.true == pairs.predicted, calibrated=calibrated)


def top_labels(marginals: Sequence[np.ndarray], classes: Sequence[str]) -> tuple[list[list[str]], list[np.ndarray]]:
    """The most probable label of each token and its probability; marginals: an (l, S) array per sequence."""
    rows = [np.asarray(table, dtype=np.float64) for table in marginals]
    fits = all(table.ndim == 2 and table.shape[1] == len(classes) for table in rows) and len(classes) > 0
    require(fits, f"marginals must be arrays (l, {len(classes)}): a column for each of the classes")
    names = np.array(classes, dtype=object)
    predicted = [names[table.argmax(axis=1)].tolist() for table in rows]
    # A sum that is rounded may end just above 1.
    return predicted, [np.minimum(table.max(axis=1), 1.0) for table in rows]


def compare_at(curves: Mapping[str, AbstentionCurve], threshold: float) -> list[dict]:
    """A row for each curve by its name: the figures at a threshold on probabilities, and the area under risk and coverage.

    A score gap cannot be compared with a probability: such a curve answers as many tokens as the first calibrated one does
    at the threshold (or the fewest more, where ties do not allow it; a token without any rival is always answered), and
    `threshold` is the gap that does this.
    """
    first = next((curve for curve in curves.values() if curve.calibrated), None)
    if first is None:
        raise LabSeqError("no curve is calibrated, so a threshold on probabilities says nothing; add one that is")
    coverage = first.at(threshold).coverage
    rows = []
    for name, curve in curves.items():
        own = threshold if curve.calibrated else curve.threshold_for(coverage)
        rows.append({"method": name, "probability": curve.calibrated, **vars(curve.at(own)), "aurc": curve.aurc})
    return rows


def threshold_table(curves: Mapping[str, AbstentionCurve], thresholds: Sequence[float]) -> list[dict]:
    """`compare_at` for several thresholds on probabilities; `at` says which it is."""
    return [{"at": float(value), **row} for value in thresholds for row in compare_at(curves, value)]


def coverage_table(curves: Mapping[str, AbstentionCurve], coverages: Sequence[float]) -> list[dict]:
    """A row for each share that is to be answered (`at`) and each curve by its name: what the surest tokens gain.

    A share of tokens means the same for probabilities and for score gaps, so that all methods can be compared here.
    """
    return [
        {
            "at": float(share), "method": name, "probability": curve.calibrated,
            **vars(curve.at_coverage(share)), "aurc": curve.aurc,
        }
        for share in coverages
        for name, curve in curves.items()
    ]  # fmt: skip


def curves_csv(curves: Mapping[str, AbstentionCurve], **about: object) -> str:
    """All steps of all curves as CSV text; `about` are columns before them that say the same in each row."""
    rows = (
        (*about.values(), name, curve.calibrated, *(row[column] for column in POINT_COLUMNS))
        for name, curve in curves.items()
        for row in curve.rows()
    )
    return csv_text([*about, "method", "probability", *POINT_COLUMNS], rows)


def _flat(name: str, arrays: Sequence[np.ndarray], offsets: np.ndarray, dimensions: int) -> np.ndarray:
    """One array per sequence as one for all positions: as long as the labels, without NaN."""
    rows = [np.asarray(array, dtype=np.float64) for array in arrays]
    n_sequences = len(offsets) - 1
    require(len(rows) == n_sequences, f"{name} has {len(rows)} sequences, y_true has {n_sequences}; give one for each")
    for number, (row, length) in enumerate(zip(rows, np.diff(offsets).tolist())):
        fits = row.ndim == dimensions and len(row) == length
        require(
            fits, f"{name} of sequence {number} has shape {row.shape} for {length} tokens; give one value per token"
        )
    flat = np.concatenate(rows)
    require(not np.isnan(flat).any(), f"{name} contains NaN; give a number for each token")
    return flat
