"""Linear scoring: weights -> potentials, and statistics -> gradient. The only place that knows how weights make scores.

node[t, s] = Σ_a x_t[a] W[a, s]      (T 2.1.1; x_t the attributes of position t)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import prange

from labseq_core._checks import require
from labseq_core._jit import BatchRoutine, compiled
from labseq_core.chain import ChainPotentials, ChainStatistics
from labseq_core.chain.batch import chunk_bounds
from labseq_core.chain.constraints import Constraints
from labseq_core.features.encoded import EncodedSequences


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

    @classmethod
    def zeros(cls, n_attributes: int, n_labels: int, start_stop: bool) -> LinearWeights:
        size = n_attributes * n_labels + n_labels * n_labels + (2 * n_labels if start_stop else 0)
        return cls.of(np.zeros(size), n_attributes, n_labels, start_stop)


class LinearScoring:
    """Scores of one encoded batch; arrays are made once and reused from call to call."""

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
        self._by_attribute: tuple[np.ndarray, ...] | None = None

    def weights(self, flat: np.ndarray | None = None) -> LinearWeights:
        """A flat vector seen as weights; zeros if none is given."""
        if flat is None:
            return LinearWeights.zeros(self.encoded.n_attributes, self.n_labels, self.start_stop)
        return LinearWeights.of(flat, self.encoded.n_attributes, self.n_labels, self.start_stop)

    def potentials(self, weights: LinearWeights) -> ChainPotentials:
        node = np.empty((self.encoded.n_positions, self.n_labels))
        encoded = self.encoded
        work = encoded.indices.size * self.n_labels
        score_batch(encoded.indptr, encoded.indices, encoded.values, weights.node, self._chunks, node, work=work)
        start, edge = weights.start, weights.edge
        if self.constraints is not None:
            start, edge = self.constraints.apply(start, edge)
        return ChainPotentials.trusted(start, node, edge, weights.stop, encoded.offsets)

    def gradient(self, statistics: ChainStatistics) -> np.ndarray:
        """The chain rule: derivatives with respect to potentials -> derivatives with respect to the flat weights."""
        if self._by_attribute is None:
            self._by_attribute = _transpose(self.encoded)
        gradient = self.weights()
        work = self.encoded.indices.size * self.n_labels
        collect_batch(*self._by_attribute, statistics.node, gradient.node, work=work)
        gradient.edge[:] = statistics.edge
        if self.start_stop:
            gradient.start[:], gradient.stop[:] = statistics.start, statistics.stop
        return gradient.flat


@compiled
def score_positions(indptr, indices, values, weights, begin, end, node):
    """node[t] = x_t W for positions begin .. end - 1, written from row 0 on; `values` empty: all are 1."""
    n_labels = weights.shape[1]
    for t in range(begin, end):
        row = t - begin
        for s in range(n_labels):
            node[row, s] = 0.0
        for k in range(indptr[t], indptr[t + 1]):
            a = indices[k]
            if values.size:
                for s in range(n_labels):
                    node[row, s] += values[k] * weights[a, s]
            else:
                for s in range(n_labels):
                    node[row, s] += weights[a, s]


@BatchRoutine
def score_batch(indptr, indices, values, weights, chunks, node):
    for chunk in prange(chunks.size - 1):
        begin, end = chunks[chunk], chunks[chunk + 1]
        score_positions(indptr, indices, values, weights, begin, end, node[begin:end])


@BatchRoutine
def collect_batch(pointer, positions, values, chunks, node_statistics, gradient):
    """gradient[a] = Σ_t x_t[a] node_statistics[t], attribute by attribute: each sum is made in one place, in one order."""
    n_labels = gradient.shape[1]
    for chunk in prange(chunks.size - 1):
        for a in range(chunks[chunk], chunks[chunk + 1]):
            for s in range(n_labels):
                gradient[a, s] = 0.0
            for k in range(pointer[a], pointer[a + 1]):
                t = positions[k]
                if values.size:
                    for s in range(n_labels):
                        gradient[a, s] += values[k] * node_statistics[t, s]
                else:
                    for s in range(n_labels):
                        gradient[a, s] += node_statistics[t, s]


def _transpose(encoded: EncodedSequences) -> tuple[np.ndarray, ...]:
    """By attribute: pointer, positions, values, and chunks of attributes with about equally many entries."""
    pointer = np.zeros(encoded.n_attributes + 1, dtype=np.int64)
    np.cumsum(np.bincount(encoded.indices, minlength=encoded.n_attributes), out=pointer[1:])
    positions = np.empty(encoded.indices.size, dtype=np.int32)
    values = np.empty(encoded.values.size)
    _fill_transpose(encoded.indptr, encoded.indices, encoded.values, pointer[:-1].copy(), positions, values)
    # An attribute costs its entries and one row of the gradient.
    cost = pointer + np.arange(pointer.size)
    chunks = np.unique(np.searchsorted(cost, np.linspace(0, cost[-1], 65)))
    chunks[0], chunks[-1] = 0, encoded.n_attributes
    return pointer, positions, values, chunks


@compiled
def _fill_transpose(indptr, indices, values, place, positions, transposed_values):
    for t in range(indptr.size - 1):
        for k in range(indptr[t], indptr[t + 1]):
            a = indices[k]
            positions[place[a]] = t
            if values.size:
                transposed_values[place[a]] = values[k]
            place[a] += 1
