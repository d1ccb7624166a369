"""Whether probabilities keep their word: log loss, Brier score, expected calibration error, reliability diagram."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labseq_core.checks import SUM_TOLERANCE, require
from labseq_core.evaluation.abstention import _flat, top_labels
from labseq_core.evaluation.label_pairs import Labellings, LabelPairs, pair_up
from labseq_core.evaluation.metric import Metric

BINS = 10


@dataclass(frozen=True)
class ReliabilityBin:
    """Tokens whose label has a probability in (low, high]; the first bin has 0 too. Means of no token are None."""

    low: float
    high: float
    tokens: int
    confidence: float | None  # mean probability of the labels given: what was promised
    accuracy: float | None  # share of right ones: what was kept


@dataclass(frozen=True)
class Calibration:
    """Scores of probabilities; smaller is better."""

    log_loss: float  # mean of -log p(true label); inf where a true label was held for impossible
    brier: float  # mean of Σ_labels (p(label) - [label is true])²
    ece: float  # Σ_bins share of tokens · |accuracy - confidence|
    reliability: tuple[ReliabilityBin, ...]


@dataclass(frozen=True, eq=False)
class Probabilities:
    """What a model holds for probable at each token."""

    pairs: LabelPairs  # the true label, and the one that was given
    table: np.ndarray  # float64, (tokens, S): of each of the classes
    classes: tuple[str, ...]
    of_truth: np.ndarray  # float64, (tokens,): of the true label; 0 where it is not among the classes
    of_predicted: np.ndarray  # float64, (tokens,): of the label that was given

    @classmethod
    def of(
        cls, y_true: Labellings, marginals: Sequence[np.ndarray], classes: Sequence[str],
        predicted: Labellings | None = None,
    ) -> Probabilities:  # fmt: skip
        """marginals: an (l, S) array per sequence, columns as in classes. predicted: usually the most probable labels."""
        pairs = pair_up(y_true, top_labels(marginals, classes)[0] if predicted is None else predicted)
        table = _flat("marginals", marginals, pairs.offsets, 2)
        sums = table.sum(axis=1)
        proper = bool((table >= 0.0).all() and (np.abs(sums - 1.0) <= SUM_TOLERANCE).all())
        require(proper, "marginals must be probabilities that sum to 1 for each token")
        place = {label: column for column, label in enumerate(classes)}
        columns = np.array([place.get(label, -1) for label in pairs.labels])
        of_truth, of_predicted = (
            np.where(columns[codes] >= 0, table[np.arange(len(table)), columns[codes]], 0.0)
            for codes in (pairs.true, pairs.predicted)
        )
        return cls(pairs, table, tuple(classes), of_truth, of_predicted)


def calibration(
    y_true: Labellings, marginals: Sequence[np.ndarray], classes: Sequence[str], bins: int = BINS
) -> Calibration:
    """All of them; marginals: an (l, S) array per sequence, columns as in classes.

    A true label that is not among the classes has probability 0.
    """
    require(isinstance(bins, int) and bins >= 1, f"bins is {bins!r}; give a whole number of at least 1")
    given = Probabilities.of(y_true, marginals, classes)
    return Calibration(log_loss_of(given), brier_of(given), ece_of(given, bins), _bins_of(given, bins))


def log_loss_of(given: Probabilities) -> float:
    with np.errstate(divide="ignore"):
        return float(-np.mean(np.log(given.of_truth)))


def brier_of(given: Probabilities) -> float:
    # Σ p² - 2 p(true) + 1
    return float(np.mean(np.sum(given.table * given.table, axis=1) - 2.0 * given.of_truth + 1.0))


def ece_of(given: Probabilities, bins: int = BINS) -> float:
    gaps = [row.tokens * abs(row.accuracy - row.confidence) for row in _bins_of(given, bins) if row.tokens]
    return sum(gaps) / given.pairs.n_tokens


def _bins_of(given: Probabilities, bins: int) -> tuple[ReliabilityBin, ...]:
    return reliability(given.of_predicted, given.pairs.true == given.pairs.predicted, bins)


LOG_LOSS = Metric(
    "log_loss", "Log loss", "mean of -log p(true label) over tokens; only of methods with probabilities",
    "probabilities", log_loss_of, share=False, better="lower",
)  # fmt: skip
BRIER = Metric(
    "brier", "Brier score", "mean squared distance between the probabilities of a token and the truth",
    "probabilities", brier_of, share=False, better="lower",
)  # fmt: skip
ECE = Metric(
    "ece", "Calibration error (ECE)", "how far promised and kept accuracy are apart, on average over tokens",
    "probabilities", ece_of, better="lower", short="ECE",
)  # fmt: skip


def reliability(confidence: np.ndarray, right: np.ndarray, bins: int = BINS) -> tuple[ReliabilityBin, ...]:
    """Promised and kept accuracy, in bins of equal width; confidence and right have an entry for each token."""
    edges = np.arange(bins + 1) / bins
    numbers = np.maximum(np.searchsorted(edges, confidence, side="left") - 1, 0)
    tokens = np.bincount(numbers, minlength=bins)
    promised = np.bincount(numbers, confidence, minlength=bins)
    kept = np.bincount(numbers, right, minlength=bins)
    rows = zip(edges[:-1].tolist(), edges[1:].tolist(), tokens.tolist(), promised.tolist(), kept.tolist())
    return tuple(
        ReliabilityBin(low, high, count, total / count if count else None, good / count if count else None)
        for low, high, count, total, good in rows
    )
