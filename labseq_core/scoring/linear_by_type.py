"""Linear scores through types: what a type brings to each place of the window is added up once, then gathered per position.

table[w, o] = Σ_{a of type w at place o} W[a],      node[t] = Σ_o table[type(t + o - h), o],      h = window // 2

and the gradient the same way back. A corpus has far fewer types than positions, and a position has few places.
"""

from __future__ import annotations

import numpy as np

from labseq_core.compiling.routines import BatchRoutine, compiled
from labseq_core.features.encoded import NO_VALUES, EncodedSequences
from labseq_core.features.transposed import even_chunks, transposed
from labseq_core.scoring.sparse_products import collect_batch, score_batch


class TypeScoring:
    """Scores and gradients of one encoded batch that has types; arrays are made once and reused from call to call."""

    @staticmethod
    def pays(encoded: EncodedSequences) -> bool:
        """Whether this way takes clearly fewer additions than attribute by attribute."""
        types = encoded.types
        return types is not None and types.indices.size + types.rows.size * types.window < 0.7 * encoded.indices.size

    def __init__(self, encoded: EncodedSequences, n_labels: int):
        types = encoded.types
        self.types, self.n_attributes = types, encoded.n_attributes
        self.table = np.empty((types.indptr.size - 1, n_labels))
        self._table_chunks = even_chunks(types.indptr)
        self._by_attribute: tuple[np.ndarray, ...] | None = None  # the rows of the table that an attribute is in

    def score(self, weights: np.ndarray, chunks: np.ndarray, node: np.ndarray) -> None:
        """node[t] = Σ_a x_t[a] weights[a]; chunks: bounds of positions."""
        types, n_labels = self.types, node.shape[1]
        work = types.indices.size * n_labels
        score_batch(types.indptr, types.indices, NO_VALUES, weights, self._table_chunks, self.table, work=work)
        work = 2 * types.rows.size * types.window * n_labels  # as slow as memory is
        gather_window(types.rows, types.before, types.after, types.window, chunks, self.table, node, work=work)

    def collect(self, node_statistics: np.ndarray, gradient: np.ndarray) -> None:
        """gradient[a] = Σ_t x_t[a] node_statistics[t]."""
        types = self.types
        if self._by_attribute is None:
            self._by_attribute = transposed(types.indptr, types.indices, NO_VALUES, self.n_attributes)
        scatter_window(types.rows, types.before, types.after, types.window, node_statistics, self.table)
        collect_batch(*self._by_attribute, self.table, gradient, work=types.indices.size * gradient.shape[1])


@BatchRoutine
def gather_window(first_chunk, end_chunk, rows, before, after, window, chunks, table, node):
    """node[t] = Σ_o table[rows[t + o - h] * window + o] over the places o that lie in the sequence."""
    n_labels, half = node.shape[1], window // 2
    for chunk in range(first_chunk, end_chunk):
        for t in range(chunks[chunk], chunks[chunk + 1]):
            for s in range(n_labels):
                node[t, s] = 0.0
            for source in range(t - before[t], t + after[t] + 1):
                row = rows[source] * window + (source - t + half)
                for s in range(n_labels):
                    node[t, s] += table[row, s]


@compiled
def scatter_window(rows, before, after, window, node_statistics, table):
    """The transpose: table[rows[source] * window + o] += node_statistics[t], t the position that has the source at place o.

    On one thread: frequent types stay in the cache, which made this twice as fast as gathering for each type on two.
    """
    n_labels, half = table.shape[1], window // 2
    table[:] = 0.0
    for source in range(rows.size):
        for t in range(source - before[source], source + after[source] + 1):
            row = rows[source] * window + (source - t + half)
            for s in range(n_labels):
                table[row, s] += node_statistics[t, s]
