"""Batches: fixed chunks of sequences, and the compiled loops over them.

Chunks depend on the data alone, and what they add up is reduced in their order, so results do not depend on threads.
"""

from __future__ import annotations

import numpy as np

from labseq_core.chain.recursions import k_best, lockstep, maxima, sums
from labseq_core.chain.recursions.scores import path_score
from labseq_core.compiling.routines import BatchRoutine, compiled

MAX_CHUNKS = 32
CHUNK_POSITIONS = 2000
FEWEST_LANES = 6  # fewer sequences are faster one by one


def chunk_bounds(offsets: np.ndarray) -> np.ndarray:
    """Bounds of at most MAX_CHUNKS runs of sequences with about equally many positions each.

    A chunk has enough sequences to fill all lanes, unless they are long.
    """
    n_sequences, n_positions = len(offsets) - 1, int(offsets[-1])
    wanted = max(-(-n_sequences // lockstep.LANES), -(-n_positions // CHUNK_POSITIONS))
    targets = np.linspace(0, n_positions, min(MAX_CHUNKS, n_sequences, wanted) + 1)
    bounds = np.searchsorted(offsets, targets, side="left")
    bounds[0], bounds[-1] = 0, n_sequences
    return np.unique(bounds)


def longest_first(offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of chunks of about equally many positions, and all sequences, the longest first: neighbours are alike."""
    lengths = np.diff(offsets)
    order = np.argsort(-lengths, kind="stable")
    bounds = chunk_bounds(np.concatenate([[0], np.cumsum(lengths[order])]))
    full = np.round(bounds / lockstep.LANES).astype(np.int64) * lockstep.LANES  # groups without idle lanes
    full[-1] = bounds[-1]
    return np.unique(np.minimum(full, bounds[-1])), order


@compiled
def length_of(i, offsets):
    return offsets[i + 1] - offsets[i]


@compiled
def longest_among(sequences, begin, end, offsets):
    """The length of the longest of sequences[begin:end]."""
    longest = 0
    for place in range(begin, end):
        longest = max(longest, length_of(sequences[place], offsets))
    return longest


@compiled
def longest_of(first, end, offsets):
    """The length of the longest of some sequences that follow each other."""
    longest = 0
    for i in range(first, end):
        longest = max(longest, length_of(i, offsets))
    return longest


@BatchRoutine
def forward_backward_batch(
    first_chunk, end_chunk, start, node, edge, stop, offsets, sequences, chunks, stride, exp_edge, exp_edge_transposed,
    shift, in_range, log_partition, marginals, edge_counts, in_log_domain,
):  # fmt: skip
    """Per sequence: scaled recursion if it stays in range, else log domain. edge_counts: one matrix per chunk or position.

    chunks: runs of `sequences`.
    """
    n_labels = node.shape[1]
    for chunk in range(first_chunk, end_chunk):
        longest = longest_among(sequences, chunks[chunk], chunks[chunk + 1], offsets)
        emission, scale = np.empty((longest, n_labels)), np.empty(longest)
        beta, message, work = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels)
        tentative = np.empty((1, n_labels, n_labels))
        tentative[:] = 0.0
        for place in range(chunks[chunk], chunks[chunk + 1]):
            i = sequences[place]
            begin, end = offsets[i], offsets[i + 1]
            first, last = stride * begin, stride * end + (1 - stride)
            own, after = (begin, end) if stride else (chunk, chunk + 1)
            log_partition[i], in_log_domain[i] = sums.posterior_sequence(
                node[begin:end], start, stop, edge[first:last], stride, exp_edge[first:last],
                exp_edge_transposed[first:last], shift[first:last], in_range[first:last], marginals[begin:end],
                edge_counts[own:after], stride, emission, scale, tentative, beta, message, work,
            )  # fmt: skip


@BatchRoutine
def lockstep_batch(
    first_chunk, end_chunk, start, node, stop, offsets, by_length, chunks, exp_edge, exp_edge_transposed, shift, in_range,
    log_partition, marginals, edge_counts, is_left,
):  # fmt: skip
    """The same for one edge matrix, several sequences at a time; by_length: all, longest first; chunks: runs of them.

    is_left: those that are done one by one: far longer than their neighbours, too few for a group, or out of range.
    """
    n_labels = node.shape[1]
    watched = lockstep.has_far_edges(exp_edge[0])
    deepest_allowed = sums.LOG_FLOOR if watched else lockstep.LOG_EASY_EMISSION
    lanes = lockstep.LANES
    for chunk in range(first_chunk, end_chunk):
        group, end = chunks[chunk], chunks[chunk + 1]
        # All lanes go on to the end of the longest: one that is far longer than its neighbours goes alone.
        while end - group >= FEWEST_LANES and (
            length_of(by_length[group], offsets) > 2 * length_of(by_length[group + FEWEST_LANES - 1], offsets)
        ):
            group += 1
        if end - group < FEWEST_LANES:
            continue
        longest = length_of(by_length[group], offsets)
        room = lockstep.row_length(longest)
        alpha, emission = np.empty((n_labels, room)), np.empty((n_labels, room))
        inverse, beta, total = np.empty((longest, lanes)), np.empty((n_labels, lanes)), np.empty((n_labels, n_labels))
        total[:] = 0.0
        log_z, lowest, highest, deepest = np.empty(lanes), np.empty(lanes), np.empty(lanes), np.empty(lanes)
        largest, whole = np.empty(lanes), np.empty(lanes)
        bad, members = np.empty(lanes, dtype=np.bool_), np.empty(lanes, dtype=np.int64)
        while end - group >= FEWEST_LANES:
            for lane in range(lanes):
                members[lane] = by_length[group + lane] if group + lane < end else -1
                log_z[lane], lowest[lane], highest[lane], deepest[lane] = 0.0, 1.0, 1.0, 0.0
                bad[lane] = not in_range[0]
            length = length_of(members[0], offsets)
            lockstep.lockstep_forward(
                node, start, stop, offsets, members, length, exp_edge_transposed[0], shift[0], watched,
                alpha, emission, inverse, lowest, deepest, largest, whole, whole.view(np.int64), log_z, bad,
            )  # fmt: skip
            lockstep.lockstep_backward(
                offsets,
                members,
                length,
                exp_edge[0],
                watched,
                alpha,
                emission,
                inverse,
                beta,
                lowest,
                highest,
                marginals,
            )
            for lane in range(lanes):
                i = members[lane]
                if i < 0:
                    continue
                in_reach = lowest[lane] >= sums.FLOOR and highest[lane] <= 1.0 / sums.FLOOR
                if in_reach and not bad[lane] and deepest[lane] >= deepest_allowed:
                    log_partition[i], is_left[i] = log_z[lane], False
                    continue
                for s in range(n_labels):  # the lane has no part in the counts of transitions
                    for t in range(length):
                        alpha[s, t * lanes + lane] = 0.0
                        emission[s, t * lanes + lane] = 0.0
            lockstep.add_inner_products(alpha, emission, (length - 1) * lanes, total)
            group += lanes
        for r in range(n_labels):
            for s in range(n_labels):
                edge_counts[chunk, r, s] = total[r, s] * exp_edge[0, r, s]


@BatchRoutine
def covariance_batch(
    first_chunk, end_chunk,
    start, node, edge, stop, offsets, chunks, stride, exp_edge, exp_edge_transposed, shift, in_range,
    direction_node, direction_edge, direction_stride, node_change, edge_change,
):  # fmt: skip
    """Derivatives of the marginals along a direction; the edge marginals of one sequence at a time are kept in memory."""
    n_labels = node.shape[1]
    for chunk in range(first_chunk, end_chunk):
        longest = longest_of(chunks[chunk], chunks[chunk + 1], offsets)
        marginals, emission, before = (
            np.empty((longest, n_labels)), np.empty((longest, n_labels)), np.empty((longest, n_labels)),
        )  # fmt: skip
        scale = np.empty(longest)
        beta, message, work = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels)
        tentative = np.empty((1, n_labels, n_labels))
        tentative[:] = 0.0
        pairs = np.empty((longest, n_labels, n_labels))
        for i in range(chunks[chunk], chunks[chunk + 1]):
            begin, end = offsets[i], offsets[i + 1]
            length = end - begin
            first, last = stride * begin, stride * end + (1 - stride)
            pairs[:length] = 0.0
            sums.posterior_sequence(
                node[begin:end], start, stop, edge[first:last], stride, exp_edge[first:last],
                exp_edge_transposed[first:last], shift[first:last], in_range[first:last], marginals[:length],
                pairs[:length], 1, emission, scale, tentative, beta, message, work,
            )  # fmt: skip
            first, last = direction_stride * begin, direction_stride * end + (1 - direction_stride)
            own, after = (begin, end) if direction_stride else (chunk, chunk + 1)
            sums.covariance_sequence(
                marginals[:length], pairs[:length], direction_node[begin:end], direction_edge[first:last],
                direction_stride, node_change[begin:end], edge_change[own:after], before, beta, message,
            )  # fmt: skip


@BatchRoutine
def rest_batch(
    first_chunk, end_chunk,
    start, node, edge, stop, offsets, chunks, stride, labels, log_weights, normalised, log_odds, marginals, edge_counts
):  # fmt: skip
    n_labels = node.shape[1]
    for chunk in range(first_chunk, end_chunk):
        ahead, message, work = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels + 1)
        for i in range(chunks[chunk], chunks[chunk + 1]):
            begin, end = offsets[i], offsets[i + 1]
            edges = edge[stride * begin : stride * end + (1 - stride)]
            counts = edge_counts[begin:end] if stride else edge_counts[chunk : chunk + 1]
            log_odds[i] = sums.rest_sequence(
                node[begin:end], start, stop, edges, stride, labels[begin:end], log_weights[i], normalised,
                marginals[begin:end], counts, ahead, message, work,
            )  # fmt: skip


@BatchRoutine
def viterbi_batch(first_chunk, end_chunk, start, node, edge, stop, offsets, chunks, stride, labels, scores):
    n_labels = node.shape[1]
    for chunk in range(first_chunk, end_chunk):
        longest = longest_of(chunks[chunk], chunks[chunk + 1], offsets)
        origin = np.empty((longest, n_labels), dtype=np.int32)
        best, candidate = np.empty(n_labels), np.empty(n_labels)
        for i in range(chunks[chunk], chunks[chunk + 1]):
            begin, end = offsets[i], offsets[i + 1]
            edges = edge[stride * begin : stride * end + (1 - stride)]
            scores[i] = maxima.viterbi_sequence(
                node[begin:end], start, stop, edges, stride, labels[begin:end], origin, best, candidate
            )


@BatchRoutine
def max_marginals_batch(first_chunk, end_chunk, start, node, edge, stop, offsets, chunks, stride, through):
    n_labels = node.shape[1]
    for chunk in range(first_chunk, end_chunk):
        ahead, work = np.empty(n_labels), np.empty(n_labels)
        for i in range(chunks[chunk], chunks[chunk + 1]):
            begin, end = offsets[i], offsets[i + 1]
            edges = edge[stride * begin : stride * end + (1 - stride)]
            maxima.max_marginals_sequence(node[begin:end], start, stop, edges, stride, through[begin:end], ahead, work)


@BatchRoutine
def k_best_batch(first_chunk, end_chunk, start, node, edge, stop, offsets, chunks, stride, k, labels, scores):
    """labels: (k * positions,), sequence i owning k runs of its length from k * offsets[i]; scores: (sequences, k)."""
    n_labels = node.shape[1]
    for chunk in range(first_chunk, end_chunk):
        longest = longest_of(chunks[chunk], chunks[chunk + 1], offsets)
        best = np.empty((longest, n_labels, k))
        origin_label = np.empty((longest, n_labels, k), dtype=np.int32)
        origin_rank = np.empty((longest, n_labels, k), dtype=np.int32)
        rank = np.empty(n_labels, dtype=np.int64)
        for i in range(chunks[chunk], chunks[chunk + 1]):
            begin, end = offsets[i], offsets[i + 1]
            edges = edge[stride * begin : stride * end + (1 - stride)]
            own = labels[k * begin : k * end].reshape((k, end - begin))
            k_best.k_best_sequence(
                node[begin:end], start, stop, edges, stride, k, own, scores[i], best, origin_label, origin_rank, rank
            )


@BatchRoutine
def path_score_batch(first_chunk, end_chunk, start, node, edge, stop, offsets, chunks, stride, labels, scores):
    for chunk in range(first_chunk, end_chunk):
        for i in range(chunks[chunk], chunks[chunk + 1]):
            begin, end = offsets[i], offsets[i + 1]
            edges = edge[stride * begin : stride * end + (1 - stride)]
            scores[i] = path_score(node[begin:end], start, stop, edges, stride, labels[begin:end])
