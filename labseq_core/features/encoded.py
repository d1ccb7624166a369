"""Attributes of a flat batch of observations as CSR arrays, and how they are made from names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from labseq_core.checks import LARGEST, LabSeqError, as_offsets, text_fault
from labseq_core.data.alphabet import Alphabet

# One observation: names of what is there, name -> value, or a bare word.
Attributes = Sequence[str] | Mapping[str, float | bool | str] | str
NO_VALUES = np.empty(0)  # stands for "all values are 1"
# Of values that a learner takes: solvers keep differences of gradients, sums over up to 1e8 tokens, in float32, which ends at
# 3e38; and a polynomial kernel of degree 2 squares the square.
LARGEST_VALUE = 1e30
_NUMBERS = f"give a finite number between {-LARGEST:g} and {LARGEST:g}"


class Encoder(Protocol):
    """What makes attributes: a `FeatureTemplate`."""

    def encode(self, sequences, vocabulary: Alphabet | None = None) -> EncodedSequences: ...

    def to_dict(self) -> dict: ...


@dataclass(frozen=True)
class WindowTypes:
    """The same attributes by type (a distinct word, say): position t has those of the types in the window around it.

    Type w at place o of the window (o = 0: farthest before) brings `indices[indptr[b] : indptr[b + 1]]`, b = w * window + o,
    all with value 1. Types are few and attributes per type are many, so this is the short way to scores and gradients.
    """

    rows: np.ndarray  # int32, (positions,): the type of each position
    before: np.ndarray  # int8, (positions,): how many positions before it are in its sentence and window
    after: np.ndarray  # int8, (positions,): and how many after it
    window: int
    indptr: np.ndarray  # int64, (types * window + 1,)
    indices: np.ndarray  # int32

    def select(self, positions: np.ndarray) -> WindowTypes:
        """At these positions only, which are those of whole sequences."""
        return replace(self, rows=self.rows[positions], before=self.before[positions], after=self.after[positions])


@dataclass(frozen=True)
class EncodedSequences:
    """Position t has the attributes `indices[indptr[t] : indptr[t + 1]]` of the vocabulary."""

    indptr: np.ndarray  # int64, (positions + 1,)
    indices: np.ndarray  # int32, (entries,)
    values: np.ndarray  # float64, (entries,), or empty: all values are 1
    offsets: np.ndarray  # int64, (sequences + 1,)
    vocabulary: Alphabet  # attribute names
    template: Encoder | None = None  # what made them: travels with the model that is trained on them
    types: WindowTypes | None = None  # where the template has one type per position

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
        indptr, indices, known = renumber(self.indptr, self.indices, numbers)
        values = self.values[known] if self.values.size else self.values
        types = None
        if self.types is not None:
            type_indptr, type_indices, _ = renumber(self.types.indptr, self.types.indices, numbers)
            types = replace(self.types, indptr=type_indptr, indices=type_indices)
        return EncodedSequences(indptr, indices, values, self.offsets, vocabulary, self.template, types)

    def select(self, sequences: Iterable[int]) -> EncodedSequences:
        """The sequences with these numbers, in this order, with the same vocabulary."""
        sequences = np.asarray(list(sequences), dtype=np.int64)
        positions, offsets = gather(self.offsets, sequences)
        entries, indptr = gather(self.indptr, positions)
        values = self.values[entries] if self.values.size else self.values
        types = None if self.types is None else self.types.select(positions)
        return EncodedSequences(indptr, self.indices[entries], values, offsets, self.vocabulary, self.template, types)

    def require_bounded(self) -> None:
        """That no value is beyond what can be learned from."""
        beyond = np.flatnonzero(~(np.abs(self.values) <= LARGEST_VALUE))  # NaN too
        if beyond.size:
            name = self.vocabulary.names[self.indices[beyond[0]]]
            position = int(np.searchsorted(self.indptr, beyond[0], side="right")) - 1
            sequence = int(np.searchsorted(self.offsets, position, side="right")) - 1
            where = f"X: sequence {sequence}, token {position - self.offsets[sequence]}: attribute {name!r}"
            raise LabSeqError(
                f"{where} has the value {self.values[beyond[0]]:g}; such values are too large for numbers; scale the "
                f"attributes to between {-LARGEST_VALUE:g} and {LARGEST_VALUE:g}"
            )

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
                index = seen.get(name, -1)
                if index < 0 and vocabulary is None:
                    if fault := text_fault(name):
                        raise LabSeqError(f"X: sequence {number}, token {place}: the name of an attribute {fault}")
                    index = seen[name] = len(seen)
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
            if not isinstance(name, str):
                raise LabSeqError(f"X: sequence {number}, token {place}: the name of an attribute {text_fault(name)}")
            if isinstance(value, str):
                yield f"{name}={value}", 1.0
            else:
                try:
                    amount = float(value)
                except (TypeError, ValueError, OverflowError):
                    amount = float("nan")
                if not -LARGEST <= amount <= LARGEST:
                    where = f"X: sequence {number}, token {place}: attribute {name!r} has the value {value!r}"
                    raise LabSeqError(f"{where}; {_NUMBERS}, True/False or a string")
                if amount != 0.0:
                    yield name, amount
    elif isinstance(token, Sequence) and all(isinstance(name, str) for name in token):
        for name in dict.fromkeys(token):
            yield name, 1.0
    else:
        raise LabSeqError(
            f"X: sequence {number}, token {place} is of type {type(token).__name__}; "
            "give a dict of attributes, a list of attribute names or a word"
        )


def renumber(indptr: np.ndarray, indices: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ragged rows in new numbers without those that are negative, and which entries were kept."""
    renumbered = numbers[indices]
    known = renumbered >= 0
    return np.concatenate([[0], np.cumsum(known)])[indptr], renumbered[known], known


def gather(bounds: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Indices of everything in the given rows of a ragged array, and the bounds of the selection."""
    lengths = bounds[rows + 1] - bounds[rows]
    new_bounds = np.concatenate([[0], np.cumsum(lengths)])
    return np.arange(new_bounds[-1]) + np.repeat(bounds[rows] - new_bounds[:-1], lengths), new_bounds
