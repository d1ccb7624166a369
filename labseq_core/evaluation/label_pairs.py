"""True and predicted labels side by side: checked once, then flat integer codes on which every metric works."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from labseq_core.checks import LabSeqError, require

Labellings = Sequence[Sequence[str]]  # one sequence of labels per sequence of tokens


@dataclass(frozen=True, eq=False)
class LabelPairs:
    """Codes index `labels`; sequence i owns the positions `offsets[i] : offsets[i + 1]`, at least one."""

    labels: tuple[str, ...]  # every label that occurs on either side, sorted
    true: np.ndarray  # int64, (n_tokens,)
    predicted: np.ndarray  # int64, (n_tokens,)
    offsets: np.ndarray  # int64, (n_sequences + 1,)

    @property
    def n_tokens(self) -> int:
        return len(self.true)

    @property
    def n_sequences(self) -> int:
        return len(self.offsets) - 1


def pair_up(y_true: Labellings, y_pred: Labellings) -> LabelPairs:
    """Check that both sides have the same shape and hold nothing but `str`; encode them."""
    true_sequences, predicted_sequences = as_sequences("y_true", y_true), as_sequences("y_pred", y_pred)
    lengths = _common_lengths(true_sequences, predicted_sequences)
    true, predicted = list(chain.from_iterable(true_sequences)), list(chain.from_iterable(predicted_sequences))
    distinct = distinct_labels("y_true", true_sequences) | distinct_labels("y_pred", predicted_sequences)
    labels = tuple(sorted(distinct))
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return LabelPairs(labels, encode(true, labels), encode(predicted, labels), offsets)


def encode(flat: list[str], labels: tuple[str, ...]) -> np.ndarray:
    """The position in `labels` of each label."""
    code = {label: number for number, label in enumerate(labels)}
    return np.fromiter(map(code.__getitem__, flat), dtype=np.int64, count=len(flat))


def as_sequences(name: str, nested: Iterable[Iterable[str]]) -> list[list[str]]:
    """Any nested sequences (tuples, numpy arrays, ...) as lists of lists."""
    shape_hint = f"{name} must be a list of label sequences, such as [['O', 'B-PER'], ['O']]"
    require(not isinstance(nested, (str, bytes, dict)), shape_hint)
    try:
        outer = list(nested)
    except TypeError:
        raise LabSeqError(shape_hint) from None
    return [_as_list(sequence, f"{shape_hint}; sequence {number} is") for number, sequence in enumerate(outer)]


def distinct_labels(name: str, sequences: list[list[str]]) -> set[str]:
    """All labels that occur; the first that is no `str` is named with its place."""
    try:
        distinct = set(chain.from_iterable(sequences))
    except TypeError:  # a label that cannot be hashed is no string either
        distinct = {None}
    if all(isinstance(label, str) for label in distinct):
        return distinct
    for number, sequence in enumerate(sequences):
        for position, label in enumerate(sequence):
            fits = isinstance(label, str)
            require(fits, f"label {position} of sequence {number} of {name} is {label!r}; labels must be str")
    return distinct


def _as_list(sequence: Iterable[str], complaint: str) -> list[str]:
    if isinstance(sequence, list):
        return sequence
    require(not isinstance(sequence, (str, bytes, dict)), f"{complaint} {sequence!r}")
    try:
        return sequence.tolist() if isinstance(sequence, np.ndarray) and sequence.ndim == 1 else list(sequence)
    except TypeError:
        raise LabSeqError(f"{complaint} {sequence!r}") from None


def _common_lengths(true: list[list[str]], predicted: list[list[str]]) -> list[int]:
    counts = f"y_true has {len(true)} sequences, y_pred has {len(predicted)}"
    require(len(true) == len(predicted), f"{counts}; give one prediction per sequence")
    require(len(true) > 0, "y_true and y_pred are empty; there is nothing to evaluate")
    lengths = list(map(len, true))
    if lengths != list(map(len, predicted)) or 0 in lengths:
        for number, (one, other) in enumerate(zip(true, predicted)):
            both = f"sequence {number} has {len(one)} true and {len(other)} predicted labels"
            require(len(one) == len(other), f"{both}; give one prediction per label")
            require(len(one) > 0, f"{both}; remove sequences without tokens")
    return lengths
