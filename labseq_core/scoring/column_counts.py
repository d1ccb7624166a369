"""P(observation | label) column by column: what naive Bayes and the HMM over overlapping features have in common.

The attributes "word=a", "word=b", ... are the values of one column, "word"; "word[-1]=a" belongs to another one. Given the
label, columns are independent: log P(x_t | y) = Σ_columns log P(value | y).

* A column of values ("last=n") is a multinomial over the values that training knew and *missing*: none of them is there. A
  column that training never missed is missing only where its value is new: the unknown bucket. Where training did miss it
  at times, a new value counts as missing too, because encoding drops names that the model does not know. Several values of
  one column at one position are several draws.
* A bare name ("cap_ini") is a column with one value: there or missing, and being missing counts (the multi-Bernoulli of the
  lecture slides).
* An attribute whose number varies in training ("length") is a column of its own: there or missing as above, and where it is
  there, its number has a Gaussian for each label. Zero is missing, as everywhere.
* The columns of a neighbour that the sequence does not have ("word[-1]" at the first position) are no observation: they
  are neither counted nor scored.

`smoothing` = k is added to the count of each outcome; for a Gaussian it is k observations with the mean and the variance
of all labels together, which is also all there is for a label that training never saw with the attribute.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from labseq_core.archives import LARGEST_NUMBER, LoadedArrays
from labseq_core.checks import LabSeqError, require
from labseq_core.compiling.routines import compiled
from labseq_core.data.alphabet import Alphabet
from labseq_core.features import EncodedSequences
from labseq_core.features.encoded import NO_VALUES
from labseq_core.scoring.linear import LinearModel, LinearWeights
from labseq_core.scoring.model import Parts, Table

VARIANCE_FLOOR = 1e-9  # of the variance of all labels together
FARTHEST = 1e100  # a number may lie this many times as far from the mean as any in training; its square is finite
_WINDOW_MARK = re.compile(r"\[([+-]\d{1,4})\]$")  # as templates write it: "word[-1]", "last[+2]"
_SAVED = ("value_log_prob", "missing_log_prob")
_SAVED_GAUSSIANS = ("attributes", "center", "scale", "mean", "deviation")


@dataclass(frozen=True)
class Columns:
    """Which attributes are values of the same column; columns are numbered as their first attributes come."""

    of_attribute: np.ndarray  # (attributes,)
    n_values: np.ndarray  # (columns,)
    offset: np.ndarray  # (columns,): of the neighbour whose column it is; 0: the position itself

    @classmethod
    def of(cls, names: Sequence[str], is_real: np.ndarray) -> Columns:
        numbers: dict[tuple[str, bool], int] = {}
        of_attribute = np.empty(len(names), dtype=np.int64)
        for attribute, (name, real) in enumerate(zip(names, is_real.tolist())):
            key, equals, _ = name.partition("=")
            column = (name, False) if real else (key, bool(equals))
            of_attribute[attribute] = numbers.setdefault(column, len(numbers))
        marks = [_WINDOW_MARK.search(name.partition("=")[0]) for name, _ in numbers]
        offset = np.array([int(mark[1]) if mark else 0 for mark in marks], dtype=np.int64)
        return cls(of_attribute, np.bincount(of_attribute, minlength=len(numbers)), offset)

    def __len__(self) -> int:
        return len(self.n_values)

    def extra_values(self, encoded: EncodedSequences) -> tuple[np.ndarray, np.ndarray]:
        """(position, column) of each value that stands for no missing one: further values, values of no neighbour."""
        columns = self.of_attribute[encoded.indices]
        extra = np.flatnonzero(_is_extra(encoded.indptr, columns, self.offset, encoded.offsets))
        return np.searchsorted(encoded.indptr, extra, side="right") - 1, columns[extra]

    def without_neighbour(self, encoded: EncodedSequences) -> list[tuple[np.ndarray, np.ndarray]]:
        """Pairs of (columns, positions): these positions have no neighbour where these columns look."""
        lengths = np.diff(encoded.offsets)
        place = np.arange(encoded.n_positions) - np.repeat(encoded.offsets[:-1], lengths)
        after = np.repeat(lengths, lengths) - place
        return [
            (np.flatnonzero(self.offset == offset), np.flatnonzero((place < -offset) | (after <= offset)))
            for offset in np.unique(self.offset[self.offset != 0])
        ]


@dataclass(frozen=True)
class Gaussians:
    """A normal density per real-valued attribute and label, over u = (x - center) / scale; |u| <= 1 in training."""

    attributes: np.ndarray  # (R,): their numbers in the vocabulary
    center: np.ndarray  # (R,)
    scale: np.ndarray  # (R,)
    mean: np.ndarray  # (R, S), of u
    deviation: np.ndarray  # (R, S), of u

    @classmethod
    def learn(
        cls, encoded: EncodedSequences, labels: np.ndarray, n_labels: int, is_real: np.ndarray, k: float
    ) -> Gaussians:
        attributes = np.flatnonzero(is_real)
        size, real = attributes.size, _only(encoded, attributes)
        places, x = real.indices, real.values
        with np.errstate(over="ignore", invalid="ignore"):
            count = np.bincount(places, minlength=size)
            center = np.bincount(places, x, size) / count
            scale = np.zeros(size)
            np.maximum.at(scale, places, np.abs(x - center[places]))
        _refuse_large(~np.isfinite(scale), real.vocabulary)
        u = (x - center[places]) / scale[places]
        variance_of_all = (np.bincount(places, u * u, size) / count)[:, np.newaxis]  # the mean of all is 0
        cells = places.astype(np.int64) * n_labels + labels[_entry_positions(real)]

        def per_label(values: np.ndarray | None) -> np.ndarray:
            return np.bincount(cells, values, size * n_labels).reshape(size, n_labels)

        total = per_label(None) + k
        mean = per_label(u) / total
        squares = per_label((u - mean.ravel()[cells]) ** 2)
        variance = (squares + k * (variance_of_all + mean**2)) / total
        deviation = np.sqrt(np.maximum(variance, VARIANCE_FLOOR * variance_of_all))
        return cls(attributes, center, scale, mean, deviation)

    def log_density(self, attribute: int, x: float) -> np.ndarray | float:
        """log N(x; mean, deviation²) of one attribute for each label, (S,); 0 where its number never varied in training."""
        place = int(np.searchsorted(self.attributes, attribute))
        if place == self.attributes.size or self.attributes[place] != attribute:
            return 0.0
        u = (x - self.center[place]) / self.scale[place]
        deviation = self.deviation[place]
        distance = (u - self.mean[place]) / deviation
        return -0.5 * distance**2 - np.log(deviation * np.sqrt(2 * np.pi) * self.scale[place])

    def scores(self, encoded: EncodedSequences) -> np.ndarray:
        """Σ log N(x; mean, deviation²) over the attributes that are there, (positions, S): linear in 1, u and u²."""
        real = _only(encoded, self.attributes)
        places = real.indices
        with np.errstate(over="ignore", invalid="ignore"):
            u = (real.values - self.center[places]) / self.scale[places]
        far = np.zeros(self.attributes.size, dtype=np.bool_)
        far[places[~(np.abs(u) <= FARTHEST)]] = True
        _refuse_large(far, real.vocabulary)
        precision = self.deviation**-2.0
        constant = -0.5 * precision * self.mean**2 - np.log(self.deviation * np.sqrt(2 * np.pi))
        constant -= np.log(self.scale)[:, np.newaxis]
        return (
            _linear(replace(real, values=NO_VALUES), constant)
            + _linear(replace(real, values=u), precision * self.mean)
            + _linear(replace(real, values=u * u), -0.5 * precision)
        )


@dataclass(frozen=True)
class ColumnModel:
    """The logs of all probabilities of a label's observations, and how to look them up."""

    columns: Columns
    value_log_prob: np.ndarray  # (attributes, S)
    missing_log_prob: np.ndarray  # (columns, S)
    gaussians: Gaussians

    @classmethod
    def learn(cls, encoded: EncodedSequences, labels: np.ndarray, n_labels: int, k: float) -> ColumnModel:
        """Relative frequencies with k added to each count; labels: one number per position."""
        is_real = _varies(encoded)
        columns = Columns.of(encoded.vocabulary.names, is_real)

        def counts(rows: np.ndarray, positions: np.ndarray, size: int) -> np.ndarray:
            cells = rows.astype(np.int64) * n_labels + labels[positions]
            return np.bincount(cells, minlength=size * n_labels).reshape(size, n_labels).astype(np.float64)

        entry_positions = _entry_positions(encoded)
        values = counts(encoded.indices, entry_positions, encoded.n_attributes)
        draws = counts(columns.of_attribute[encoded.indices], entry_positions, len(columns))
        positions, of_column = columns.extra_values(encoded)
        extra = counts(of_column, positions, len(columns))
        possible = np.tile(np.bincount(labels, minlength=n_labels), (len(columns), 1))
        for own, positions in columns.without_neighbour(encoded):
            possible[own] -= np.bincount(labels[positions], minlength=n_labels)
        missing = possible - (draws - extra)
        total = np.log(draws + missing + k * (columns.n_values + 1)[:, np.newaxis])
        return cls(
            columns,
            np.log(values + k) - total[columns.of_attribute],
            np.log(missing + k) - total,
            Gaussians.learn(encoded, labels, n_labels, is_real, k),
        )

    def scores(self, encoded: EncodedSequences) -> np.ndarray:
        """log P(x_t | y), (positions, S). All columns are taken as missing first; what is there then makes the difference."""
        missing = self.missing_log_prob
        node = _linear(replace(encoded, values=NO_VALUES), self.value_log_prob - missing[self.columns.of_attribute])
        node += missing.sum(axis=0)
        for own, positions in self.columns.without_neighbour(encoded):
            node[positions] -= missing[own].sum(axis=0)
        positions, of_column = self.columns.extra_values(encoded)
        np.add.at(node, positions, missing[of_column])
        if self.gaussians.attributes.size:
            node += self.gaussians.scores(encoded)
        return node

    def parts(self, encoded: EncodedSequences, position: int) -> Parts:
        """What `scores` of one position adds up: each value that is there, each column that is missing."""
        own = slice(encoded.indptr[position], encoded.indptr[position + 1])
        attributes, known = encoded.indices[own], encoded.vocabulary.names
        values = encoded.values[own] if encoded.values.size else np.ones(attributes.size)
        names = [known[attribute] for attribute in attributes.tolist()]
        scores = [
            self.value_log_prob[attribute] + self.gaussians.log_density(attribute, value)
            for attribute, value in zip(attributes.tolist(), values.tolist())
        ]
        observed = np.bincount(self.columns.of_attribute[attributes], minlength=len(self.columns))
        positions, of_column = self.columns.extra_values(encoded)
        np.subtract.at(observed, of_column[positions == position], 1)
        for columns, positions in self.columns.without_neighbour(encoded):
            observed[columns] += position in positions
        for column in np.flatnonzero(observed == 0).tolist():
            name, equals, _ = known[int(np.argmax(self.columns.of_attribute == column))].partition("=")
            names.append(f"no known {name}" if equals else f"not {name}")
            scores.append(self.missing_log_prob[column])
        return Parts("attribute", names, np.ones(len(names)), np.reshape(scores, (len(names), -1)))

    def tables(self, attributes: Sequence[str]) -> list[Table]:
        return []

    def arrays(self) -> dict[str, np.ndarray]:
        own = {name: getattr(self, name) for name in _SAVED}
        return own | {f"gaussian_{name}": getattr(self.gaussians, name) for name in _SAVED_GAUSSIANS}

    @classmethod
    def restore(cls, loaded: LoadedArrays, names: Sequence[str], n_labels: int) -> ColumnModel:
        """From `arrays` and the names of the attributes."""
        real = loaded.indices("gaussian_attributes", len(names))
        require(bool((np.diff(real) > 0).all()), "gaussian_attributes is not in order")
        gaussians = Gaussians(
            real, loaded.floats("gaussian_center", real.size), loaded.positive("gaussian_scale", real.size),
            loaded.floats("gaussian_mean", real.size, n_labels),
            loaded.positive("gaussian_deviation", real.size, n_labels, above=1.0 / LARGEST_NUMBER),
        )  # fmt: skip
        is_real = np.zeros(len(names), dtype=np.bool_)
        is_real[real] = True
        columns = Columns.of(names, is_real)
        values = loaded.floats("value_log_prob", len(names), n_labels)
        return cls(columns, values, loaded.floats("missing_log_prob", len(columns), n_labels), gaussians)


def _entry_positions(encoded: EncodedSequences) -> np.ndarray:
    return np.repeat(np.arange(encoded.n_positions), np.diff(encoded.indptr))


def _varies(encoded: EncodedSequences) -> np.ndarray:
    """Whether an attribute comes with different numbers."""
    if not encoded.values.size:
        return np.zeros(encoded.n_attributes, dtype=np.bool_)
    low, high = np.full(encoded.n_attributes, np.inf), np.full(encoded.n_attributes, -np.inf)
    np.minimum.at(low, encoded.indices, encoded.values)
    np.maximum.at(high, encoded.indices, encoded.values)
    return high > low


def _only(encoded: EncodedSequences, attributes: np.ndarray) -> EncodedSequences:
    """These attributes alone, numbered anew, with their numbers written out."""
    names = encoded.vocabulary.names
    kept = encoded.with_vocabulary(Alphabet([names[attribute] for attribute in attributes]))
    return kept if kept.values.size else replace(kept, values=np.ones(kept.indices.size))


def _linear(encoded: EncodedSequences, weights: np.ndarray) -> np.ndarray:
    n_labels = weights.shape[1]
    none = np.zeros(n_labels)
    full = LinearWeights(weights.ravel(), np.ascontiguousarray(weights), np.zeros((n_labels, n_labels)), none, none)
    return LinearModel(full).potentials(encoded).node


def _refuse_large(is_large: np.ndarray, vocabulary: Alphabet) -> None:
    if is_large.any():
        name = vocabulary.names[int(np.argmax(is_large))]
        raise LabSeqError(f"X: the numbers of attribute {name!r} are too large to compare; scale them")


@compiled
def _is_extra(indptr, columns, column_offsets, offsets):
    """For each entry whether its column looks outside the sequence, or has had a value at the same position before."""
    extra = np.zeros(columns.size, dtype=np.bool_)
    last_position = np.full(column_offsets.size, -1)
    for i in range(offsets.size - 1):
        for t in range(offsets[i], offsets[i + 1]):
            for k in range(indptr[t], indptr[t + 1]):
                column = columns[k]
                source = t + column_offsets[column]
                extra[k] = last_position[column] == t or source < offsets[i] or source >= offsets[i + 1]
                last_position[column] = t
    return extra
