"""Which sequences to look at: where a method takes one label for another, and where methods disagree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from labseq_core.checks import require
from labseq_core.data.sequences import Sequences
from labseq_core.experiments.results.predictions import Predictions


@dataclass(frozen=True)
class LabelledSentence:
    """A sequence with its true labels and those of each method. Folds and numbers within them are counted from 1."""

    fold: int
    number: int
    tokens: list[str]
    truth: list[str]
    predictions: dict[str, list[str]]


def taken_for(said: Predictions, true: str, predicted: str) -> list[int]:
    """Places of the sequences with a token that is truly `true` and that the method calls `predicted`."""
    if true not in said.labels or predicted not in said.labels:
        return []
    is_taken = (said.truth == said.labels.index(true)) & (said.predicted == said.labels.index(predicted))
    return np.unique(_sequence_of_token(said)[is_taken]).tolist()


def disagreeing(by_label: Mapping[str, Predictions]) -> list[int]:
    """Places of the sequences that not all methods label alike, those with most such tokens first."""
    first, *others = by_label.values()
    _require_alike(by_label)
    names = _predicted_names(first)
    differ = np.zeros(len(names), dtype=bool)
    for other in others:
        differ |= names != _predicted_names(other)
    tokens = np.bincount(_sequence_of_token(first)[differ], minlength=len(first.lengths))
    order = np.argsort(-tokens, kind="stable")
    return order[tokens[order] > 0].tolist()


def labelled(
    places: Sequence[int], parts: Sequence[Sequences], by_label: Mapping[str, Predictions]
) -> list[LabelledSentence]:
    """The sequences at these places, counted through all folds. parts: what each fold was scored on."""
    first = next(iter(by_label.values()))
    _require_alike(by_label)
    begins = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    same = begins[-1] == len(first.lengths) and all(
        np.array_equal(part.lengths, first.lengths[begin : begin + len(part)]) for part, begin in zip(parts, begins)
    )
    require(same, "the corpus has changed since this run; run it again to see its sentences")
    offsets = np.concatenate([[0], np.cumsum(first.lengths)])
    found = []
    for place in places:
        fold = int(np.searchsorted(begins, place, side="right")) - 1
        number = int(place - begins[fold])
        tokens = slice(int(offsets[place]), int(offsets[place + 1]))
        found.append(
            LabelledSentence(
                fold + 1, number + 1, parts[fold].tokens[number], _names(first, first.truth[tokens]),
                {label: _names(said, said.predicted[tokens]) for label, said in by_label.items()},
            )
        )  # fmt: skip
    return found


def _require_alike(by_label: Mapping[str, Predictions]) -> None:
    first, *others = by_label.values()
    alike = all(np.array_equal(first.lengths, other.lengths) for other in others)
    require(alike, "the methods of this run were scored on different sequences; run it again")


def _sequence_of_token(said: Predictions) -> np.ndarray:
    return np.repeat(np.arange(len(said.lengths)), said.lengths)


def _predicted_names(said: Predictions) -> np.ndarray:
    return np.array(said.labels, dtype=object)[said.predicted]


def _names(said: Predictions, codes: np.ndarray) -> list[str]:
    return [said.labels[code] for code in codes]
