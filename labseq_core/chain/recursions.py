"""The compiled recursions on one sequence. Recursions that call each other share this file.

Shapes: node (l, S), start and stop (S,), edge (1 or l, S, S) addressed as edge[stride * t]. All float64, C order.
In formulas ψ_t(s) = node[t, s] + [t = 1] start[s] + [t = l] stop[s], and E_t[r, s] is the transition into position t.
"""

from __future__ import annotations

import math

import numpy as np

from labseq_core._jit import compiled

# Scaled recursions multiply three factors, each exactly 0 (forbidden) or at least FLOOR, so no product underflows.
# A sequence that would leave this range is done in the log domain instead.
FLOOR = 1e-100
LOG_FLOOR = math.log(FLOOR)


@compiled
def node_score(node, start, stop, t, s):
    """ψ_t(s)."""
    score = node[t, s]
    if t == 0:
        score += start[s]
    if t == node.shape[0] - 1:
        score += stop[s]
    return score


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
        largest = edge[m].max()
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
def scaled_backward(exp_edge, exp_edge_transposed, stride, alpha, emission, scale, edge_counts, beta, message):
    """Turns alpha into node marginals and adds the edge marginals to edge_counts[stride * t]; False asks for the log domain.

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
        for r in range(n_labels):
            before = alpha[t - 1, r]
            for s in range(n_labels):
                edge_counts[m, r, s] += before * exp_edge[m, r, s] * message[s]
        for r in range(n_labels):
            if beta[r] > 1.0 / FLOOR or 0.0 < beta[r] < FLOOR:
                return False
    for s in range(n_labels):
        alpha[0, s] *= beta[s]
    return True


@compiled
def log_forward_backward(node, start, stop, edge, stride, alpha, normaliser, edge_counts, beta, message, work):
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
                edge_counts[m, r, s] += math.exp(alpha[t - 1, r] + work[s])
            beta[r] = log_sum_exp(work)
    for s in range(n_labels):
        alpha[0, s] = math.exp(alpha[0, s] + beta[s])
    return log_partition


@compiled
def viterbi_sequence(node, start, stop, edge, stride, labels, origin, best, candidate):
    """Fills labels with argmax_y F(x, y), lowest label first among equals; gives the maximum.

    δ_t(s) = ψ_t(s) + max_r (δ_{t-1}(r) + E[r, s]),   origin[t, s] the maximising r
    """
    length, n_labels = node.shape
    for s in range(n_labels):
        best[s] = node_score(node, start, stop, 0, s)
    for t in range(1, length):
        m = stride * t
        for s in range(n_labels):
            candidate[s] = best[0] + edge[m, 0, s]
            origin[t, s] = 0
        for r in range(1, n_labels):
            before = best[r]
            for s in range(n_labels):
                score = before + edge[m, r, s]
                if score > candidate[s]:
                    candidate[s] = score
                    origin[t, s] = r
        for s in range(n_labels):
            best[s] = candidate[s] + node_score(node, start, stop, t, s)
    last = 0
    for s in range(1, n_labels):
        if best[s] > best[last]:
            last = s
    score = best[last]
    for t in range(length - 1, -1, -1):
        labels[t] = last
        last = origin[t, last]
    return score


@compiled
def max_marginals_sequence(node, start, stop, edge, stride, through, ahead, work):
    """through[t, s] = max of F(x, y) over labellings with y_t = s: forward maxima plus backward maxima.

    ahead_t(r) = max_s (E[r, s] + ψ_{t+1}(s) + ahead_{t+1}(s))
    """
    length, n_labels = node.shape
    for t in range(length):
        for s in range(n_labels):
            best = 0.0
            if t > 0:
                best = -np.inf
                for r in range(n_labels):
                    best = max(best, through[t - 1, r] + edge[stride * t, r, s])
            through[t, s] = best + node_score(node, start, stop, t, s)
    for s in range(n_labels):
        ahead[s] = 0.0
    for t in range(length - 1, 0, -1):
        m = stride * t
        for s in range(n_labels):
            work[s] = node_score(node, start, stop, t, s) + ahead[s]
            through[t, s] += ahead[s]
        for r in range(n_labels):
            best = -np.inf
            for s in range(n_labels):
                best = max(best, edge[m, r, s] + work[s])
            ahead[r] = best
    for s in range(n_labels):
        through[0, s] += ahead[s]


@compiled
def k_best_sequence(node, start, stop, edge, stride, k, labels, scores, best, origin_label, origin_rank, rank):
    """The k best distinct labellings, best first; scores beyond the number of allowed labellings are -inf.

    best[t, s, j] is the j-th best score of a prefix ending in s. The sorted lists of all predecessors r are merged by
    keeping one rank per r, so a position costs O(k S²).
    """
    length, n_labels = node.shape
    for s in range(n_labels):
        for j in range(k):
            best[0, s, j] = -np.inf
        best[0, s, 0] = node_score(node, start, stop, 0, s)
    for t in range(1, length):
        m = stride * t
        for s in range(n_labels):
            here = node_score(node, start, stop, t, s)
            for r in range(n_labels):
                rank[r] = 0
            for j in range(k):
                chosen = 0
                highest = -np.inf
                for r in range(n_labels):
                    if rank[r] < k:
                        score = best[t - 1, r, rank[r]] + edge[m, r, s]
                        if score > highest:
                            highest = score
                            chosen = r
                best[t, s, j] = highest + here
                origin_label[t, s, j] = chosen
                origin_rank[t, s, j] = min(rank[chosen], k - 1)
                rank[chosen] += 1
    for s in range(n_labels):
        rank[s] = 0
    for j in range(k):
        last = 0
        scores[j] = -np.inf
        for s in range(n_labels):
            if rank[s] < k and best[length - 1, s, rank[s]] > scores[j]:
                scores[j] = best[length - 1, s, rank[s]]
                last = s
        place = min(rank[last], k - 1)
        rank[last] += 1
        for t in range(length - 1, -1, -1):
            labels[j, t] = last
            if t > 0:
                previous = origin_label[t, last, place]
                place = origin_rank[t, last, place]
                last = previous


@compiled
def path_score(node, start, stop, edge, stride, labels):
    """F(x, y) of one labelling."""
    total = 0.0
    for t in range(node.shape[0]):
        total += node_score(node, start, stop, t, labels[t])
        if t > 0:
            total += edge[stride * t, labels[t - 1], labels[t]]
    return total
