"""Forward-backward on several sequences at once: one lane of the vector unit per sequence.

The same scaled recursion as in `sum_recursions`, with arrays [label, position and lane]. Lanes of one group have similar
lengths; a lane whose sequence has ended goes on with weights that nobody reads. One edge matrix for all positions only.

Range. If every transition has a weight in [e, 1] and every emission is 0 or in [m, 1], then α_t(s) >= m e / S or 0, and
e <= β <= 1 / e, because each β_t(r) is a sum of the same terms with weights in [e, 1] and Σ_s α_t(s) β_t(s) = 1. So with
e >= EASY_EDGE and m >= EASY_EMISSION nothing can leave the range of the scaled recursion. Only where transitions are
forbidden or far apart is every weight looked at (`watched`).
"""

from __future__ import annotations

import math

import numpy as np

from labseq_core.chain.recursions.sums import FLOOR, LOG_FLOOR
from labseq_core.compiling.routines import compiled_lanes, compiled_sum

LANES = 16  # several vectors of the unit, so that the start of a loop does not cost more than the loop
# Rows of labels whose distance is a multiple of 4096 bytes would share few places of the fastest cache.
ROW, ROW_REMAINDER = 512, 40  # numbers
EASY_EDGE, EASY_EMISSION = 1e-30, 1e-60
LOG_EASY_EMISSION = math.log(EASY_EMISSION)


# e^x = 2^k e^r, k = round(x / ln 2), |r| <= ln 2 / 2. Adding 1.5·2^52 rounds to a whole number and leaves it in the low bits.
ROUND = 6755399441055744.0
LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10


@compiled_lanes
def row_length(n_positions):
    """Numbers per label for so many positions of all lanes: kept away from multiples of the cache's period."""
    needed = n_positions * LANES
    return needed + (ROW_REMAINDER - needed) % ROW


@compiled_lanes
def has_far_edges(exp_edge):
    """Whether weights of transitions are so small, or 0, that every weight must be looked at."""
    smallest = 1.0
    for r in range(exp_edge.shape[0]):
        for s in range(exp_edge.shape[1]):
            smallest = min(smallest, exp_edge[r, s])
    return smallest < EASY_EDGE


@compiled_lanes
def exponential(x, whole, bits):
    """x[lane] = e^{x[lane]} for -700 < x <= 0, as vector code; whole and bits are two views of the same memory."""
    for lane in range(x.size):
        whole[lane] = x[lane] * LOG2_E + ROUND
    for lane in range(x.size):
        k = whole[lane] - ROUND
        r = (x[lane] - k * LN2_HIGH) - k * LN2_LOW
        # Taylor's polynomial; its next term is below 2e-16 here.
        p = 1.0 / 479001600.0
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


@compiled_lanes
def fill_emissions(node, start, stop, offsets, members, t, emission, largest, deepest, whole, bits, log_partition, bad):
    """Emissions e^{ψ_t(s) - max ψ_t}; the maximum goes into log Z. deepest: the lowest finite exponent so far."""
    n_labels, here = node.shape[1], t * LANES
    for lane in range(members.size):
        i = members[lane]
        if i < 0 or t >= offsets[i + 1] - offsets[i]:
            for s in range(n_labels):
                emission[s, here + lane] = 0.0
            continue
        position = offsets[i] + t
        for s in range(n_labels):
            emission[s, here + lane] = node[position, s]
        if t == 0:
            for s in range(n_labels):
                emission[s, here + lane] += start[s]
        if position == offsets[i + 1] - 1:
            for s in range(n_labels):
                emission[s, here + lane] += stop[s]
    largest[:] = -np.inf
    for s in range(n_labels):
        row = emission[s, here : here + LANES]
        for lane in range(members.size):
            largest[lane] = max(largest[lane], row[lane])
    for lane in range(members.size):
        if largest[lane] == -np.inf:
            bad[lane] = True
            largest[lane] = 0.0
    for lane in range(members.size):
        log_partition[lane] += largest[lane]
    for s in range(n_labels):
        row = emission[s, here : here + LANES]
        lowest = 0.0
        for lane in range(members.size):
            row[lane] -= largest[lane]
            lowest = min(lowest, row[lane])
        if lowest < LOG_EASY_EMISSION:
            _far_emissions(row, deepest)
        else:
            exponential(row, whole, bits)


@compiled_lanes
def _far_emissions(row, deepest):
    """The same where a lane is forbidden (-inf) or so low that its sequence needs a closer look."""
    for lane in range(row.size):
        if row[lane] == -np.inf:
            row[lane] = 0.0
        else:
            deepest[lane] = min(deepest[lane], row[lane])
            row[lane] = math.exp(max(row[lane], LOG_FLOOR))


@compiled_lanes
def matrix_times_lanes(matrix, rows, begin, result, place):
    """result[s, place + lane] = Σ_r matrix[s, r] rows[r, begin + lane], three by three: a product per load or store."""
    n = matrix.shape[0]
    in_blocks = n - n % 3
    source, target = slice(begin, begin + LANES), slice(place, place + LANES)
    for s in range(n):
        result[s, target] = 0.0
    for s in range(0, in_blocks, 3):
        one, two, three = result[s, target], result[s + 1, target], result[s + 2, target]
        for r in range(0, in_blocks, 3):
            a, b, c = rows[r, source], rows[r + 1, source], rows[r + 2, source]
            one_a, one_b, one_c = matrix[s, r], matrix[s, r + 1], matrix[s, r + 2]
            two_a, two_b, two_c = matrix[s + 1, r], matrix[s + 1, r + 1], matrix[s + 1, r + 2]
            three_a, three_b, three_c = matrix[s + 2, r], matrix[s + 2, r + 1], matrix[s + 2, r + 2]
            for lane in range(LANES):
                x, y, z = a[lane], b[lane], c[lane]
                one[lane] += one_a * x + one_b * y + one_c * z
                two[lane] += two_a * x + two_b * y + two_c * z
                three[lane] += three_a * x + three_b * y + three_c * z
    for s in range(n):
        sums = result[s, target]
        for r in range(in_blocks if s < in_blocks else 0, n):
            weight, row = matrix[s, r], rows[r, source]
            for lane in range(LANES):
                sums[lane] += weight * row[lane]


@compiled_sum
def add_inner_products(alpha, message, n_numbers, counts):
    """counts[r, s] += Σ_k alpha[r, k] message[s, k + LANES]: transitions from one position to the next, of all lanes."""
    n = counts.shape[0]
    in_blocks = n - n % 3
    for r in range(0, in_blocks, 3):
        a, b, c = alpha[r], alpha[r + 1], alpha[r + 2]
        for s in range(0, in_blocks, 3):
            x, y, z = message[s, LANES:], message[s + 1, LANES:], message[s + 2, LANES:]
            ax = ay = az = bx = by = bz = cx = cy = cz = 0.0
            for k in range(n_numbers):
                ax += a[k] * x[k]
                ay += a[k] * y[k]
                az += a[k] * z[k]
                bx += b[k] * x[k]
                by += b[k] * y[k]
                bz += b[k] * z[k]
                cx += c[k] * x[k]
                cy += c[k] * y[k]
                cz += c[k] * z[k]
            counts[r, s] += ax
            counts[r, s + 1] += ay
            counts[r, s + 2] += az
            counts[r + 1, s] += bx
            counts[r + 1, s + 1] += by
            counts[r + 1, s + 2] += bz
            counts[r + 2, s] += cx
            counts[r + 2, s + 1] += cy
            counts[r + 2, s + 2] += cz
    for r in range(n):
        for s in range(in_blocks if r < in_blocks else 0, n):
            a, x = alpha[r], message[s, LANES:]
            total = 0.0
            for k in range(n_numbers):
                total += a[k] * x[k]
            counts[r, s] += total


@compiled_lanes
def lockstep_forward(
    node, start, stop, offsets, members, longest, edge_into, shift, watched, alpha, emission, inverse,
    lowest, deepest, largest, whole, bits, log_partition, bad,
):  # fmt: skip
    """α_t and 1/c_t of all lanes; edge_into[s, r] = e^{E[r, s]}. If watched,
    lowest[lane] is the smallest weight that is not zero.
    """
    n_labels, n_lanes = node.shape[1], members.size
    product = np.empty(n_lanes)  # of the c_t whose logarithms log Z still lacks
    product[:] = 1.0
    for t in range(longest):
        here = t * LANES
        fill_emissions(
            node, start, stop, offsets, members, t, emission, largest, deepest, whole, bits, log_partition, bad
        )
        if t == 0:
            for s in range(n_labels):
                for lane in range(LANES):
                    alpha[s, lane] = emission[s, lane]
        else:
            matrix_times_lanes(edge_into, alpha, here - LANES, alpha, here)
        total = inverse[t]
        total[:] = 0.0
        for s in range(n_labels):
            row, weight = alpha[s, here : here + LANES], emission[s, here : here + LANES]
            if t > 0:
                for lane in range(n_lanes):
                    row[lane] *= weight[lane]
            for lane in range(n_lanes):
                total[lane] += row[lane]
        for lane in range(n_lanes):
            i = members[lane]
            if i < 0 or t >= offsets[i + 1] - offsets[i]:
                total[lane] = 1.0
            elif total[lane] < FLOOR:
                bad[lane] = True
                total[lane] = 1.0
            elif t > 0:
                log_partition[lane] += shift
        smallest = 1.0
        for lane in range(n_lanes):
            product[lane] *= total[lane]
            smallest = min(smallest, product[lane])
            total[lane] = 1.0 / total[lane]
        if smallest < FLOOR or t % 64 == 63 or t == longest - 1:  # c_t <= S: 64 of them cannot overflow
            for lane in range(n_lanes):
                log_partition[lane] += math.log(product[lane])
                product[lane] = 1.0
        for s in range(n_labels):
            row = alpha[s, here : here + LANES]
            for lane in range(n_lanes):
                row[lane] *= total[lane]
            if watched:
                for lane in range(n_lanes):
                    lowest[lane] = min(lowest[lane], row[lane] if row[lane] > 0.0 else 1.0)


@compiled_lanes
def lockstep_backward(
    offsets, members, longest, exp_edge, watched, alpha, emission, inverse, beta, lowest, highest, marginals
):  # fmt: skip
    """Node marginals of all lanes to their positions. Emissions become messages e_t(s) β_t(s) / c_t, 0 after a
    lane's end.
    """
    n_labels, n_lanes = alpha.shape[0], members.size
    beta[:] = 1.0
    for t in range(longest - 1, -1, -1):
        here = t * LANES
        for lane in range(n_lanes):
            i = members[lane]
            if i < 0 or t >= offsets[i + 1] - offsets[i] - 1:
                for s in range(n_labels):
                    beta[s, lane] = 1.0
            if i >= 0 and t < offsets[i + 1] - offsets[i]:
                position = offsets[i] + t
                for s in range(n_labels):
                    marginals[position, s] = alpha[s, here + lane] * beta[s, lane]
        if t == 0:
            return
        scale = inverse[t]
        for s in range(n_labels):
            message, ahead = emission[s, here : here + LANES], beta[s]
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
        matrix_times_lanes(exp_edge, emission, here, beta, 0)
