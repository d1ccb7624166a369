"""The compiled recursions on one sequence that look for the best labellings.

Shapes: node (l, S), start and stop (S,), edge (1 or l, S, S) addressed as edge[stride * t]. All float64, C order.
In formulas ψ_t(s) = node[t, s] + [t = 1] start[s] + [t = l] stop[s], and E_t[r, s] is the transition into position t.
"""

from __future__ import annotations

import numpy as np

from labseq_core.chain.recursions.scores import node_score
from labseq_core.compiling.routines import compiled


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
