"""All labellings but the true one when the weight of one feature is shifted by Δ. METHODS 0.

Let u(y) = S_k(x, y) - S_k(x, y*) count a feature against the truth. With e^{F(y) - F(y*)} for each labelling

    odds(Δ) = Σ_{y ≠ y*} e^{F(y) - F(y*) + Δ u(y)} = 1/p(y*) - 1  at Λ + Δ e_k

and its derivatives in Δ are odds(Δ) E[u] and odds(Δ) E[u²] under the shifted distribution of the rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from labseq_core.chain.inference import exponentiated_edges
from labseq_core.chain.off_truth import FEWEST_LANES, chunks_of_groups, group_bounds
from labseq_core.chain.potentials import ChainPotentials
from labseq_core.chain.recursions.batch import chunk_bounds, length_of
from labseq_core.chain.recursions.lockstep import LANES, row_length
from labseq_core.chain.recursions.scores import node_score
from labseq_core.chain.recursions.shifted_lanes import shifted_group
from labseq_core.chain.recursions.sums import FLOOR, LOG_FLOOR
from labseq_core.compiling.routines import BatchRoutine, compiled


@dataclass(frozen=True)
class FeatureShift:
    """Which feature is shifted: a label at positions that have an attribute, or a pair of neighbouring labels."""

    label: int
    amounts: np.ndarray | None = None  # (positions,): values of the attribute; None: a pair
    previous_label: int = -1


class ShiftedRest(NamedTuple):
    """Of each of the sequences asked for."""

    log_odds: np.ndarray  # log(1/p(y*) - 1) at Λ + Δ e_k; -inf if y* is the only labelling
    mean: np.ndarray  # E[u] over the rest there
    square: np.ndarray  # E[u²] over the rest there


def shifted_rest(
    potentials: ChainPotentials, labels: np.ndarray, shift: FeatureShift, step: float, sequences: np.ndarray
) -> ShiftedRest:
    """Of the given sequences, O(l S²) each, without checks; one edge matrix for all positions only."""
    lengths = potentials.offsets[sequences + 1] - potentials.offsets[sequences]
    by_length = np.argsort(-lengths, kind="stable")
    ordered = sequences[by_length]
    groups = group_bounds(ordered, potentials.offsets)
    amounts = np.zeros(0) if shift.amounts is None else shift.amounts
    exp_edge, _, _, in_range = exponentiated_edges(potentials)
    shifted_edge, in_range = exp_edge[0].copy(), bool(in_range[0])
    if shift.amounts is None:
        in_range = in_range and abs(step) < -LOG_FLOOR
        shifted_edge[shift.previous_label, shift.label] *= math.exp(step) if in_range else 1.0
    in_range = in_range and abs(step) * float(np.abs(amounts).max(initial=0.0)) < -LOG_FLOOR
    by_place = np.empty((3, sequences.size))
    common = (potentials.offsets, labels, ordered)
    feature = (amounts, int(shift.label), int(shift.previous_label), float(step))
    work = 4 * int(lengths.sum()) * potentials.n_labels**2
    is_left = np.ones(sequences.size, dtype=np.bool_)
    if in_range and np.diff(groups).max(initial=0) >= FEWEST_LANES:
        _shifted_batch(
            potentials.start, potentials.node, exp_edge[0], shifted_edge, shifted_edge.T.copy(), potentials.stop, *common,
            groups, chunks_of_groups(groups, ordered, potentials.offsets), *feature, *by_place, is_left, work=work,
        )  # fmt: skip
    left = np.flatnonzero(is_left)
    if left.size:
        _shifted_one_by_one(
            potentials.start, potentials.node, potentials.edge, exp_edge[0], shifted_edge, in_range, potentials.stop,
            *common, left, chunk_bounds(np.append(0, np.cumsum(lengths[by_length][left]))), *feature, *by_place,
            work=work * left.size // sequences.size,
        )  # fmt: skip
    in_given_order = np.empty_like(by_place)
    in_given_order[:, by_length] = by_place
    return ShiftedRest(*in_given_order)


@BatchRoutine
def _shifted_batch(
    first_chunk, end_chunk, start, node, exp_edge, shifted_edge, edge_into, stop, offsets, labels, sequences, groups,
    chunks, amounts, label, before, step, log_odds, mean, square, is_left,
):  # fmt: skip
    """Several sequences at a time; chunks: runs of groups. is_left: those of `sequences` that are not done."""
    n_labels = node.shape[1]
    for chunk in range(first_chunk, end_chunk):
        state = np.empty((6, n_labels, LANES))
        bad, members = np.empty(LANES, dtype=np.bool_), np.empty(LANES, dtype=np.int64)
        odds, first, second = np.empty(LANES), np.empty(LANES), np.empty(LANES)
        longest = 0
        for group in range(chunks[chunk], chunks[chunk + 1]):
            longest = max(longest, length_of(sequences[groups[group]], offsets))
        emission = np.empty((n_labels, row_length(longest)))
        for group in range(chunks[chunk], chunks[chunk + 1]):
            begin, size = groups[group], groups[group + 1] - groups[group]
            if size < FEWEST_LANES:
                continue
            for lane in range(LANES):
                members[lane] = sequences[begin + lane] if lane < size else -1
                bad[lane] = False
            shifted_group(
                node, start, stop, offsets, labels, members, length_of(sequences[begin], offsets), exp_edge,
                shifted_edge, edge_into, amounts, label, before, step, emission, state, odds, first, second, bad,
            )  # fmt: skip
            for lane in range(size):
                if not bad[lane]:
                    place = begin + lane
                    log_odds[place], mean[place], square[place] = odds[lane], first[lane], second[lane]
                    is_left[place] = False


@BatchRoutine
def _shifted_one_by_one(
    first_chunk, end_chunk, start, node, edge, exp_edge, shifted_edge, in_range, stop, offsets, labels, sequences, left,
    chunks, amounts, label, before, step, log_odds, mean, square,
):  # fmt: skip
    """Few sequences, and those that the lanes cannot do: scaled recursion if it stays in range, else log domain.

    chunks: runs of `left`, places in `sequences`.
    """
    for chunk in range(first_chunk, end_chunk):
        work = np.empty((7, node.shape[1] + 1))
        for number in range(chunks[chunk], chunks[chunk + 1]):
            place = left[number]
            begin, end = offsets[sequences[place]], offsets[sequences[place] + 1]
            values = amounts[begin:end] if amounts.size else amounts
            done = False
            if in_range:
                log_odds[place], mean[place], square[place], done = _scaled_sequence(
                    node[begin:end], start, stop, exp_edge, shifted_edge, labels[begin:end], values, label, before, step,
                    work,
                )  # fmt: skip
            if not done:
                log_odds[place], mean[place], square[place] = _shifted_sequence(
                    node[begin:end], start, stop, edge, labels[begin:end], values, label, before, step, work
                )


@compiled
def _scaled_sequence(node, start, stop, exp_edge, shifted_edge, labels, amounts, label, before, step, work):
    """The recursion of `_shifted_sequence` on weights instead of logarithms; the last result says whether it kept in range.

    D_t(s) = e_t(s) e^{Δ f_t(s)} (Σ_r D_{t-1}(r) E[r, s] + [s ≠ y*_t] τ_{t-1} E[y*_{t-1}, s]) / c_t,   τ: weight of y*

    f_t(s): by how much s fires more than y*_t; E: with e^Δ at a shifted pair; c_t such that τ + Σ_s D = 1. D, D E[u] and
    D E[u²] go through the same sums.
    """
    length, n_labels = node.shape
    deviated, first, second, new, new_first, new_second, emission = work
    kept, log_truth, truth_weight = 1.0, 0.0, 1.0
    for t in range(length):
        truth, largest = labels[t], -np.inf
        for s in range(n_labels):
            emission[s] = node_score(node, start, stop, t, s)
            largest = max(largest, emission[s])
        truth_fires = amounts[t] if amounts.size and truth == label else 0.0
        new[:], new_first[:], new_second[:] = 0.0, 0.0, 0.0
        staying = 1.0
        if t > 0:
            source = labels[t - 1]
            if before == source and truth == label:
                truth_fires = 1.0
            staying = exp_edge[source, truth]
            for r in range(n_labels):
                for s in range(n_labels):
                    new[s] += deviated[r] * shifted_edge[r, s]
                    new_first[s] += first[r] * shifted_edge[r, s]
                    new_second[s] += second[r] * shifted_edge[r, s]
            for s in range(n_labels):
                if s != truth:
                    new[s] += truth_weight * shifted_edge[source, s]
            if before >= 0:  # those that have just made the shifted transition count one more
                more = shifted_edge[before, label]
                arrived = deviated[before] * more
                if source == before and truth != label:
                    arrived += truth_weight * more
                new_second[label] += 2.0 * first[before] * more + arrived
                new_first[label] += arrived
        else:
            for s in range(n_labels):
                new[s] = 1.0 if s != truth else 0.0
        total = 0.0
        for s in range(n_labels):
            exponent = emission[s] - largest
            if -np.inf < exponent < LOG_FLOOR:
                return 0.0, 0.0, 0.0, False
            fires = (amounts[t] if amounts.size and s == label else 0.0) - truth_fires
            weight = math.exp(exponent)
            if s == truth:
                staying *= weight
            if fires != 0.0:
                if abs(step * fires) > -LOG_FLOOR:
                    return 0.0, 0.0, 0.0, False
                weight *= math.exp(step * fires)
                new_second[s] += fires * (2.0 * new_first[s] + fires * new[s])
                new_first[s] += fires * new[s]
            new[s] *= weight
            new_first[s] *= weight
            new_second[s] *= weight
            total += new[s]
        total += truth_weight * staying
        if not total >= FLOOR or staying == 0.0:
            return 0.0, 0.0, 0.0, False
        inverse = 1.0 / total
        for s in range(n_labels):
            deviated[s] = new[s] * inverse
            first[s] = new_first[s] * inverse
            second[s] = new_second[s] * inverse
        truth_weight *= staying * inverse
        kept *= staying * inverse
        if kept < FLOOR:
            log_truth += math.log(kept)
            kept = 1.0
    total, mean, square = 0.0, 0.0, 0.0
    for s in range(n_labels):
        total += deviated[s]
        mean += first[s]
        square += second[s]
    if not total >= FLOOR:
        return 0.0, 0.0, 0.0, False
    return math.log(total) - math.log(kept) - log_truth, mean / total, square / total, True


@compiled
def _shifted_sequence(node, start, stop, edge, labels, amounts, label, before, step, work):
    """As in `sum_recursions.rest_sequence`, the scores of y* are taken for 0 and a prefix has left y* or not:

    D_t(s) = δ_t(s) + log(Σ_r e^{D_{t-1}(r) + E[r, s] + Δ u[r, s]} + [s ≠ y*_t] e^{E[y*_{t-1}, s] + Δ u[y*_{t-1}, s]})

    Each D carries the means of u and u² over the prefixes that it sums up.
    """
    length, n_labels = node.shape
    deviated, first, second, new, new_first, new_second, terms = work
    largest = -np.inf
    for t in range(length):
        truth = labels[t]
        level = node_score(node, start, stop, t, truth)
        truth_fires = amounts[t] if amounts.size and truth == label else 0.0
        if t > 0:
            level += edge[labels[t - 1], truth]
            if before == labels[t - 1] and truth == label:
                truth_fires = 1.0
        for s in range(n_labels):
            score = node_score(node, start, stop, t, s) - level
            fires = (amounts[t] if amounts.size and s == label else 0.0) - truth_fires
            if t == 0:
                new[s] = score + step * fires if s != truth else -np.inf
                new_first[s], new_second[s] = fires, fires * fires
                continue
            largest = -np.inf
            for r in range(n_labels + 1):
                # The last term is the truth itself, which leaves its path here.
                source = labels[t - 1] if r == n_labels else r
                here = edge[source, s] + (step if before == source and s == label else 0.0)
                if r < n_labels:
                    terms[r] = deviated[r] + here
                else:
                    terms[r] = here if s != truth else -np.inf
                largest = max(largest, terms[r])
            if largest == -np.inf:
                new[s], new_first[s], new_second[s] = -np.inf, 0.0, 0.0
                continue
            total, total_first, total_second = 0.0, 0.0, 0.0
            for r in range(n_labels + 1):
                if terms[r] == -np.inf:
                    continue
                source = labels[t - 1] if r == n_labels else r
                weight = math.exp(terms[r] - largest)
                more = fires + (1.0 if before == source and s == label else 0.0)
                mean = first[r] if r < n_labels else 0.0
                square = second[r] if r < n_labels else 0.0
                total += weight
                total_first += weight * (mean + more)
                total_second += weight * (square + 2.0 * more * mean + more * more)
            new[s] = score + step * fires + largest + math.log(total)
            new_first[s], new_second[s] = total_first / total, total_second / total
        largest = -np.inf
        for s in range(n_labels):
            deviated[s], first[s], second[s] = new[s], new_first[s], new_second[s]
            largest = max(largest, new[s])
    if largest == -np.inf:
        return -np.inf, 0.0, 0.0
    total, mean, square = 0.0, 0.0, 0.0
    for s in range(n_labels):
        weight = math.exp(deviated[s] - largest)
        total += weight
        mean += weight * first[s]
        square += weight * second[s]
    return largest + math.log(total), mean / total, square / total
