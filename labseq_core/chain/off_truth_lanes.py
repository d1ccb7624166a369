"""Forward-backward on several sequences at once: one lane of the vector unit per sequence.

The same scaled recursion as in `sum_recursions`, with arrays [position, label, lane]. Lanes of one group have similar
lengths; a lane whose sequence has ended goes on with weights that nobody reads. One edge matrix for all positions only.
"""

from __future__ import annotations

import math

import numpy as np

from labseq_core._jit import compiled
from labseq_core.chain.sum_recursions import FLOOR, LOG_FLOOR

LANES = 32  # several vectors of the unit, so that the start of a loop does not cost more than the loop


# e^x = 2^k e^r, k = round(x / ln 2), |r| <= ln 2 / 2. Adding 1.5·2^52 rounds to a whole number and leaves it in the low bits.
ROUND = 6755399441055744.0
LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10


@compiled
def exponential(x, whole, bits):
    """x[lane] = e^{x[lane]} for -700 < x <= 0, as vector code; whole and bits are two views of the same memory."""
    for lane in range(x.size):
        whole[lane] = x[lane] * LOG2_E + ROUND
    for lane in range(x.size):
        k = whole[lane] - ROUND
        r = (x[lane] - k * LN2_HIGH) - k * LN2_LOW
        # Taylor's polynomial; its next term is below 1e-17 here.
        p = 1.0 / 6227020800.0
        p = p * r + 1.0 / 479001600.0
        p = p * r + 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = p * r + 0.5
        p = p * r + 1.0
        x[lane] = p * r + 1.0
    for lane in range(x.size):
        bits[lane] = (bits[lane] + 1023) << 52
    for lane in range(x.size):
        x[lane] *= whole[lane]


@compiled
def fill_emissions(node, start, stop, offsets, members, t, emission, largest, deepest, whole, bits, log_partition, bad):
    """emission[t, s, lane] = e^{ψ_t(s) - max ψ_t}; the maximum goes into log Z. deepest: the lowest finite exponent so far."""
    n_labels = node.shape[1]
    here = emission[t]
    for lane in range(members.size):
        i = members[lane]
        if i < 0 or t >= offsets[i + 1] - offsets[i]:
            for s in range(n_labels):
                here[s, lane] = 0.0
            continue
        position = offsets[i] + t
        for s in range(n_labels):
            here[s, lane] = node[position, s]
        if t == 0:
            for s in range(n_labels):
                here[s, lane] += start[s]
        if position == offsets[i + 1] - 1:
            for s in range(n_labels):
                here[s, lane] += stop[s]
    largest[:] = here[0]
    for s in range(1, n_labels):
        for lane in range(members.size):
            largest[lane] = max(largest[lane], here[s, lane])
    for lane in range(members.size):
        if largest[lane] == -np.inf:
            bad[lane] = True
            largest[lane] = 0.0
    for lane in range(members.size):
        log_partition[lane] += largest[lane]
    for s in range(n_labels):
        row = here[s]
        for lane in range(members.size):
            row[lane] -= largest[lane]
            deepest[lane] = min(deepest[lane], row[lane] if row[lane] > -np.inf else 0.0)
        for lane in range(members.size):
            whole[lane] = 0.0 if row[lane] == -np.inf else 1.0
            row[lane] = max(row[lane], LOG_FLOOR) * whole[lane]
        forbidden = False
        for lane in range(members.size):
            forbidden = forbidden or whole[lane] == 0.0
        if forbidden:
            for lane in range(members.size):
                row[lane] = math.exp(row[lane]) if whole[lane] else 0.0
        else:
            exponential(row, whole, bits)


@compiled
def weighted_rows(weights, rows, result):
    """result[lane] = Σ_r weights[r] rows[r, lane]."""
    result[:] = 0.0
    for r in range(weights.size):
        weight = weights[r]
        for lane in range(result.size):
            result[lane] += weight * rows[r, lane]


@compiled
def add_products(factor, rows, totals):
    """totals[s, lane] += factor[lane] rows[s, lane]."""
    for s in range(rows.shape[0]):
        for lane in range(factor.size):
            totals[s, lane] += factor[lane] * rows[s, lane]


@compiled
def lockstep_forward(
    node, start, stop, offsets, members, longest, edge_into, shift, alpha, emission, inverse,
    lowest, deepest, largest, whole, bits, log_partition, bad,
):  # fmt: skip
    """α_t and 1/c_t of all lanes; edge_into[s, r] = e^{E[r, s]}. lowest[lane] is the smallest weight that is not zero."""
    n_labels = node.shape[1]
    for t in range(longest):
        fill_emissions(
            node, start, stop, offsets, members, t, emission, largest, deepest, whole, bits, log_partition, bad
        )
        total = inverse[t]
        total[:] = 0.0
        for s in range(n_labels):
            if t == 0:
                alpha[t, s] = emission[t, s]
            else:
                weighted_rows(edge_into[s], alpha[t - 1], alpha[t, s])
                for lane in range(members.size):
                    alpha[t, s, lane] *= emission[t, s, lane]
            for lane in range(members.size):
                total[lane] += alpha[t, s, lane]
        for lane in range(members.size):
            i = members[lane]
            inside = i >= 0 and t < offsets[i + 1] - offsets[i]
            if total[lane] < FLOOR:
                bad[lane] = bad[lane] or inside
                total[lane] = 1.0
            if inside:
                log_partition[lane] += math.log(total[lane]) + (shift if t > 0 else 0.0)
            total[lane] = 1.0 / total[lane]
        for s in range(n_labels):
            for lane in range(members.size):
                alpha[t, s, lane] *= total[lane]
                lowest[lane] = min(lowest[lane], alpha[t, s, lane] if alpha[t, s, lane] > 0.0 else 1.0)
