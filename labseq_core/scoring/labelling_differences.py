"""Steps of perceptrons, compiled: what one labelling of a sequence has more than another is added to weights.

Ψ(x, y*) - Ψ(x, y) is not 0 only where the two differ. Each step Δ with the number c adds c·Δ to the sums as well: the average
of the weights after each of C steps is weights - sums / C.      (T Algorithms 1 and 6)
"""

from __future__ import annotations

from labseq_core.compiling.routines import compiled


@compiled
def add_attribute_difference(indptr, indices, values, scale, begin, truth, guess, weights, sums, step):
    """At attributes of the positions from `begin` on; gives at how many of them the labellings differ.

    values, scale (one number for each attribute) and sums may be empty: then all are 1, and there are none.
    """
    wrong = 0
    for t in range(truth.size):
        if truth[t] != guess[t]:
            wrong += 1
            for k in range(indptr[begin + t], indptr[begin + t + 1]):
                attribute = indices[k]
                amount = values[k] if values.size else 1.0
                if scale.size:
                    amount *= scale[attribute]
                weights[attribute, truth[t]] += amount
                weights[attribute, guess[t]] -= amount
                if sums.size:
                    sums[attribute, truth[t]] += step * amount
                    sums[attribute, guess[t]] -= step * amount
    return wrong


@compiled
def add_pair_difference(truth, guess, pairs, sums, step, eta, edge):
    """At pairs of labels; the edge scores are η times their weights, and stay -inf where a pair is forbidden."""
    for t in range(1, truth.size):
        if truth[t - 1] != guess[t - 1] or truth[t] != guess[t]:
            for before, here, sign in ((truth[t - 1], truth[t], 1.0), (guess[t - 1], guess[t], -1.0)):
                pairs[before, here] += sign
                sums[before, here] += sign * step
                edge[before, here] = eta * pairs[before, here]


@compiled
def add_end_difference(right, wrong, weights, sums, step):
    """At the first labels, or at the last ones."""
    weights[right] += 1.0
    weights[wrong] -= 1.0
    sums[right] += step
    sums[wrong] -= step
