"""The scaled recursion of `shifted` on several sequences at once: one lane of the vector unit per sequence."""

from __future__ import annotations

import math

import numpy as np

from labseq_core.chain.recursions import lockstep
from labseq_core.chain.recursions.lockstep import LANES
from labseq_core.chain.recursions.sums import FLOOR, LOG_FLOOR
from labseq_core.compiling.routines import compiled_lanes


@compiled_lanes
def leave_truth(
    labels, offsets, members, t, truth_weight, edge, before, label, deviated, first, new, new_first, new_second
):
    """Those that leave the truth at t; and those that have just made the shifted transition count one more."""
    n_labels = new.shape[0]
    more = edge[before, label] if before >= 0 else 0.0
    for lane in range(members.size):
        i = members[lane]
        if i < 0 or t >= offsets[i + 1] - offsets[i]:
            continue
        source, truth = labels[offsets[i] + t - 1], labels[offsets[i] + t]
        for s in range(n_labels):
            if s != truth:
                new[s, lane] += truth_weight[lane] * edge[source, s]
        if before >= 0:
            arrived = deviated[before, lane] * more
            if source == before and truth != label:
                arrived += truth_weight[lane] * more
            new_second[label, lane] += 2.0 * first[before, lane] * more + arrived
            new_first[label, lane] += arrived


@compiled_lanes
def fires_more(labels, offsets, members, t, amounts, label, before, at_label, elsewhere):
    """By how much `label`, and any other label, fires more than the truth at t; False where no lane has any difference."""
    some = False
    for lane in range(members.size):
        at_label[lane], elsewhere[lane] = 0.0, 0.0
        i = members[lane]
        if i < 0 or t >= offsets[i + 1] - offsets[i]:
            continue
        position = offsets[i] + t
        amount = amounts[position] if amounts.size else 0.0
        truth_fires = amount if labels[position] == label else 0.0
        if t > 0 and before >= 0 and labels[position - 1] == before and labels[position] == label:
            truth_fires = 1.0
        at_label[lane], elsewhere[lane] = amount - truth_fires, -truth_fires
        some = some or at_label[lane] != 0.0 or truth_fires != 0.0
    return some


@compiled_lanes
def shift_counts(differences, step, new, new_first, new_second, emission):
    """u -> u + f in the sums of one label, and e^{Δ f} into its emissions."""
    for lane in range(differences.size):
        f = differences[lane]
        if f != 0.0:
            new_second[lane] += f * (2.0 * new_first[lane] + f * new[lane])
            new_first[lane] += f * new[lane]
            emission[lane] *= math.exp(max(LOG_FLOOR, min(-LOG_FLOOR, step * f)))


@compiled_lanes
def shifted_group(
    node, start, stop, offsets, labels, members, longest, exp_edge, edge, edge_into, amounts, label, before, step,
    emission, state, log_odds, mean, square, bad,
):  # fmt: skip
    """log odds, E[u] and E[u²] of all lanes; bad where the log domain is needed.

    edge, edge_into: e^E with e^Δ at a shifted pair, and its transpose. state: (6, S, LANES).
    """
    n_labels, n_lanes = node.shape[1], members.size
    deviated, first, second, new, new_first, new_second = state
    truth_weight, kept, log_truth = np.ones(n_lanes), np.ones(n_lanes), np.zeros(n_lanes)
    largest, deepest, whole, log_z = np.empty(n_lanes), np.zeros(n_lanes), np.empty(n_lanes), np.zeros(n_lanes)
    at_label, elsewhere, total, staying = np.empty(n_lanes), np.empty(n_lanes), np.empty(n_lanes), np.empty(n_lanes)
    bits = whole.view(np.int64)
    for t in range(longest):
        lockstep.fill_emissions(
            node, start, stop, offsets, members, t, emission, largest, deepest, whole, bits, log_z, bad
        )
        weights = emission[:, t * LANES : (t + 1) * LANES]
        for lane in range(n_lanes):
            i = members[lane]
            staying[lane] = 1.0
            if i >= 0 and t < offsets[i + 1] - offsets[i]:
                truth = labels[offsets[i] + t]
                staying[lane] = weights[truth, lane] * (exp_edge[labels[offsets[i] + t - 1], truth] if t > 0 else 1.0)
        if t == 0:
            new[:], new_first[:], new_second[:] = 1.0, 0.0, 0.0
            for lane in range(n_lanes):
                if members[lane] >= 0:
                    new[labels[offsets[members[lane]]], lane] = 0.0
        else:
            lockstep.matrix_times_lanes(edge_into, deviated, 0, new, 0)
            lockstep.matrix_times_lanes(edge_into, first, 0, new_first, 0)
            lockstep.matrix_times_lanes(edge_into, second, 0, new_second, 0)
            leave_truth(
                labels,
                offsets,
                members,
                t,
                truth_weight,
                edge,
                before,
                label,
                deviated,
                first,
                new,
                new_first,
                new_second,
            )
        if fires_more(labels, offsets, members, t, amounts, label, before, at_label, elsewhere):
            for s in range(n_labels):
                differences = at_label if s == label else elsewhere
                shift_counts(differences, step, new[s], new_first[s], new_second[s], weights[s])
        for lane in range(n_lanes):
            total[lane] = truth_weight[lane] * staying[lane]
        for s in range(n_labels):
            for lane in range(n_lanes):
                new[s, lane] *= weights[s, lane]
                total[lane] += new[s, lane]
        for lane in range(n_lanes):
            i = members[lane]
            if i < 0 or t >= offsets[i + 1] - offsets[i]:
                total[lane] = 1.0
            elif not total[lane] >= FLOOR or staying[lane] == 0.0:
                bad[lane], total[lane] = True, 1.0
            total[lane] = 1.0 / total[lane]
        for s in range(n_labels):
            for lane in range(n_lanes):
                deviated[s, lane] = new[s, lane] * total[lane]
                first[s, lane] = new_first[s, lane] * weights[s, lane] * total[lane]
                second[s, lane] = new_second[s, lane] * weights[s, lane] * total[lane]
        for lane in range(n_lanes):
            truth_weight[lane] *= staying[lane] * total[lane]
            kept[lane] *= staying[lane] * total[lane]
            if kept[lane] < FLOOR:
                log_truth[lane] += math.log(kept[lane])
                kept[lane] = 1.0
            i = members[lane]
            if i >= 0 and t == offsets[i + 1] - offsets[i] - 1:
                odds, mean[lane], square[lane] = 0.0, 0.0, 0.0
                for s in range(n_labels):
                    odds += deviated[s, lane]
                    mean[lane] += first[s, lane]
                    square[lane] += second[s, lane]
                if not odds >= FLOOR or deepest[lane] < LOG_FLOOR:
                    bad[lane] = True
                log_odds[lane] = math.log(odds) - math.log(kept[lane]) - log_truth[lane]
                mean[lane] /= odds
                square[lane] /= odds
