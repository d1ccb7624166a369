"""The k best labellings of one sequence, compiled."""

from __future__ import annotations

import numpy as np

from labseq_core.chain.recursions.scores import node_score
from labseq_core.compiling.routines import compiled


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
