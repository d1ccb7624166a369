"""The sums behind all bounds, kept up to date, and the best feature, found without looking at all of them. T Alg. 4.

Each attribute has a key: no feature of it can reduce the bound by more. Keys of blocks of attributes are kept too. The
attribute with the largest key is looked at closely, until no key is above the best reduction found.
"""

from __future__ import annotations

import numpy as np

from labseq_core.chain.recursions.scores import copy_to, largest_at
from labseq_core.compiling.routines import BatchRoutine, compiled
from labseq_core.solvers.boosting.bounds import (
    loose_step,
    optimistic_of_feature,
    optimistic_reduction,
    reduction_at,
    tight_step,
)

BLOCK = 128  # attributes
SAME = 1e-9  # relative difference below which two reductions count as equal: the first feature wins


@compiled
def add_sequences(
    sequences, first_incidence, part, attribute, entry_pointer, entry_position, entry_value, high, low, present_pointer,
    present_label, present_high, present_low, exponents, coefficients, change, weight_change, stale, touched,
):  # fmt: skip
    """Add what has changed in some sequences to the coefficients of one range of attributes; gives how many were touched.

    W s e^{ΔL} + W (1 - s) e^{ΔU}:   W (1 - s) = (M - W L) / (U - L),   W s = (W U - M) / (U - L),   M = Σ_t φ v_t = W E[u]

    In one sequence U - L is the same for all labels of an attribute, and those that the truth lacks share U and L. Rows
    are not taken as slices here: counting references to slices would cost more than the sums.
    """
    n_labels = coefficients.shape[1]
    moved = np.empty(n_labels)
    n_touched = 0
    for place in range(sequences.size):
        i = sequences[place]
        for j in range(first_incidence[i, part], first_incidence[i, part + 1]):
            a = attribute[j]
            if not stale[a]:
                stale[a] = True
                touched[n_touched] = a
                n_touched += 1
            for label in range(n_labels):
                moved[label] = 0.0
            for e in range(entry_pointer[j], entry_pointer[j + 1]):
                t = entry_position[e]
                if entry_value.size:
                    for label in range(n_labels):
                        moved[label] += entry_value[e] * change[t, label]
                else:
                    for label in range(n_labels):
                        moved[label] += change[t, label]
            up, down = high[j], low[j]
            highest = exponents[up] if up >= 0 else 0.0
            lowest = exponents[down] if down >= 0 else 0.0
            if highest <= lowest:
                continue
            share = 1.0 / (highest - lowest)
            weight_moved = weight_change[i] * share
            for label in range(n_labels):
                moved[label] *= share
            both = up >= 0 and down >= 0
            for k in range(present_pointer[j], present_pointer[j + 1]):
                label, own_up, own_down = present_label[k], present_high[k], present_low[k]
                upper = exponents[own_up] if own_up >= 0 else 0.0
                lower = exponents[own_down] if own_down >= 0 else 0.0
                if own_up >= 0:
                    coefficients[own_up, label] += moved[label] - weight_moved * lower
                if own_down >= 0:
                    coefficients[own_down, label] += weight_moved * upper - moved[label]
                moved[label] = np.nan if both else 0.0  # done: nothing more for this label below
            if both:
                for label in range(n_labels):
                    if moved[label] == moved[label]:
                        coefficients[up, label] += moved[label] - weight_moved * lowest
                        coefficients[down, label] += weight_moved * highest - moved[label]
            elif up >= 0:
                for label in range(n_labels):
                    coefficients[up, label] += moved[label]
            else:
                for label in range(n_labels):
                    coefficients[down, label] -= moved[label]
    return n_touched


@compiled
def add_pairs(i, kinds, moved, weight_moved, high, present_pointer, present_label, present_high, present_low, exponents,
              coefficients):  # fmt: skip
    """The same for all pairs of labels in a sequence; moved: by pair, spoiled. A pair that the truth lacks has L = 0."""
    for k in range(present_pointer[i], present_pointer[i + 1]):
        pair = present_label[k]
        upper = exponents[present_high[k]] if present_high[k] >= 0 else 0.0
        lower = exponents[present_low[k]]
        share = 1.0 / (upper - lower)
        if present_high[k] >= 0:
            coefficients[present_high[k], pair] += (moved[pair] - weight_moved * lower) * share
        coefficients[present_low[k], pair] += (weight_moved * upper - moved[pair]) * share
        moved[pair] = 0.0
    for pair in range(moved.size):
        term = high[i, kinds[pair]]
        if term >= 0:
            coefficients[term, pair] += moved[pair] / exponents[term]


@compiled
def attribute_key(begin, end, exponents, coefficients, smallest, upper, lower, smoothing, threshold, slopes, work):
    """An upper bound on the reduction by any feature of an attribute; slopes[label] = Σ e C_e = m_k on the way.

    A crude bound is enough where it is below the threshold. work: (4, labels).
    """
    n_labels = slopes.size
    work[:] = 0.0
    for k in range(begin, end):
        e = exponents[k]
        side = 0 if e > 0.0 else 2
        for label in range(n_labels):
            mass = max(0.0, coefficients[k, label])
            work[side, label] += mass
            work[side + 1, label] += abs(e) * mass
    best = 0.0
    for label in range(n_labels):
        slopes[label] = work[1, label] - work[3, label]
        crude = work[2, label] if slopes[label] < 0.0 else work[0, label]
        if crude > best:
            if crude > threshold:
                crude = optimistic_reduction(
                    work[0, label], work[1, label], work[2, label], work[3, label], smallest, upper[label], lower[label],
                    smoothing,
                )  # fmt: skip
            best = max(best, crude)
    return best


@BatchRoutine
def update_sums(
    first_chunk, end_chunk, sequences, chunks, first_incidence, attribute, entry_pointer, entry_position, entry_value,
    high, low, present_pointer, present_label, present_high, present_low, term_pointer, exponents, coefficients, smallest,
    upper, lower, change, weight_change, smoothing, threshold, slopes, keys, stale, everything,
):  # fmt: skip
    """Bring coefficients, slopes and keys up to date after some sequences have changed; chunks: ranges of attributes."""
    for part in range(first_chunk, end_chunk):
        first, end = chunks[part], chunks[part + 1]
        work = np.empty((4, coefficients.shape[1]))
        touched = np.empty(end - first, dtype=np.int32)
        n_touched = add_sequences(
            sequences, first_incidence, part, attribute, entry_pointer, entry_position, entry_value, high, low,
            present_pointer, present_label, present_high, present_low, exponents, coefficients, change, weight_change,
            stale, touched,
        )  # fmt: skip
        if everything:
            n_touched = 0
            for a in range(first, end):
                if keys[a] > 0.0:  # a key of 0 has no gain to bound, whatever the smoothing
                    touched[n_touched] = a
                    n_touched += 1
        for place in range(n_touched):
            a = touched[place]
            stale[a] = False
            keys[a] = attribute_key(
                term_pointer[a], term_pointer[a + 1], exponents, coefficients, smallest[a], upper[a], lower[a],
                smoothing, threshold, slopes[a], work,
            )  # fmt: skip


@compiled
def update_edge_sums(
    sequences, high, present_pointer, present_label, present_high, present_low, exponents, coefficients, kinds, change,
    weight_change,
):  # fmt: skip
    """The same for pairs of labels."""
    moved = np.empty(change.shape[1])
    for place in range(sequences.size):
        i = sequences[place]
        copy_to(change[i], moved)
        add_pairs(
            i, kinds, moved, weight_change[i], high, present_pointer, present_label, present_high, present_low, exponents,
            coefficients,
        )  # fmt: skip


@compiled
def select_tight(
    term_pointer, exponents, coefficients, smallest, upper, lower, keys, block_keys, edge_exponents, edge_coefficients,
    edge_upper, edge_lower, smoothing, key_smoothing,
):  # fmt: skip
    """The feature with the largest reduction at its smoothed step: its number (-1: none), step and reduction.

    Keys were made with key_smoothing <= smoothing, which can only enlarge them; they are sharpened where looked at.
    """
    n_labels = coefficients.shape[1]
    best, best_step, best_gain = -1, 0.0, 0.0
    n_edges = edge_upper.shape[1]
    for pair in range(n_edges):
        own = edge_coefficients[:, pair]
        hope = optimistic_of_feature(edge_exponents, own, 1.0, edge_upper[0, pair], edge_lower[0, pair], smoothing)
        if hope > best_gain * (1.0 + SAME):
            step = tight_step(edge_exponents, own, edge_upper[0, pair], edge_lower[0, pair], smoothing)
            gain = reduction_at(step, edge_exponents, own)
            if gain > best_gain * (1.0 + SAME):
                best, best_step, best_gain = keys.size * n_labels + pair, step, gain
    looked_at = np.empty(keys.size, dtype=np.int64)
    sharpened = np.empty(keys.size)
    n_looked = 0
    while True:
        block = largest_at(block_keys)
        if block_keys.size == 0 or block_keys[block] <= best_gain * (1.0 - SAME):
            break
        a = block * BLOCK
        for other in range(block * BLOCK, min(keys.size, (block + 1) * BLOCK)):
            if keys[other] > keys[a]:
                a = other
        begin, end = term_pointer[a], term_pointer[a + 1]
        key = 0.0
        for label in range(n_labels):
            own = coefficients[begin:end, label]
            hope = optimistic_of_feature(
                exponents[begin:end], own, smallest[a], upper[a, label], lower[a, label], key_smoothing
            )
            if hope > best_gain * (1.0 - SAME):
                step = tight_step(exponents[begin:end], own, upper[a, label], lower[a, label], smoothing)
                gain = reduction_at(step, exponents[begin:end], own)
                if key_smoothing < smoothing:
                    closer = tight_step(exponents[begin:end], own, upper[a, label], lower[a, label], key_smoothing)
                    hope = min(hope, reduction_at(closer, exponents[begin:end], own))
                else:
                    hope = gain
                feature = a * n_labels + label
                better = gain > best_gain * (1.0 + SAME)
                if better or (gain >= best_gain * (1.0 - SAME) and gain > 0.0 and feature < best):
                    best, best_step, best_gain = feature, step, gain
            key = max(key, hope)
        looked_at[n_looked], sharpened[n_looked] = a, key
        n_looked += 1
        keys[a] = -1.0
        renew_block(keys, block_keys, block)
    for place in range(n_looked):
        keys[looked_at[place]] = sharpened[place]
    for place in range(n_looked):
        renew_block(keys, block_keys, looked_at[place] // BLOCK)
    return best, best_step, best_gain


@compiled
def renew_block(keys, block_keys, block):
    best = -1.0
    for a in range(block * BLOCK, min(keys.size, (block + 1) * BLOCK)):
        best = max(best, keys[a])
    block_keys[block] = best


@compiled
def select_loose(slopes, shapes, shape_upper, shape_lower, total, smoothing):
    """The feature with the smallest loose bound: its number (-1: none), step and reduction.

    Of features with the same U and L only those with the largest and the smallest m_k can be the best.
    slopes: m_k of all features; shapes: which (U, L) they have.
    """
    n_shapes = shape_upper.size
    largest, smallest = np.full(n_shapes, -np.inf), np.full(n_shapes, np.inf)
    for k in range(slopes.size):
        largest[shapes[k]] = max(largest[shapes[k]], slopes[k])
        smallest[shapes[k]] = min(smallest[shapes[k]], slopes[k])
    largest_step, largest_gain = np.empty(n_shapes), np.empty(n_shapes)
    smallest_step, smallest_gain = np.empty(n_shapes), np.empty(n_shapes)
    best_gain = 0.0
    for shape in range(n_shapes):
        largest_step[shape], largest_gain[shape] = loose_gain(
            largest[shape], shape_upper[shape], shape_lower[shape], total, smoothing
        )
        smallest_step[shape], smallest_gain[shape] = loose_gain(
            smallest[shape], shape_upper[shape], shape_lower[shape], total, smoothing
        )
        best_gain = max(best_gain, max(largest_gain[shape], smallest_gain[shape]))
    if best_gain <= 0.0:
        return -1, 0.0, 0.0
    for k in range(slopes.size):
        shape = shapes[k]
        if max(largest_gain[shape], smallest_gain[shape]) < best_gain * (1.0 - SAME):
            continue
        step, gain = loose_gain(slopes[k], shape_upper[shape], shape_lower[shape], total, smoothing)
        if gain >= best_gain * (1.0 - SAME):
            return k, step, gain
    return -1, 0.0, 0.0


@compiled
def loose_gain(slope, upper, lower, total, smoothing):
    """The step and the reduction of the loose bound of a feature with m_k = slope."""
    if upper <= lower:
        return 0.0, 0.0
    step, bound = loose_step(pseudo_accuracy_of(slope, upper, lower, total), upper, lower, smoothing)
    return step, total * (1.0 - bound)


@compiled
def pseudo_accuracy_of(slope, upper, lower, total):
    """T 3.28: s_k = (U_k - m_k / ΣW) / (U_k - L_k), a share."""
    if upper <= lower:
        return 0.5
    return min(1.0, max(0.0, (upper - slope / total) / (upper - lower)))
