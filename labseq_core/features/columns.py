"""Columns as attributes: strings as they are, real values in bins or as values."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from labseq_core.archives import names_in
from labseq_core.checks import LARGEST, LabSeqError, require
from labseq_core.data.alphabet import distinct_rows
from labseq_core.data.sequences import Column, Sequences
from labseq_core.features.word_probabilities import WORD_PROBABILITIES, count_words, log_probabilities


@dataclass
class ColumnCoder:
    """What a template learned: columns to use, which hold numbers, bin edges, counts of words and word pairs."""

    columns: tuple[str, ...]
    numeric: tuple[str, ...] = ()  # further data are read alike, whatever their own cells look like
    bin_edges: dict[str, np.ndarray] = field(default_factory=dict)  # column -> inner edges; absent: values are kept
    word_counts: dict[str, int] = field(default_factory=dict)
    pair_counts: dict[str, int] = field(default_factory=dict)  # "first\nsecond" -> count

    @classmethod
    def learn(cls, sequences: Sequences, columns: tuple[str, ...], bins: int, word_probabilities: bool) -> ColumnCoder:
        numeric = tuple(name for name in columns if isinstance(sequences.flat_columns.get(name), np.ndarray))
        coder = cls(columns, numeric)
        if word_probabilities:
            require(len(sequences) > 0, "word probabilities are learned from data; give at least one sequence")
            coder.word_counts, coder.pair_counts = count_words(sequences)
            present = {name.lower() for name in columns}
            computed = tuple(name for name in WORD_PROBABILITIES if name not in present)
            coder.columns, coder.numeric = columns + computed, numeric + computed
        if bins:
            for name in coder.columns:
                values = None if name == "token" else coder._column(sequences, name, own=True)
                if isinstance(values, np.ndarray):
                    coder.bin_edges[name] = _equal_bins(values, bins)
        return coder

    def to_dict(self) -> dict:
        edges = {name: edges.tolist() for name, edges in self.bin_edges.items()}
        return {
            "columns": list(self.columns), "numeric": list(self.numeric), "bin_edges": edges,
            "word_counts": self.word_counts, "pair_counts": self.pair_counts,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, saved: dict) -> ColumnCoder:
        """From a file that may be anybody's: everything is checked before it is used."""
        columns, numeric = names_in(saved, "columns"), names_in(saved, "numeric")
        require(set(numeric) <= set(columns), "numeric names what is no column")
        edges = {}
        for name, values in saved["bin_edges"].items():
            require(
                name in numeric and isinstance(values, list),
                f"bin_edges of {name!r} are no list for a column of numbers",
            )
            edges[name] = np.array(values, dtype=np.float64)
            rising = edges[name].ndim == 1 and bool(
                np.isfinite(edges[name]).all() and (np.diff(edges[name]) > 0.0).all()
            )
            require(rising, f"bin_edges of {name!r} do not rise")
        return cls(
            tuple(columns), tuple(numeric), edges, _counts_in(saved, "word_counts"), _counts_in(saved, "pair_counts")
        )

    def parts(self, sequences: Sequences, numbers: dict[str, int], own: bool = False) -> list[tuple]:
        """For each column: a row per position, (indptr, indices) of the rows' attributes, a value per position or None.

        own: these are the sequences that were learned from.
        """
        names = [name for name in self.columns if name != "token"]
        return [self._part(name, self._column(sequences, name, own), numbers) for name in names]

    def _part(self, name: str, column: Column, numbers: dict[str, int]) -> tuple:
        if isinstance(column, np.ndarray):
            given = np.isfinite(column)
            if name not in self.bin_edges:
                # Row 0 has no attribute: a missing value, and a value of exactly zero.
                rows = (given & (column != 0.0)).astype(np.int64)
                attribute = numbers.setdefault(name, len(numbers))
                return rows, (np.array([0, 0, 1]), np.array([attribute])), np.where(given, column, 0.0)
            edges = self.bin_edges[name]
            rows = np.where(given, np.searchsorted(edges, column, side="right"), edges.size + 1)
            width = len(str(edges.size))
            names = [f"{name}=bin{number:0{width}d}" for number in range(edges.size + 1)]
            indices = np.array([numbers.setdefault(shown, len(numbers)) for shown in names], dtype=np.int64)
            indptr = np.append(np.arange(edges.size + 2), edges.size + 1)
            return rows, (indptr, indices), None
        distinct, rows = distinct_rows(column)
        indices = [numbers.setdefault(f"{name}={value}", len(numbers)) for value in distinct]
        return rows, (np.arange(len(distinct) + 1), np.array(indices, dtype=np.int64)), None

    def _column(self, sequences: Sequences, name: str, own: bool) -> Column:
        if name in sequences.flat_columns:
            return _bounded(name, self._as_learned(name, sequences.flat_columns[name]))
        if name in WORD_PROBABILITIES and self.word_counts:
            return log_probabilities(name, self.word_counts, self.pair_counts, sequences, own)
        have = ", ".join(sequences.flat_columns) or "none"
        raise LabSeqError(f"the data have no column {name!r}; columns there: {have}")

    def _as_learned(self, name: str, column: Column) -> Column:
        """Readers see numbers where all cells of one file are numbers: a small file may differ from the training data."""
        is_numeric = isinstance(column, np.ndarray)
        if is_numeric == (name in self.numeric):
            return column
        if is_numeric:
            return [_as_text(value) for value in column.tolist()]
        odd = next((cell for cell in column if not _is_number(cell)), column[0])
        raise LabSeqError(
            f"column {name!r} held numbers when the features were learned and holds the text {odd!r} here; "
            "give numbers, or leave missing ones empty"
        )


def _counts_in(saved: dict, key: str) -> dict[str, int]:
    whole = all(type(count) is int and 0 < count < 2**53 for count in saved[key].values())
    require(whole, f"{key} has what is no whole number above 0")
    return saved[key]


def _bounded(name: str, column: Column) -> Column:
    """Numbers, of which those that are not finite are not given, or strings."""
    if isinstance(column, np.ndarray) and (beyond := (np.abs(column) > LARGEST) & np.isfinite(column)).any():
        at = f"token {int(beyond.argmax())} of the data, counted from 0"
        raise LabSeqError(
            f"the column {name!r} has the number {column[beyond][0]:g} ({at}); "
            f"scale it to between {-LARGEST:g} and {LARGEST:g}, or leave the column out"
        )
    return column


def _equal_bins(values: np.ndarray, bins: int) -> np.ndarray:
    """Inner edges that put about equally many of the given values into each bin."""
    given = values[np.isfinite(values)]
    require(given.size > 0, "a real-valued column has no values at all; leave it out of the features")
    return np.unique(np.quantile(given, np.arange(1, bins) / bins))


def _is_number(cell: str) -> bool:
    try:
        return bool(np.isfinite(float(cell)))
    except ValueError:
        return False


def _as_text(value: float) -> str:
    """A number as a cell would spell it."""
    if np.isnan(value):
        return ""
    return str(int(value)) if value.is_integer() else repr(value)
