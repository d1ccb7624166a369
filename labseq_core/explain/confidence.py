"""How sure a model is of each token of given sequences, and which tokens a threshold on that withholds."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labseq_core.checks import require
from labseq_core.evaluation import top_labels
from labseq_core.learners.base import SequenceLearner

WITHHELD_COLUMNS = ("sequence", "position", "token", "true", "predicted", "confidence", "right")


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model says of each token, and how sure it is. One entry per sequence."""

    predicted: list[list[str]]
    confidence: list[np.ndarray]  # (l,)
    probability: bool  # whether confidences are probabilities; score gaps are not
    marginals: list[np.ndarray] | None = None  # (l, S) in the order of `classes`, where they were asked for
    classes: list[str] | None = None


def has_probabilities(method: type[SequenceLearner]) -> bool:
    """Whether the confidences of a method are probabilities."""
    return method.probabilistic


def answers(learner: SequenceLearner, X) -> Answers:
    """The most probable label of each token with its probability; of a method without probabilities the best labelling, and
    for each token by how much it beats the best one with another label there.
    """
    if learner.probabilistic:
        marginals = learner.marginals(X)
        predicted, confidence = top_labels(marginals, learner.classes_)
        return Answers(predicted, confidence, True, marginals, list(learner.classes_))
    return Answers(learner.predict(X), learner.score_gaps(X), False)


def withheld_rows(
    tokens: Sequence[Sequence[str]], truth: Sequence[Sequence[str]], given: Answers, threshold: float
) -> list[dict]:
    """A row for each token whose confidence is below the threshold, in the order of the text; counted from 1."""
    same = list(map(len, tokens)) == list(map(len, truth)) == list(map(len, given.confidence))
    require(same, "tokens, truth and answers are of different sequences")
    rows = []
    for number, confidence in enumerate(given.confidence):
        for place in np.flatnonzero(confidence < threshold).tolist():
            true, predicted = truth[number][place], given.predicted[number][place]
            values = (number + 1, place + 1, tokens[number][place], true, predicted, float(confidence[place]))
            rows.append(dict(zip(WITHHELD_COLUMNS, (*values, true == predicted))))
    return rows


def withheld_csv(rows: Sequence[dict], **about: str) -> str:
    """The same as CSV text; `about` are columns before them that say the same in each row, such as the run."""
    text = io.StringIO()
    writer = csv.DictWriter(text, (*about, *WITHHELD_COLUMNS), lineterminator="\n")
    writer.writeheader()
    writer.writerows({**about, **row} for row in rows)
    return text.getvalue()
