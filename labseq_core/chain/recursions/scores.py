"""Scores of one sequence, compiled.

Shapes: node (l, S), start and stop (S,), edge (1 or l, S, S) addressed as edge[stride * t]. All float64, C order.
In formulas ψ_t(s) = node[t, s] + [t = 1] start[s] + [t = l] stop[s], and E_t[r, s] is the transition into position t.
"""

from __future__ import annotations

from labseq_core.compiling.routines import compiled


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
def path_score(node, start, stop, edge, stride, labels):
    """F(x, y) of one labelling."""
    total = 0.0
    for t in range(node.shape[0]):
        total += node_score(node, start, stop, t, labels[t])
        if t > 0:
            total += edge[stride * t, labels[t - 1], labels[t]]
    return total


@compiled
def largest_at(values):
    """The place of the largest, the first of equals."""
    place = 0
    for k in range(1, values.size):
        if values[k] > values[place]:
            place = k
    return place


@compiled
def copy_to(source, target):
    """numba's own `target[:] = source` takes seconds to compile, for the error that it may have to raise."""
    for k in range(source.size):
        target[k] = source[k]


@compiled
def subtract_path_counts(labels, offsets, weights, node, edge, stride):
    """Takes the indicators of a labelling out of node[t] and edge[stride * t]; weights: one per position, or one for all."""
    for i in range(offsets.size - 1):
        for t in range(offsets[i], offsets[i + 1]):
            weight = weights[t] if weights.size > 1 else weights[0]
            node[t, labels[t]] -= weight
            if t > offsets[i]:
                edge[stride * t, labels[t - 1], labels[t]] -= weight
