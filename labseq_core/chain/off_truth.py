"""How far some sequences of a batch are from their true labels, without subtracting nearly equal numbers.

Near-certain sequences have p(y_t = truth) = 1 - tiny. All that is wanted here is made of sums of positive terms: marginals
of wrong labels, and 1 - p(y*) as the sum over positions of what leaves the truth there for the first time,

    1 - p(y*) = Σ_t p(y_1 = y*_1, .., y_{t-1} = y*_{t-1}, y_t ≠ y*_t)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from labseq_core.chain.inference import exponentiated_edges
from labseq_core.chain.potentials import ChainPotentials
from labseq_core.chain.recursions import lockstep, sums
from labseq_core.chain.recursions.batch import chunk_bounds, length_of, longest_among
from labseq_core.compiling.routines import BatchRoutine, compiled, compiled_lanes

CHUNKS = 32
TINY = 1e-200
FEWEST_LANES = 4  # fewer sequences are faster one by one


class OffTruth(NamedTuple):
    """What is filled in, for all sequences of a batch."""

    rows: np.ndarray  # (positions, labels): marginals of wrong labels, minus their sum at the true one
    edge_rows: np.ndarray  # (sequences, labels * labels): the same of transitions
    rest: np.ndarray  # (sequences,): 1 - p(y*)
    log_probability: np.ndarray  # (sequences,): log p(y*)
    in_log_domain: np.ndarray  # (sequences,) bool: scores out of the range of the scaled recursion


@compiled
def group_bounds(sequences, offsets):
    """Runs of `sequences` (longest first) that go through the recursion side by side: at most LANES, of similar lengths."""
    bounds = np.empty(sequences.size + 1, dtype=np.int64)
    bounds[0] = 0
    groups, first = 0, 0
    for place in range(1, sequences.size + 1):
        if place < sequences.size:
            longest = offsets[sequences[first] + 1] - offsets[sequences[first]]
            here = offsets[sequences[place] + 1] - offsets[sequences[place]]
            if place - first < lockstep.LANES and 2 * here >= longest:
                continue
        groups += 1
        bounds[groups] = place
        first = place
    return bounds[: groups + 1]


def chunks_of_groups(groups: np.ndarray, sequences: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Runs of groups with about equally many positions each."""
    firsts = sequences[groups[:-1]]
    work = np.append(0, np.cumsum((offsets[firsts + 1] - offsets[firsts]) * np.diff(groups)))
    n_chunks = min(CHUNKS, firsts.size)
    chunks = np.searchsorted(work, work[-1] * np.arange(n_chunks + 1) / max(1, n_chunks))
    chunks[n_chunks] = firsts.size
    return chunks


@compiled
def truth_prefixes(labels, offsets, members, longest, exp_edge, emission, inverse, prefix, kept, log_p):
    """prefix[t, lane]: weight of the truth up to t, scaled as α_t is; at the end it is p(y*), whose logarithm is log_p."""
    kept[:], log_p[:] = 1.0, 0.0
    for t in range(longest):
        for lane in range(members.size):
            i = members[lane]
            if i < 0 or t >= offsets[i + 1] - offsets[i]:
                continue
            position = offsets[i] + t
            factor = emission[labels[position], t * lockstep.LANES + lane] * inverse[t, lane]
            if t > 0:
                factor *= exp_edge[labels[position - 1], labels[position]]
                prefix[t, lane] = prefix[t - 1, lane] * factor
            else:
                prefix[t, lane] = factor
            kept[lane] *= factor
            if kept[lane] < TINY:
                log_p[lane] += math.log(kept[lane])
                kept[lane] = 1.0
    for lane in range(members.size):
        log_p[lane] += math.log(kept[lane])


@compiled_lanes
def add_outer_products(alpha, before, message, place, products):
    """products[r, s, lane] += alpha[r, before + lane] message[s, place + lane]."""
    weights, factors = alpha[:, before : before + lockstep.LANES], message[:, place : place + lockstep.LANES]
    for r in range(products.shape[0]):
        for s in range(products.shape[1]):
            for lane in range(lockstep.LANES):
                products[r, s, lane] += weights[r, lane] * factors[s, lane]


@compiled_lanes
def off_truth_backward(
    labels, offsets, members, longest, exp_edge, watched, alpha, emission, inverse, prefix, factor, beta, lowest, highest,
    products, missed, leaving, from_truth, rest, rows,
):  # fmt: skip
    """rows[position, s]: factor · p_t(s) of wrong labels, minus their sum at the true one; rest: 1 - p(y*).

    products[r, s, lane] times e^{E[r, s]}: expected number of transitions r -> s where the truth has another one;
    missed[pair, lane]: expected number of true transitions that are not made. Emissions become messages as in `lockstep`.
    """
    n_labels, n_lanes = alpha.shape[0], members.size
    beta[:], products[:], missed[:] = 1.0, 0.0, 0.0
    rest[:], leaving[:] = 0.0, 0.0
    for t in range(longest - 1, -1, -1):
        here, before = t * lockstep.LANES, (t - 1) * lockstep.LANES
        for lane in range(n_lanes):
            i = members[lane]
            length = offsets[i + 1] - offsets[i] if i >= 0 else 0
            if t >= length - 1:
                for s in range(n_labels):
                    beta[s, lane] = 1.0
            if t >= length:
                continue
            position = offsets[i] + t
            truth, wrong = labels[position], 0.0
            for s in range(n_labels):
                share = alpha[s, here + lane] * beta[s, lane]
                rows[position, s] = factor[lane] * share
                if s != truth:
                    wrong += share
            rows[position, truth] = -factor[lane] * wrong
            if t == 0:
                rest[lane] += wrong
            if t < length - 1:
                missed[truth * n_labels + labels[position + 1], lane] += wrong + leaving[lane]
        if t == 0:
            return
        scale = inverse[t]
        for s in range(n_labels):
            message, ahead = emission[s, here : here + lockstep.LANES], beta[s]
            for lane in range(n_lanes):
                message[lane] *= ahead[lane] * scale[lane]
            if watched:
                for lane in range(n_lanes):
                    lowest[lane] = min(lowest[lane], message[lane] if message[lane] > 0.0 else 1.0)
                    highest[lane] = max(highest[lane], message[lane])
        for lane in range(n_lanes):
            i = members[lane]
            if i < 0 or t >= offsets[i + 1] - offsets[i]:
                for s in range(n_labels):
                    emission[s, here + lane] = 0.0
                continue
            position = offsets[i] + t
            previous, truth = labels[position - 1], labels[position]
            onward, weight = 0.0, alpha[previous, before + lane]
            for s in range(n_labels):
                if s != truth:
                    onward += exp_edge[previous, s] * emission[s, here + lane]
                    products[previous, s, lane] += weight * emission[s, here + lane]
            leaving[lane] = weight * onward
            rest[lane] += prefix[t - 1, lane] * onward
            # Out of the way of the products of all other labels, and back afterwards.
            from_truth[lane], alpha[previous, before + lane] = weight, 0.0
        add_outer_products(alpha, before, emission, here, products)
        lockstep.matrix_times_lanes(exp_edge, emission, here, beta, 0)
        for lane in range(n_lanes):
            i = members[lane]
            if i >= 0 and t < offsets[i + 1] - offsets[i]:
                alpha[labels[offsets[i] + t - 1], before + lane] = from_truth[lane]


@compiled
def off_truth_of_pairs(labels, marginals, pairs, log_weight, inverse_probability, rows, edge_row):
    """The same for one sequence from its marginals and those of its transitions, pairs[t, r, s] = p(y_{t-1} = r, y_t = s).

    Gives log p(y*) and 1 - p(y*); both NaN where the truth is so improbable that its marginals are 0.
    """
    length, n_labels = marginals.shape
    wrong, leaving, rest = 0.0, 0.0, 0.0
    kept, prefix, log_p = 1.0, 1.0, 0.0
    edge_row[:] = 0.0
    for t in range(length):
        truth, before = labels[t], wrong
        staying = marginals[t, truth]
        wrong, leaving = 0.0, 0.0
        for s in range(n_labels):
            rows[t, s] = marginals[t, s]
            if s != truth:
                wrong += marginals[t, s]
        if t == 0:
            leaving = wrong
        else:
            previous = labels[t - 1]
            for r in range(n_labels):
                for s in range(n_labels):
                    if r != previous or s != truth:
                        edge_row[r * n_labels + s] += pairs[t, r, s]
                        if r == previous:
                            leaving += pairs[t, r, s]
            edge_row[previous * n_labels + truth] -= before + leaving
            leaving /= marginals[t - 1, previous]
            staying = pairs[t, previous, truth] / marginals[t - 1, previous]
        rows[t, truth] = -wrong
        rest += prefix * leaving
        prefix *= staying
        kept *= staying
        if not kept > 0.0:
            return np.nan, np.nan
        if kept < TINY:
            log_p += math.log(kept)
            kept = 1.0
    log_p = math.log1p(-rest) if rest < 0.5 else log_p + math.log(kept)
    if inverse_probability:
        factor = math.exp(min(700.0, log_weight - log_p))
        for t in range(length):
            for s in range(n_labels):
                rows[t, s] *= factor
        for k in range(edge_row.size):
            edge_row[k] *= factor
    return log_p, rest


@compiled
def off_truth_in_log_domain(
    node, start, stop, edge, labels, log_weight, inverse_probability, rows, edge_row, ahead, message, work
):
    """The same for one sequence of any scores, by the distribution of all labellings but y*: gives log p(y*) and 1 - p(y*).

    p_t(s) = (1 - p(y*)) · rest_t(s) for wrong labels s, whatever the range of the scores.
    """
    length, n_labels = node.shape
    counts = np.empty((1, n_labels, n_labels))
    counts[:] = 0.0
    log_odds = sums.rest_sequence(node, start, stop, edge, 0, labels, 0.0, True, rows, counts, ahead, message, work)
    log_p = -log_odds - math.log1p(math.exp(-log_odds)) if log_odds > 0.0 else -math.log1p(math.exp(log_odds))
    log_rest = log_odds + log_p
    scale = math.exp(log_weight - log_p + log_rest) if inverse_probability else math.exp(log_rest)
    for t in range(length):
        wrong = 0.0
        for s in range(n_labels):
            rows[t, s] *= scale
            if s != labels[t]:
                wrong += rows[t, s]
        rows[t, labels[t]] = -wrong
    for r in range(n_labels):
        for s in range(n_labels):
            edge_row[r * n_labels + s] = counts[0, r, s]
    for t in range(1, length):
        edge_row[labels[t - 1] * n_labels + labels[t]] -= 1.0
    for k in range(edge_row.size):
        edge_row[k] *= scale
    return log_p, math.exp(log_rest)


def off_truth(
    potentials: ChainPotentials, labels: np.ndarray, sequences: np.ndarray, log_weights: np.ndarray,
    inverse_probability: bool, result: OffTruth,
) -> None:  # fmt: skip
    """Fill `result` for each of `sequences`, the longest first.

    inverse_probability: rows are multiplied by e^{log_weights} / p(y*), which makes them derivatives of the exponential loss.
    """
    offsets, edges = potentials.offsets, exponentiated_edges(potentials)
    lengths = np.diff(offsets)
    given = (labels, sequences)
    groups = group_bounds(sequences, offsets)
    is_left = np.ones(sequences.size, dtype=np.bool_)
    if np.diff(groups).max(initial=0) >= FEWEST_LANES:
        off_truth_batch(
            potentials.start, potentials.node, potentials.stop, offsets, *given, groups,
            chunks_of_groups(groups, sequences, offsets), *edges, log_weights, inverse_probability, result.rows,
            result.edge_rows, result.rest, result.log_probability, is_left,
            work=3 * int(lengths[sequences].sum()) * potentials.n_labels**2,
        )  # fmt: skip
    result.in_log_domain[sequences] = False
    left = sequences[is_left]
    if left.size:
        own = lengths[left]
        off_truth_one_by_one(
            potentials.start, potentials.node, potentials.edge_matrices, potentials.stop, offsets, labels, left,
            chunk_bounds(np.append(0, np.cumsum(own))), *edges, log_weights, inverse_probability, *result,
            work=3 * int(own.sum()) * potentials.n_labels**2,
        )  # fmt: skip


@BatchRoutine
def off_truth_one_by_one(
    first_chunk, end_chunk, start, node, edge, stop, offsets, labels, sequences, chunks, exp_edge, exp_edge_transposed,
    shift, in_range, log_weights, inverse_probability, rows, edge_rows, rest, log_probability, in_log_domain,
):  # fmt: skip
    """Few sequences, and those that the lanes cannot do; chunks: runs of `sequences`."""
    n_labels = node.shape[1]
    for chunk in range(first_chunk, end_chunk):
        longest = longest_among(sequences, chunks[chunk], chunks[chunk + 1], offsets)
        ahead, message, work = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels + 1)
        emission, marginals = np.empty((longest, n_labels)), np.empty((longest, n_labels))
        scale, pairs = np.empty(longest), np.empty((longest, n_labels, n_labels))
        tentative = np.empty((1, n_labels, n_labels))
        tentative[:] = 0.0
        for place in range(chunks[chunk], chunks[chunk + 1]):
            i = sequences[place]
            begin, end = offsets[i], offsets[i + 1]
            length = end - begin
            pairs[:length] = 0.0
            _, in_log_domain[i] = sums.posterior_sequence(
                node[begin:end], start, stop, edge, 0, exp_edge, exp_edge_transposed, shift, in_range,
                marginals[:length], pairs[:length], 1, emission, scale, tentative, ahead, message, work[:n_labels],
            )  # fmt: skip
            if not in_log_domain[i]:
                log_probability[i], rest[i] = off_truth_of_pairs(
                    labels[begin:end], marginals[:length], pairs, log_weights[i], inverse_probability, rows[begin:end],
                    edge_rows[i],
                )  # fmt: skip
                in_log_domain[i] = rest[i] != rest[i]
            if in_log_domain[i]:
                log_probability[i], rest[i] = off_truth_in_log_domain(
                    node[begin:end], start, stop, edge, labels[begin:end], log_weights[i], inverse_probability,
                    rows[begin:end], edge_rows[i], ahead, message, work,
                )  # fmt: skip


@BatchRoutine
def off_truth_batch(
    first_chunk, end_chunk, start, node, stop, offsets, labels, sequences, groups, chunks, exp_edge, exp_edge_transposed,
    shift, in_range, log_weights, inverse_probability, rows, edge_rows, rest, log_probability, is_left,
):  # fmt: skip
    """Several sequences at a time; chunks: runs of groups. is_left: those of `sequences` that are not done."""
    n_labels, lanes = node.shape[1], lockstep.LANES
    watched = lockstep.has_far_edges(exp_edge[0])
    deepest_allowed = sums.LOG_FLOOR if watched else lockstep.LOG_EASY_EMISSION
    for chunk in range(first_chunk, end_chunk):
        longest = 0
        for group in range(chunks[chunk], chunks[chunk + 1]):
            longest = max(longest, length_of(sequences[groups[group]], offsets))
        room = lockstep.row_length(longest)
        alpha, emission = np.empty((n_labels, room)), np.empty((n_labels, room))
        inverse, prefix, beta = np.empty((longest, lanes)), np.empty((longest, lanes)), np.empty((n_labels, lanes))
        products, missed = np.empty((n_labels, n_labels, lanes)), np.empty((n_labels * n_labels, lanes))
        log_z, log_p, whole, largest = np.empty(lanes), np.empty(lanes), np.empty(lanes), np.empty(lanes)
        lowest, highest, deepest = np.empty(lanes), np.empty(lanes), np.empty(lanes)
        factor, leaving, from_truth, left = np.empty(lanes), np.empty(lanes), np.empty(lanes), np.empty(lanes)
        bad, members = np.empty(lanes, dtype=np.bool_), np.empty(lanes, dtype=np.int64)
        for group in range(chunks[chunk], chunks[chunk + 1]):
            first, size = groups[group], groups[group + 1] - groups[group]
            if size < FEWEST_LANES:
                continue
            for lane in range(lanes):
                members[lane] = sequences[first + lane] if lane < size else -1
                log_z[lane], lowest[lane], highest[lane], deepest[lane] = 0.0, 1.0, 1.0, 0.0
                bad[lane], factor[lane] = not in_range[0], 1.0
            length = length_of(members[0], offsets)
            lockstep.lockstep_forward(
                node, start, stop, offsets, members, length, exp_edge_transposed[0], shift[0], watched, alpha, emission,
                inverse, lowest, deepest, largest, whole, whole.view(np.int64), log_z, bad,
            )  # fmt: skip
            truth_prefixes(labels, offsets, members, length, exp_edge[0], emission, inverse, prefix, whole, log_p)
            if inverse_probability:
                for lane in range(size):
                    factor[lane] = math.exp(min(700.0, log_weights[members[lane]] - log_p[lane]))
            off_truth_backward(
                labels, offsets, members, length, exp_edge[0], watched, alpha, emission, inverse, prefix, factor, beta,
                lowest, highest, products, missed, leaving, from_truth, left, rows,
            )  # fmt: skip
            for lane in range(size):
                in_reach = lowest[lane] >= sums.FLOOR and highest[lane] <= 1.0 / sums.FLOOR
                if bad[lane] or not in_reach or deepest[lane] < deepest_allowed:
                    continue
                i = members[lane]
                is_left[first + lane] = False
                rest[i] = left[lane]
                log_probability[i] = math.log1p(-left[lane]) if left[lane] < 0.5 else log_p[lane]
                for r in range(n_labels):
                    for s in range(n_labels):
                        share = products[r, s, lane] * exp_edge[0, r, s] - missed[r * n_labels + s, lane]
                        edge_rows[i, r * n_labels + s] = factor[lane] * share
