"""Products of a sparse matrix of attributes with dense rows, and of its transpose."""

from __future__ import annotations

from labseq_core.compiling.routines import BatchRoutine, compiled


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


@compiled
def score_sequences(indptr, indices, values, weights, offsets, sequences, node):
    """The same for all positions of some sequences, written to their own rows."""
    for i in sequences:
        begin, end = offsets[i], offsets[i + 1]
        score_positions(indptr, indices, values, weights, begin, end, node[begin:end])


@BatchRoutine
def score_batch(first_chunk, end_chunk, indptr, indices, values, weights, chunks, node):
    for chunk in range(first_chunk, end_chunk):
        begin, end = chunks[chunk], chunks[chunk + 1]
        score_positions(indptr, indices, values, weights, begin, end, node[begin:end])


@BatchRoutine
def collect_batch(first_chunk, end_chunk, pointer, positions, values, chunks, node_statistics, gradient):
    """gradient[a] = Σ_t x_t[a] node_statistics[t], attribute by attribute: each sum is made in one place, in one order."""
    n_labels = gradient.shape[1]
    for chunk in range(first_chunk, end_chunk):
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
