"""The only ragged container: flat tokens, labels and columns with offsets. Lists of lists are made on request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, count

import numpy as np

from labseq_core.checks import LabSeqError, as_offsets, require, require_texts, text_fault

Column = list[str] | np.ndarray  # strings, or float64 values (NaN: not given)


@dataclass(frozen=True)
class Sequences:
    """A batch of token sequences, stored flat: sequence i owns positions `offsets[i] : offsets[i + 1]`."""

    flat_tokens: list[str]
    offsets: np.ndarray  # int64, (n_sequences + 1,)
    flat_labels: list[str] | None = None
    flat_columns: dict[str, Column] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n_positions = len(self.flat_tokens)
        object.__setattr__(self, "offsets", as_offsets("offsets", self.offsets, n_positions))
        for name, column in {"labels": self.flat_labels, **self.flat_columns}.items():
            n_values = n_positions if column is None else len(column)
            fits = n_values == n_positions
            require(fits, f"{name} has {n_values} values for {n_positions} tokens; give one per token")
        require_texts("token", self.flat_tokens, self.offsets)
        require_texts("label", self.flat_labels or (), self.offsets)
        for name, column in self.flat_columns.items():
            require(not (fault := text_fault(name)), f"the name of a column {fault}")
            if not isinstance(column, np.ndarray):
                require_texts(f"value in column {name!r}", column, self.offsets)

    @classmethod
    def from_lists(
        cls,
        tokens: Iterable[Sequence[str]],
        labels: Iterable[Sequence[str]] | None = None,
        columns: dict[str, Iterable[Sequence]] | None = None,
    ) -> Sequences:
        """From lists of lists. A column whose values are all numbers becomes a float64 column."""
        listed = [list(sequence) for sequence in tokens]
        offsets = np.cumsum([0, *map(len, listed)])
        flat_labels = None if labels is None else _flatten("labels", labels, listed)
        flat_columns = {name: _as_column(_flatten(name, column, listed)) for name, column in (columns or {}).items()}
        return cls(list(chain.from_iterable(listed)), offsets, flat_labels, flat_columns)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_tokens(self) -> int:
        return len(self.flat_tokens)

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.offsets)

    def length_bins(self, most: int = 30) -> list[dict[str, int]]:
        """How many sequences have lengths "from" .. "to", in bins of equal and round width, at most so many and two."""
        lengths = self.lengths
        shortest, longest = int(lengths.min()), int(lengths.max())
        round_widths = (digit * 10**power for power in count() for digit in (1, 2, 5))
        width = next(width for width in round_widths if width * most >= longest - shortest + 1)
        first = shortest // width
        counts = np.bincount(lengths // width - first).tolist()
        lows = ((first + place) * width for place in range(len(counts)))
        return [{"from": low, "to": low + width - 1, "sequences": n} for low, n in zip(lows, counts)]

    @cached_property
    def tokens(self) -> list[list[str]]:
        return self._nested(self.flat_tokens)

    @cached_property
    def labels(self) -> list[list[str]]:
        if self.flat_labels is None:
            raise LabSeqError("these sequences have no labels; read the file with a label column")
        return self._nested(self.flat_labels)

    @cached_property
    def columns(self) -> dict[str, list[list]]:
        return {name: self._nested(column) for name, column in self.flat_columns.items()}

    def _nested(self, flat: Column) -> list[list]:
        values = flat.tolist() if isinstance(flat, np.ndarray) else flat
        return [values[begin:end] for begin, end in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist())]

    def without_columns(self, names: Iterable[str]) -> Sequences:
        """The same sequences without these columns."""
        dropped = set(names)
        columns = {name: column for name, column in self.flat_columns.items() if name not in dropped}
        return Sequences(self.flat_tokens, self.offsets, self.flat_labels, columns)

    def select(self, indices: Iterable[int]) -> Sequences:
        """The sequences with these numbers, in this order."""
        chosen = np.asarray(list(indices), dtype=np.int64)
        begins, lengths = self.offsets[chosen], self.lengths[chosen]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        positions = np.arange(offsets[-1]) + np.repeat(begins - offsets[:-1], lengths)
        listed = positions.tolist()

        def take(values: list[str]) -> list[str]:
            return [values[position] for position in listed]

        columns = {
            name: column[positions] if isinstance(column, np.ndarray) else take(column)
            for name, column in self.flat_columns.items()
        }
        labels = None if self.flat_labels is None else take(self.flat_labels)
        return Sequences(take(self.flat_tokens), offsets, labels, columns)


@dataclass(frozen=True)
class Dataset:
    """A corpus with its three parts and what must be said about it."""

    name: str
    train: Sequences
    dev: Sequences
    test: Sequences
    title: str = ""
    description: str = ""
    licence: str = ""
    citation: str = ""
    task: str = "token"  # "segment": BIO labels, judged by span F1; "token": judged by accuracy

    @cached_property
    def labels(self) -> list[str]:
        """All labels of the three parts, sorted."""
        distinct = {label for part in (self.train, self.dev, self.test) for label in part.flat_labels or ()}
        return sorted(distinct)


def _flatten(name: str, nested: Iterable[Sequence], tokens: list[list[str]]) -> list:
    nested = [list(sequence) for sequence in nested]
    require(len(nested) == len(tokens), f"{name} has {len(nested)} sequences, tokens have {len(tokens)}")
    for number, (values, sequence) in enumerate(zip(nested, tokens)):
        fits = len(values) == len(sequence)
        require(fits, f"{name} of sequence {number} has {len(values)} values for {len(sequence)} tokens")
    return [value for values in nested for value in values]


def _as_column(values: list) -> Column:
    numeric = bool(values) and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
    return np.array(values, dtype=np.float64) if numeric else [str(value) for value in values]
