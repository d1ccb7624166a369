"""Attributes of a flat batch of observations as CSR arrays, and how they are made from names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from labseq_core._checks import LabSeqError, as_offsets, require
from labseq_core.data.alphabet import Alphabet

if TYPE_CHECKING:
    from labseq_core.features.templates import FeatureTemplate

# One observation: names of what is there, name -> value, or a bare word.
Attributes = Sequence[str] | Mapping[str, float | bool | str] | str
NO_VALUES = np.empty(0)  # stands for "all values are 1"


@dataclass(frozen=True)
class EncodedSequences:
    """Position t has the attributes `indices[indptr[t] : indptr[t + 1]]` of the vocabulary."""

    indptr: np.ndarray  # int64, (positions + 1,)
    indices: np.ndarray  # int32, (entries,)
    values: np.ndarray  # float64, (entries,), or empty: all values are 1
    offsets: np.ndarray  # int64, (sequences + 1,)
    vocabulary: Alphabet  # attribute names
    template: FeatureTemplate | None = None  # what made them: travels with the model that is trained on them

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_positions(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_attributes(self) -> int:
        return len(self.vocabulary)

    def with_vocabulary(self, vocabulary: Alphabet) -> EncodedSequences:
        """The same observations in the numbers of another vocabulary; attributes that it does not know are dropped."""
        if vocabulary is self.vocabulary:
            return self
        numbers = vocabulary.encode(self.vocabulary.names, unknown=-1).astype(np.int32)
        return self._renumbered(numbers, vocabulary)

    def _renumbered(self, numbers: np.ndarray, vocabulary: Alphabet) -> EncodedSequences:
        indices = numbers[self.indices]
        known = indices >= 0
        indptr = np.concatenate([[0], np.cumsum(known)])[self.indptr]
        values = self.values[known] if self.values.size else self.values
        return EncodedSequences(indptr, indices[known], values, self.offsets, vocabulary, self.template)

    def select(self, sequences: Iterable[int]) -> EncodedSequences:
        """The sequences with these numbers, in this order, with the same vocabulary."""
        sequences = np.asarray(list(sequences), dtype=np.int64)
        positions, offsets = _gather(self.offsets, sequences)
        entries, indptr = _gather(self.indptr, positions)
        values = self.values[entries] if self.values.size else self.values
        return EncodedSequences(indptr, self.indices[entries], values, offsets, self.vocabulary, self.template)

    def attributes(self) -> list[list[list[str]]] | list[list[dict[str, float]]]:
        """Back to names: lists of them, or name -> value where not all values are 1."""
        names = self.vocabulary.names
        per_position: list = []
        for begin, end in zip(self.indptr[:-1], self.indptr[1:]):
            row = [names[index] for index in self.indices[begin:end]]
            per_position.append(dict(zip(row, self.values[begin:end].tolist())) if self.values.size else row)
        return [per_position[begin:end] for begin, end in zip(self.offsets[:-1], self.offsets[1:])]


def encode_attributes(
    sequences: Iterable[Sequence[Attributes]], vocabulary: Alphabet | None = None
) -> EncodedSequences:
    """Encode per-token attributes as users give them: {"word": "casa", "length": 4.0, "new": True} or ["word=casa"].

    A string value s of key k is the attribute "k=s", True is the attribute k, a number is k with that value, a bare string
    is the attribute "word=...". Zero values are left out. With a vocabulary, attributes that it lacks are dropped.
    """
    seen: dict[str, int] = {} if vocabulary is None else {name: place for place, name in enumerate(vocabulary.names)}
    indices: list[int] = []
    values: list[float] = []
    ends, lengths = [0], []
    for number, sequence in enumerate(sequences):
        if isinstance(sequence, str) or not isinstance(sequence, Sequence | np.ndarray):
            fix = "give a list of tokens; X is a list of such lists"
            raise LabSeqError(f"X: sequence {number} is of type {type(sequence).__name__}; {fix}")
        lengths.append(len(sequence))
        for place, token in enumerate(sequence):
            for name, value in _named_values(token, number, place):
                index = seen.setdefault(name, len(seen)) if vocabulary is None else seen.get(name, -1)
                if index >= 0:
                    indices.append(index)
                    values.append(value)
            ends.append(len(indices))
    array = np.array(values, dtype=np.float64)
    return EncodedSequences(
        indptr=np.array(ends, dtype=np.int64),
        indices=np.array(indices, dtype=np.int32),
        values=NO_VALUES if (array == 1.0).all() else array,
        offsets=as_offsets("X", np.cumsum([0, *lengths]), len(ends) - 1),
        vocabulary=Alphabet(tuple(seen)) if vocabulary is None else vocabulary,
    )


def _named_values(token: Attributes, number: int, place: int) -> Iterable[tuple[str, float]]:
    if isinstance(token, str):
        yield f"word={token}", 1.0
    elif isinstance(token, Mapping):
        for name, value in token.items():
            if isinstance(value, str):
                yield f"{name}={value}", 1.0
            else:
                try:
                    amount = float(value)
                except (TypeError, ValueError, OverflowError):
                    amount = float("nan")
                fix = "give a finite number, True/False or a string"
                where = f"X: sequence {number}, token {place}"
                require(np.isfinite(amount), f"{where}: attribute {name!r} has the value {value!r}; {fix}")
                if amount != 0.0:
                    yield str(name), amount
    elif isinstance(token, Sequence) and all(isinstance(name, str) for name in token):
        for name in dict.fromkeys(token):
            yield name, 1.0
    else:
        raise LabSeqError(
            f"X: sequence {number}, token {place} is of type {type(token).__name__}; "
            "give a dict of attributes, a list of attribute names or a word"
        )


def _gather(bounds: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Indices of everything in the given rows of a ragged array, and the bounds of the selection."""
    lengths = bounds[rows + 1] - bounds[rows]
    new_bounds = np.concatenate([[0], np.cumsum(lengths)])
    return np.arange(new_bounds[-1]) + np.repeat(bounds[rows] - new_bounds[:-1], lengths), new_bounds
