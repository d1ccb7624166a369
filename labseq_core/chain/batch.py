"""Batches: fixed chunks of sequences, and the compiled loops over them.

Chunks depend on the data alone, and what they add up is reduced in their order, so results do not depend on threads.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from labseq_core._jit import BatchRoutine
from labseq_core.chain import recursions as one

MAX_CHUNKS = 32


def chunk_bounds(offsets: np.ndarray) -> np.ndarray:
    """Bounds of at most MAX_CHUNKS runs of sequences with about equally many positions each."""
    n_sequences = len(offsets) - 1
    targets = np.linspace(0, offsets[-1], min(MAX_CHUNKS, n_sequences) + 1)
    bounds = np.searchsorted(offsets, targets, side="left")
    bounds[0], bounds[-1] = 0, n_sequences
    return np.unique(bounds)


@BatchRoutine
def forward_backward_batch(
    start, node, edge, stop, offsets, chunks, stride, exp_edge, exp_edge_transposed, shift, in_range,
    log_partition, marginals, edge_counts, in_log_domain,
):  # fmt: skip
    """Per sequence: scaled recursion if it stays in range, else log domain. edge_counts: one matrix per chunk or position."""
    n_labels = node.shape[1]
    for chunk in prange(chunks.size - 1):
        longest = 0
        for i in range(chunks[chunk], chunks[chunk + 1]):
            longest = max(longest, offsets[i + 1] - offsets[i])
        emission = np.empty((longest, n_labels))
        scale = np.empty(longest)
        beta, message, work = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels)
        tentative = np.zeros((1, n_labels, n_labels))
        for i in range(chunks[chunk], chunks[chunk + 1]):
            begin, end = offsets[i], offsets[i + 1]
            edges_from = stride * begin
            edges_to = stride * end + (1 - stride)
            counts_from = begin if stride else chunk
            counts = edge_counts[counts_from : counts_from + edges_to - edges_from]
            alpha = marginals[begin:end]
            length = end - begin
            log_z = one.scaled_forward(
                node[begin:end], start, stop, exp_edge[edges_from:edges_to], shift[edges_from:edges_to],
                in_range[edges_from:edges_to], stride, alpha, emission[:length], scale[:length],
            )  # fmt: skip
            done = log_z == log_z
            if done:
                target = counts if stride else tentative
                done = one.scaled_backward(
                    exp_edge[edges_from:edges_to], exp_edge_transposed[edges_from:edges_to], stride, alpha,
                    emission[:length], scale[:length], target, beta, message,
                )  # fmt: skip
                if done and not stride:
                    counts += tentative
                if not done and stride:
                    counts[:] = 0.0
                tentative[:] = 0.0
            if not done:
                log_z = one.log_forward_backward(
                    node[begin:end], start, stop, edge[edges_from:edges_to], stride, alpha, scale[:length],
                    counts, beta, message, work,
                )  # fmt: skip
            log_partition[i] = log_z
            in_log_domain[i] = not done


@BatchRoutine
def viterbi_batch(start, node, edge, stop, offsets, chunks, stride, labels, scores):
    n_labels = node.shape[1]
    for chunk in prange(chunks.size - 1):
        longest = 0
        for i in range(chunks[chunk], chunks[chunk + 1]):
            longest = max(longest, offsets[i + 1] - offsets[i])
        origin = np.zeros((longest, n_labels), dtype=np.int32)
        best, candidate = np.empty(n_labels), np.empty(n_labels)
        for i in range(chunks[chunk], chunks[chunk + 1]):
            begin, end = offsets[i], offsets[i + 1]
            edges = edge[stride * begin : stride * end + (1 - stride)]
            scores[i] = one.viterbi_sequence(
                node[begin:end], start, stop, edges, stride, labels[begin:end], origin, best, candidate
            )


@BatchRoutine
def max_marginals_batch(start, node, edge, stop, offsets, chunks, stride, through):
    n_labels = node.shape[1]
    for chunk in prange(chunks.size - 1):
        ahead, work = np.empty(n_labels), np.empty(n_labels)
        for i in range(chunks[chunk], chunks[chunk + 1]):
            begin, end = offsets[i], offsets[i + 1]
            edges = edge[stride * begin : stride * end + (1 - stride)]
            one.max_marginals_sequence(node[begin:end], start, stop, edges, stride, through[begin:end], ahead, work)


@BatchRoutine
def k_best_batch(start, node, edge, stop, offsets, chunks, stride, k, labels, scores):
    """labels: (k * positions,), sequence i owning k runs of its length from k * offsets[i]; scores: (sequences, k)."""
    n_labels = node.shape[1]
    for chunk in prange(chunks.size - 1):
        longest = 0
        for i in range(chunks[chunk], chunks[chunk + 1]):
            longest = max(longest, offsets[i + 1] - offsets[i])
        best = np.empty((longest, n_labels, k))
        origin_label = np.empty((longest, n_labels, k), dtype=np.int32)
        origin_rank = np.empty((longest, n_labels, k), dtype=np.int32)
        rank = np.empty(n_labels, dtype=np.int64)
        for i in range(chunks[chunk], chunks[chunk + 1]):
            begin, end = offsets[i], offsets[i + 1]
            edges = edge[stride * begin : stride * end + (1 - stride)]
            own = labels[k * begin : k * end].reshape((k, end - begin))
            one.k_best_sequence(
                node[begin:end], start, stop, edges, stride, k, own, scores[i], best, origin_label, origin_rank, rank
            )


@BatchRoutine
def path_score_batch(start, node, edge, stop, offsets, chunks, stride, labels, scores):
    for chunk in prange(chunks.size - 1):
        for i in range(chunks[chunk], chunks[chunk + 1]):
            begin, end = offsets[i], offsets[i + 1]
            edges = edge[stride * begin : stride * end + (1 - stride)]
            scores[i] = one.path_score(node[begin:end], start, stop, edges, stride, labels[begin:end])
