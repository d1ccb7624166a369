"""Linear scoring: weights, the model, and its training twins. The only place that knows how weights make scores.

node[t, s] = Σ_a x_t[a] W[a, s]      (T 2.1.1; x_t the attributes of position t)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from labseq_core.archives import LoadedArrays
from labseq_core.chain import ChainPotentials, ChainStatistics
from labseq_core.chain.constraints import Constraints
from labseq_core.chain.recursions.batch import chunk_bounds
from labseq_core.checks import require
from labseq_core.features.encoded import EncodedSequences
from labseq_core.features.transposed import transposed
from labseq_core.scoring.linear_by_type import TypeScoring
from labseq_core.scoring.model import Model, Parts, Table, nonzero_share
from labseq_core.scoring.sparse_products import collect_batch, score_batch, score_sequences
from labseq_core.scoring.training import RunningScores, TrainingScores


@dataclass(frozen=True)
class LinearWeights:
    """Views into one flat parameter vector: observation, transition and, if asked for, start and stop weights."""

    flat: np.ndarray
    node: np.ndarray  # (attributes, S)
    edge: np.ndarray  # (S, S): edge[from, to]
    start: np.ndarray  # (S,)
    stop: np.ndarray  # (S,)

    @classmethod
    def of(cls, flat: np.ndarray, n_attributes: int, n_labels: int, start_stop: bool) -> LinearWeights:
        sizes = [n_attributes * n_labels, n_labels * n_labels] + [n_labels] * (2 if start_stop else 0)
        require(flat.size == sum(sizes), f"a weight vector has {flat.size} entries, expected {sum(sizes)}")
        parts = np.split(flat, np.cumsum(sizes)[:-1])
        start, stop = parts[2:] if start_stop else (np.zeros(n_labels), np.zeros(n_labels))
        return cls(flat, parts[0].reshape(n_attributes, n_labels), parts[1].reshape(n_labels, n_labels), start, stop)

    @property
    def has_start_stop(self) -> bool:
        return self.flat.size > self.node.size + self.edge.size

    @classmethod
    def empty(cls, n_attributes: int, n_labels: int, start_stop: bool) -> LinearWeights:
        size = n_attributes * n_labels + n_labels * n_labels + (2 * n_labels if start_stop else 0)
        return cls.of(np.empty(size), n_attributes, n_labels, start_stop)

    @classmethod
    def zeros(cls, n_attributes: int, n_labels: int, start_stop: bool) -> LinearWeights:
        weights = cls.empty(n_attributes, n_labels, start_stop)
        weights.flat[:] = 0.0
        return weights

    def take_over(self, before: LinearWeights, attributes: np.ndarray, labels: np.ndarray, pairs: bool) -> None:
        """Weights of another model, with or without those of pairs of labels.

        attributes, labels: the numbers that those of this model have in the other one, or -1.
        """
        known, known_labels = np.flatnonzero(attributes >= 0), np.flatnonzero(labels >= 0)
        old = labels[known_labels]
        self.node[np.ix_(known, known_labels)] = before.node[np.ix_(attributes[known], old)]
        if pairs:
            self.edge[np.ix_(known_labels, known_labels)] = before.edge[np.ix_(old, old)]
        if self.has_start_stop:
            self.start[known_labels], self.stop[known_labels] = before.start[old], before.stop[old]

    def put(self, features: np.ndarray, values: np.ndarray, pair_factor: float) -> None:
        """Values of features, numbered as in the flat vector; a pair of labels, given or 0, takes its value times a factor."""
        self.flat[features] = values
        self.edge[:] *= pair_factor

    def forbid(self, constraints: Constraints) -> None:
        """-inf for what is forbidden: a loop that decodes by these weights needs no constraints."""
        self.start[:], self.edge[:] = constraints.apply(self.start, self.edge)


@dataclass(frozen=True)
class LinearModel(Model):
    """Explicit weights of attributes, pairs of labels and, if asked for, of first and last labels."""

    weights: LinearWeights
    constraints: Constraints | None = None
    has_pairs: bool = True  # False: looks at single tokens, the weights of pairs are 0 by construction
    eta: float = 1.0  # how much pairs of labels weigh against attributes in the norm: their weights are η δ

    used_of: ClassVar[str] = "features"

    def potentials(self, encoded: EncodedSequences) -> ChainPotentials:
        return LinearScoring(encoded, len(self.weights.edge), constraints=self.constraints).potentials(self.weights)

    def arrays(self) -> dict[str, np.ndarray]:
        return {"weights": self.weights.flat}

    @classmethod
    def restore(cls, loaded: LoadedArrays, n_attributes: int, n_labels: int, start_stop: bool = False, **more) -> Self:
        """From `arrays`; more: the other fields."""
        flat = loaded.floats("weights", None)
        return cls(LinearWeights.of(flat, n_attributes, n_labels, start_stop), **more)

    def parts(self, encoded: EncodedSequences, position: int) -> list[Parts]:
        return [Parts.of_attributes(encoded, position, self.weights.node)]

    def tables(self, attributes: Sequence[str], labels: Sequence[str]) -> list[Table]:
        weights = self.weights
        tables = [Table("attribute", attributes, weights.node), Table("transition", labels, weights.edge)]
        if weights.has_start_stop:
            tables += [Table("start", [""], weights.start[np.newaxis]), Table("stop", [""], weights.stop[np.newaxis])]
        return tables

    @property
    def norm(self) -> float:
        weights = self.weights
        pairs = float(np.sum(weights.edge**2)) / (self.eta if self.eta > 0.0 else 1.0)
        rest = float(np.sum(weights.node**2) + np.sum(weights.start**2) + np.sum(weights.stop**2))
        return float(np.sqrt(rest + pairs))

    @property
    def absolute_sum(self) -> float:
        return float(np.sum(np.abs(self.weights.flat)))

    @property
    def n_parameters(self) -> int:
        return self._learned.size

    @property
    def used_share(self) -> float:
        return nonzero_share(self._learned)

    @property
    def _learned(self) -> np.ndarray:
        """The weights without those that are 0 by construction."""
        return self.weights.flat if self.has_pairs else self.weights.node


class LinearScoring(TrainingScores[LinearWeights]):
    """The training twin of `LinearModel`. Scores of one encoded batch; arrays are made once and reused from call to call."""

    def __init__(
        self,
        encoded: EncodedSequences,
        n_labels: int,
        start_stop: bool = False,
        constraints: Constraints | None = None,
    ):
        self.encoded, self.n_labels, self.start_stop = encoded, n_labels, start_stop
        self.constraints = constraints
        self._chunks = encoded.offsets[chunk_bounds(encoded.offsets)]
        self._by_type = TypeScoring(encoded, n_labels) if TypeScoring.pays(encoded) else None

    @cached_property
    def _by_attribute(self) -> tuple[np.ndarray, ...]:
        encoded = self.encoded
        return transposed(encoded.indptr, encoded.indices, encoded.values, encoded.n_attributes)

    def entries_of(self, attribute: int) -> tuple[np.ndarray, np.ndarray | float]:
        """Positions and values of an attribute."""
        pointer, positions, values, _ = self._by_attribute
        own = slice(pointer[attribute], pointer[attribute + 1])
        return positions[own], values[own] if values.size else 1.0

    def weights(self, flat: np.ndarray | None = None) -> LinearWeights:
        """A flat vector seen as weights; zeros if none is given."""
        if flat is None:
            return LinearWeights.zeros(self.encoded.n_attributes, self.n_labels, self.start_stop)
        return LinearWeights.of(flat, self.encoded.n_attributes, self.n_labels, self.start_stop)

    def potentials(self, weights: LinearWeights) -> ChainPotentials:
        node = np.empty((self.encoded.n_positions, self.n_labels))
        encoded = self.encoded
        if self._by_type is not None:
            self._by_type.score(weights.node, self._chunks, node)
        else:
            work = encoded.indices.size * self.n_labels
            score_batch(encoded.indptr, encoded.indices, encoded.values, weights.node, self._chunks, node, work=work)
        return self._with_transitions(node, weights)

    def rescored(self, potentials: ChainPotentials, weights: LinearWeights, sequences: np.ndarray) -> ChainPotentials:
        """Potentials in the same node array, with the scores of some sequences made anew and the others left as they were."""
        encoded, node = self.encoded, potentials.node
        score_sequences(encoded.indptr, encoded.indices, encoded.values, weights.node, encoded.offsets, sequences, node)
        return self._with_transitions(node, weights)

    def _with_transitions(self, node: np.ndarray, weights: LinearWeights) -> ChainPotentials:
        start, edge, stop = weights.start.copy(), weights.edge.copy(), weights.stop.copy()
        if self.constraints is not None:
            start, edge = self.constraints.apply(start, edge)
        return ChainPotentials.trusted(start, node, edge, stop, self.encoded.offsets)

    def gradient(self, statistics: ChainStatistics) -> np.ndarray:
        return self._collected(statistics, squared=False)

    def diagonal(self, variances: ChainStatistics) -> np.ndarray:
        """The same with squared attributes: variances of the statistics -> those of the features, if positions were
        independent.
        """
        return self._collected(variances, squared=True)

    def _collected(self, statistics: ChainStatistics, squared: bool) -> np.ndarray:
        collected = LinearWeights.empty(self.encoded.n_attributes, self.n_labels, self.start_stop)
        if self._by_type is not None:  # all values are 1
            self._by_type.collect(statistics.node, collected.node)
        else:
            pointer, positions, values, chunks = self._by_attribute
            values = values * values if squared else values
            work = positions.size * self.n_labels
            collect_batch(pointer, positions, values, chunks, statistics.node, collected.node, work=work)
        collected.edge[:] = statistics.edge
        if self.start_stop:
            collected.start[:], collected.stop[:] = statistics.start, statistics.stop
        return collected.flat


class RunningWeights(RunningScores[int, float]):
    """Scores that follow single weights, numbered as in the flat vector. The node and edge arrays given are changed in place.

    entries_of: positions and values of an attribute.
    """

    def __init__(
        self,
        potentials: ChainPotentials,
        n_attributes: int,
        entries_of: Callable[[int], tuple[np.ndarray, np.ndarray | float]],
    ):
        self._potentials, self._n_attributes, self._entries_of = potentials, n_attributes, entries_of

    def potentials(self) -> ChainPotentials:
        return self._potentials

    def update(self, feature: int, step: float) -> None:
        row, label = divmod(feature, self._potentials.n_labels)
        if row < self._n_attributes:
            positions, values = self._entries_of(row)
            np.add.at(self._potentials.node, (positions, label), step * values)
        else:
            self._potentials.edge[row - self._n_attributes, label] += step
