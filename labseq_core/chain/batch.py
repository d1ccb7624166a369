"""Batches: fixed chunks of sequences, and the compiled loops over them.

Chunks depend on the data alone, and what they add up is reduced in their order, so results do not depend on threads.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from labseq_core._jit import BatchRoutine
from labseq_core.chain import max_recursions, sum_recursions
from labseq_core.chain.scores import path_score

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
            edges = slice(stride * begin, stride * end + (1 - stride))
            counts = edge_counts[begin:end] if stride else edge_counts[chunk : chunk + 1]
            log_partition[i], in_log_domain[i] = sum_recursions.posterior_sequence(
                node[begin:end], start, stop, edge[edges], stride, exp_edge[edges], exp_edge_transposed[edges],
                shift[edges], in_range[edges], marginals[begin:end], counts, stride,
                emission, scale, tentative, beta, message, work,
            )  # fmt: skip


@BatchRoutine
def covariance_batch(
    start, node, edge, stop, offsets, chunks, stride, exp_edge, exp_edge_transposed, shift, in_range,
    direction_node, direction_edge, direction_stride, node_change, edge_change,
):  # fmt: skip
    """Derivatives of the marginals along a direction; the edge marginals of one sequence at a time are kept in memory."""
    n_labels = node.shape[1]
    for chunk in prange(chunks.size - 1):
        longest = 0
        for i in range(chunks[chunk], chunks[chunk + 1]):
            longest = max(longest, offsets[i + 1] - offsets[i])
        marginals, emission, before = (
            np.empty((longest, n_labels)), np.empty((longest, n_labels)), np.empty((longest, n_labels)),
        )  # fmt: skip
        scale = np.empty(longest)
        beta, message, work = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels)
        tentative = np.zeros((1, n_labels, n_labels))
        pairs = np.empty((longest, n_labels, n_labels))
        for i in range(chunks[chunk], chunks[chunk + 1]):
            begin, end = offsets[i], offsets[i + 1]
            length = end - begin
            edges = slice(stride * begin, stride * end + (1 - stride))
            pairs[:length] = 0.0
            sum_recursions.posterior_sequence(
                node[begin:end], start, stop, edge[edges], stride, exp_edge[edges], exp_edge_transposed[edges],
                shift[edges], in_range[edges], marginals[:length], pairs[:length], 1,
                emission, scale, tentative, beta, message, work,
            )  # fmt: skip
            directions = slice(direction_stride * begin, direction_stride * end + (1 - direction_stride))
            changes = edge_change[begin:end] if direction_stride else edge_change[chunk : chunk + 1]
            sum_recursions.covariance_sequence(
                marginals[:length], pairs[:length], direction_node[begin:end], direction_edge[directions],
                direction_stride, node_change[begin:end], changes, before, beta, message,
            )  # fmt: skip


@BatchRoutine
def rest_batch(
    start, node, edge, stop, offsets, chunks, stride, labels, log_weights, normalised, log_odds, marginals, edge_counts
):  # fmt: skip
    n_labels = node.shape[1]
    for chunk in prange(chunks.size - 1):
        ahead, message, work = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels + 1)
        for i in range(chunks[chunk], chunks[chunk + 1]):
            begin, end = offsets[i], offsets[i + 1]
            edges = edge[stride * begin : stride * end + (1 - stride)]
            counts = edge_counts[begin:end] if stride else edge_counts[chunk : chunk + 1]
            log_odds[i] = sum_recursions.rest_sequence(
                node[begin:end], start, stop, edges, stride, labels[begin:end], log_weights[i], normalised,
                marginals[begin:end], counts, ahead, message, work,
            )  # fmt: skip


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
            scores[i] = max_recursions.viterbi_sequence(
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
            max_recursions.max_marginals_sequence(
                node[begin:end], start, stop, edges, stride, through[begin:end], ahead, work
            )


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
            max_recursions.k_best_sequence(
                node[begin:end], start, stop, edges, stride, k, own, scores[i], best, origin_label, origin_rank, rank
            )


@BatchRoutine
def path_score_batch(start, node, edge, stop, offsets, chunks, stride, labels, scores):
    for chunk in prange(chunks.size - 1):
        for i in range(chunks[chunk], chunks[chunk + 1]):
            begin, end = offsets[i], offsets[i + 1]
            edges = edge[stride * begin : stride * end + (1 - stride)]
            scores[i] = path_score(node[begin:end], start, stop, edges, stride, labels[begin:end])
