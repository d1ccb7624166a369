"""How sure a model is of each token of given sequences, and which tokens a threshold on that withholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labseq_core.checks import require
from labseq_core.csv_text import csv_text
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

    @classmethod
    def of_marginals(cls, predicted: list[list[str]], marginals: list[np.ndarray], classes: Sequence[str]) -> Answers:
        """How sure a model is of a label that it gave: the probability of that label."""
        place = {label: number for number, label in enumerate(classes)}
        confidence = [
            np.minimum(
                rows[np.arange(len(rows)), [place[label] for label in labels]], 1.0
            )  # a rounded sum may be above 1
            for rows, labels in zip(marginals, predicted)
        ]
        return cls(predicted, confidence, True, marginals, list(classes))


def has_probabilities(method: type[SequenceLearner]) -> bool:
    """Whether the confidences of a method are probabilities."""
    return method.probabilistic


def answers(learner: SequenceLearner, X, predicted: list[list[str]]) -> Answers:
    """How sure a model is of the labels that it predicted: their probabilities; of a method without probabilities, by how much
    the best labelling beats the best one with another label there.
    """
    if learner.probabilistic:
        return Answers.of_marginals(predicted, learner.marginals(X), learner.classes_)
    return Answers(predicted, learner.score_gaps(X), False)


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


def withheld_csv(rows: Sequence[dict], **about: object) -> str:
    """The same as CSV text; `about` are columns before them that say the same in each row, such as the run."""
    cells = ((*about.values(), *(row[name] for name in WITHHELD_COLUMNS)) for row in rows)
    return csv_text([*about, *WITHHELD_COLUMNS], cells)
