"""The compiled recursions on one sequence that add up over all labellings.

Shapes: node (l, S), start and stop (S,), edge (1 or l, S, S) addressed as edge[stride * t]. All float64, C order.
In formulas ψ_t(s) = node[t, s] + [t = 1] start[s] + [t = l] stop[s], and E_t[r, s] is the transition into position t.
"""

from __future__ import annotations

import math

import numpy as np

from labseq_core.chain.recursions.scores import node_score
from labseq_core.compiling.routines import compiled

# Scaled recursions multiply three factors, each exactly 0 (forbidden) or at least FLOOR, so no product underflows.
# A sequence that would leave this range is done in the log domain instead.
FLOOR = 1e-100
LOG_FLOOR = math.log(FLOOR)


@compiled
def log_sum_exp(values):
    """log Σ_k e^{values[k]}; -inf if all are."""
    largest = values[0]
    for k in range(1, values.size):
        largest = max(largest, values[k])
    if largest == -np.inf:
        return -np.inf
    total = 0.0
    for k in range(values.size):
        total += math.exp(values[k] - largest)
    return largest + math.log(total)


@compiled
def exponentiate_edges(edge, exp_edge, exp_edge_transposed, edge_shift, edge_in_range):
    """e^{E - max E} of each edge matrix and its transpose, the maximum, and whether all factors are 0 or >= FLOOR."""
    n_labels = edge.shape[1]
    for m in range(edge.shape[0]):
        largest = -np.inf
        for r in range(n_labels):
            for s in range(n_labels):
                largest = max(largest, edge[m, r, s])
        edge_in_range[m] = largest > -np.inf or n_labels == 0
        edge_shift[m] = largest
        for r in range(n_labels):
            for s in range(n_labels):
                if edge[m, r, s] == -np.inf:
                    factor = 0.0
                else:
                    if edge[m, r, s] - largest < LOG_FLOOR:
                        edge_in_range[m] = False
                    factor = math.exp(edge[m, r, s] - largest)
                exp_edge[m, r, s] = factor
                exp_edge_transposed[m, s, r] = factor


@compiled
def scaled_forward(node, start, stop, exp_edge, edge_shift, edge_in_range, stride, alpha, emission, scale):
    """Fills alpha, emission e_t(s) = e^{ψ_t(s) - max ψ_t} and scale c_t; gives log Z, or NaN to ask for the log domain.

    α_1 = e_1 / c_1,   α_t(s) = e_t(s) Σ_r α_{t-1}(r) e^{E[r, s]} / c_t,   c_t such that Σ_s α_t(s) = 1
    log Z = Σ_t (log c_t + max ψ_t + max E)
    """
    length, n_labels = node.shape
    log_partition = 0.0
    for t in range(length):
        largest = -np.inf
        for s in range(n_labels):
            emission[t, s] = node_score(node, start, stop, t, s)
            largest = max(largest, emission[t, s])
        if largest == -np.inf:
            return np.nan
        for s in range(n_labels):
            lower = emission[t, s] - largest
            if -np.inf < lower < LOG_FLOOR:
                return np.nan
            emission[t, s] = math.exp(lower)
        if t == 0:
            for s in range(n_labels):
                alpha[t, s] = emission[t, s]
        else:
            m = stride * t
            if not edge_in_range[m]:
                return np.nan
            for s in range(n_labels):
                alpha[t, s] = 0.0
            for r in range(n_labels):
                before = alpha[t - 1, r]
                for s in range(n_labels):
                    alpha[t, s] += before * exp_edge[m, r, s]
            for s in range(n_labels):
                alpha[t, s] *= emission[t, s]
            log_partition += edge_shift[m]
        total = 0.0
        for s in range(n_labels):
            total += alpha[t, s]
        if total < FLOOR:
            return np.nan
        scale[t] = total
        for s in range(n_labels):
            alpha[t, s] /= total
            if 0.0 < alpha[t, s] < FLOOR:
                return np.nan
        log_partition += math.log(total) + largest
    return log_partition


@compiled
def scaled_backward(
    exp_edge, exp_edge_transposed, stride, alpha, emission, scale, edge_counts, count_stride, beta, message
):  # fmt: skip
    """Turns alpha into node marginals, adds edge marginals to edge_counts[count_stride * t]; False: use the log domain.

    β_l = 1,   g_t(s) = e_t(s) β_t(s) / c_t,   β_{t-1}(r) = Σ_s e^{E[r, s]} g_t(s)
    p(y_t = s) = α_t(s) β_t(s),   p(y_{t-1} = r, y_t = s) = α_{t-1}(r) e^{E[r, s]} g_t(s)
    edge_counts may hold what an abandoned sequence added: the caller gives a matrix of its own.
    """
    length, n_labels = alpha.shape
    for s in range(n_labels):
        beta[s] = 1.0
    for t in range(length - 1, 0, -1):
        m = stride * t
        for s in range(n_labels):
            message[s] = emission[t, s] * beta[s] / scale[t]
            if 0.0 < message[s] < FLOOR:
                return False
            alpha[t, s] *= beta[s]
            beta[s] = 0.0
        for s in range(n_labels):
            weight = message[s]
            for r in range(n_labels):
                beta[r] += weight * exp_edge_transposed[m, s, r]
        c = count_stride * t
        for r in range(n_labels):
            before = alpha[t - 1, r]
            for s in range(n_labels):
                edge_counts[c, r, s] += before * exp_edge[m, r, s] * message[s]
        for r in range(n_labels):
            if beta[r] > 1.0 / FLOOR or 0.0 < beta[r] < FLOOR:
                return False
    for s in range(n_labels):
        alpha[0, s] *= beta[s]
    return True


@compiled
def log_forward_backward(
    node, start, stop, edge, stride, alpha, normaliser, edge_counts, count_stride, beta, message, work
):  # fmt: skip
    """The same in the log domain, normalised at each position so that long sequences and large scores lose no digits.

    a_t(s) = ψ_t(s) + log Σ_r e^{a_{t-1}(r) + E[r, s]} - c_t,   log Z = Σ_t c_t
    b_{t-1}(r) = log Σ_s e^{E[r, s] + ψ_t(s) + b_t(s)} - c_t
    """
    length, n_labels = node.shape
    log_partition = 0.0
    for t in range(length):
        for s in range(n_labels):
            alpha[t, s] = node_score(node, start, stop, t, s)
            if t > 0:
                for r in range(n_labels):
                    work[r] = alpha[t - 1, r] + edge[stride * t, r, s]
                alpha[t, s] += log_sum_exp(work)
        normaliser[t] = log_sum_exp(alpha[t])
        if normaliser[t] == -np.inf:
            return -np.inf
        for s in range(n_labels):
            alpha[t, s] -= normaliser[t]
        log_partition += normaliser[t]
    for s in range(n_labels):
        beta[s] = 0.0
    for t in range(length - 1, 0, -1):
        m = stride * t
        for s in range(n_labels):
            message[s] = node_score(node, start, stop, t, s) + beta[s] - normaliser[t]
            alpha[t, s] = math.exp(alpha[t, s] + beta[s])
        for r in range(n_labels):
            for s in range(n_labels):
                work[s] = edge[m, r, s] + message[s]
                edge_counts[count_stride * t, r, s] += math.exp(alpha[t - 1, r] + work[s])
            beta[r] = log_sum_exp(work)
    for s in range(n_labels):
        alpha[0, s] = math.exp(alpha[0, s] + beta[s])
    return log_partition


@compiled
def posterior_sequence(
    node, start, stop, edge, stride, exp_edge, exp_edge_transposed, shift, in_range,
    marginals, edge_counts, count_stride, emission, scale, tentative, beta, message, work,
):  # fmt: skip
    """Node marginals, edge marginals added to edge_counts[count_stride * t], log Z, and whether the log domain was needed.

    The scaled recursion is tried first; what an abandoned try has added must not stay, so sums go to `tentative` first.
    """
    length = node.shape[0]
    log_z = scaled_forward(
        node, start, stop, exp_edge, shift, in_range, stride, marginals, emission[:length], scale[:length]
    )
    if log_z == log_z:
        target = edge_counts if count_stride else tentative
        done = scaled_backward(
            exp_edge, exp_edge_transposed, stride, marginals, emission[:length], scale[:length], target, count_stride,
            beta, message,
        )  # fmt: skip
        if not count_stride:
            for r in range(beta.size):
                for s in range(beta.size):
                    if done:
                        edge_counts[0, r, s] += tentative[0, r, s]
                    tentative[0, r, s] = 0.0
        if done:
            return log_z, False
        if count_stride:
            edge_counts[:] = 0.0
    log_z = log_forward_backward(
        node, start, stop, edge, stride, marginals, scale[:length], edge_counts, count_stride, beta, message, work
    )
    return log_z, True


@compiled
def covariance_sequence(
    marginals, pairs, direction_node, direction_edge, direction_stride, node_change, edge_change, before, ahead, message
):  # fmt: skip
    """The derivative of node and edge marginals when potentials move along a direction v: Cov(statistics, ⟨v, statistics⟩).

    B_t(s) = E[⟨v, statistics up to t⟩ | y_t = s] = v_t(s) + Σ_r p(y_{t-1} = r | y_t = s) (B_{t-1}(r) + v[r, s])
    A_t(r) = E[⟨v, statistics after t⟩ | y_t = r] = Σ_s p(y_{t+1} = s | y_t = r) (v[r, s] + v_{t+1}(s) + A_{t+1}(s))
    dp_t(s) = p_t(s) (B_t(s) + A_t(s) - E),   dp_t(r, s) = p_t(r, s) (B_{t-1}(r) + v[r, s] + v_t(s) + A_t(s) - E)
    Conditional expectations are averages of v, so nothing grows or underflows.
    """
    length, n_labels = marginals.shape
    for t in range(length):
        for s in range(n_labels):
            total = 0.0
            if t > 0 and marginals[t, s] > 0.0:
                for r in range(n_labels):
                    total += pairs[t, r, s] * (before[t - 1, r] + direction_edge[direction_stride * t, r, s])
                total /= marginals[t, s]
            before[t, s] = direction_node[t, s] + total
    mean = 0.0
    for s in range(n_labels):
        mean += marginals[length - 1, s] * before[length - 1, s]
        ahead[s] = 0.0
    for t in range(length - 1, -1, -1):
        for s in range(n_labels):
            node_change[t, s] = marginals[t, s] * (before[t, s] + ahead[s] - mean)
            message[s] = direction_node[t, s] + ahead[s]
        if t == 0:
            return
        d = direction_stride * t
        for r in range(n_labels):
            total = 0.0
            for s in range(n_labels):
                onward = direction_edge[d, r, s] + message[s]
                total += pairs[t, r, s] * onward
                edge_change[d, r, s] += pairs[t, r, s] * (before[t - 1, r] + onward - mean)
            ahead[r] = total / marginals[t - 1, r] if marginals[t - 1, r] > 0.0 else 0.0


@compiled
def rest_sequence(
    node, start, stop, edge, stride, labels, log_weight, normalised, marginals, edge_counts, ahead, message, work
):  # fmt: skip
    """log Σ_{y ≠ y*} e^{F(y) - F(y*)} = log(1/p(y*) - 1), and the marginals of the distribution over that rest,
    either normalised or times e^{log_weight} (1/p(y*) - 1), which needs no division at all.

    Scores are taken relative to those of y* (so y* itself has score 0), and a flag is carried: has y left y* yet?
    D_t(s), deviated up to t:  ψ_t(s) + log(Σ_r e^{D_{t-1}(r) + E[r, s]} + [s ≠ y*_t] e^{E[y*_{t-1}, s]})
    A_t(s), all that follows a deviated prefix, as in forward-backward;
    U_t, what follows y* up to t and deviates later:
    U_{t-1} = log(Σ_{s ≠ y*_t} e^{E[y*, s] + ψ_t(s) + A_t(s)} + e^{U_t})
    Gives -inf where y* is the only labelling.
    """
    length, n_labels = node.shape
    deviated = marginals  # D_t until the backward pass has turned it into marginals
    for t in range(length):
        truth = labels[t]
        level = node_score(node, start, stop, t, truth)
        if t > 0:
            level += edge[stride * t, labels[t - 1], truth]
        for s in range(n_labels):
            incoming = -np.inf
            if t == 0:
                if s != truth:
                    incoming = 0.0
            else:
                for r in range(n_labels):
                    work[r] = deviated[t - 1, r] + edge[stride * t, r, s]
                work[n_labels] = edge[stride * t, labels[t - 1], s] if s != truth else -np.inf
                incoming = log_sum_exp(work)
            deviated[t, s] = incoming + node_score(node, start, stop, t, s) - level
    log_odds = log_sum_exp(deviated[length - 1])
    if log_odds == -np.inf:
        marginals[:] = 0.0
        return log_odds
    norm = log_odds if normalised else -log_weight
    for s in range(n_labels):
        ahead[s] = 0.0
    undeviated = -np.inf  # U_t
    for t in range(length - 1, -1, -1):
        truth = labels[t]
        level = node_score(node, start, stop, t, truth)
        if t > 0:
            level += edge[stride * t, labels[t - 1], truth]
        for s in range(n_labels):
            message[s] = node_score(node, start, stop, t, s) - level + ahead[s]
            marginals[t, s] = math.exp(deviated[t, s] + ahead[s] - norm)
        marginals[t, truth] += math.exp(undeviated - norm)
        if t == 0:
            # The first position deviates from the start itself: there is no pair before it.
            return log_odds
        m = stride * t
        for s in range(n_labels):
            work[s] = edge[m, labels[t - 1], s] + message[s] if s != truth else -np.inf
            edge_counts[m, labels[t - 1], s] += math.exp(work[s] - norm)
        edge_counts[m, labels[t - 1], truth] += math.exp(undeviated - norm)
        work[n_labels] = undeviated
        later = log_sum_exp(work)
        for r in range(n_labels):
            for s in range(n_labels):
                work[s] = edge[m, r, s] + message[s]
                edge_counts[m, r, s] += math.exp(deviated[t - 1, r] + work[s] - norm)
            work[n_labels] = -np.inf
            ahead[r] = log_sum_exp(work)
        undeviated = later
    return log_odds
