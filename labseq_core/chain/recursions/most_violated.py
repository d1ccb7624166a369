"""The compiled recursions on one sequence that look for labellings that rival a given one, y*.

Shapes: node (l, S), start and stop (S,), edge (1 or l, S, S) addressed as edge[stride * t]. All float64, C order.
In formulas ψ_t(s) = node[t, s] + [t = 1] start[s] + [t = l] stop[s], E_t[r, s] is the transition into position t, and
Δ(y) is the Hamming distance from y*. Only maxima are kept on the way; a labelling is found by going back through them.
"""

from __future__ import annotations

import math

import numpy as np

from labseq_core.chain.recursions.scores import copy_to, largest_at
from labseq_core.compiling.routines import compiled

LOSS_WEIGHTS = 30  # tried where counting would take too long


@compiled
def add_node_scores(node, start, stop, t, row):
    """row[s] += ψ_t(s)."""
    length, n_labels = node.shape
    for s in range(n_labels):
        row[s] += node[t, s]
    if t == 0:
        for s in range(n_labels):
            row[s] += start[s]
    if t == length - 1:
        for s in range(n_labels):
            row[s] += stop[s]


@compiled
def raise_to_maxima(before, edge, row):
    """row[s] = max(row[s], max_r (before[r] + edge[r, s]))."""
    n_labels = row.size
    for r in range(n_labels):
        score = before[r]
        for s in range(n_labels):
            row[s] = max(row[s], score + edge[r, s])


@compiled
def best_origin(before, edge, s):
    """argmax_r (before[r] + edge[r, s]), the lowest of equals."""
    chosen, highest = 0, before[0] + edge[0, s]
    for r in range(1, before.size):
        score = before[r] + edge[r, s]
        if score > highest:
            chosen, highest = r, score
    return chosen


@compiled
def loss_augmented_maxima(node, start, stop, edge, stride, truth, loss, best):
    """best_t(s) = ψ_t(s) + loss [s ≠ y*_t] + max_r (best_{t-1}(r) + E[r, s])."""
    for t in range(node.shape[0]):
        if t == 0:
            best[0] = 0.0
        else:
            best[t] = -np.inf
            raise_to_maxima(best[t - 1], edge[stride * t], best[t])
        add_scores_with_loss(node, start, stop, t, truth[t], loss, best[t])


@compiled
def loss_augmented_sequence(node, start, stop, edge, stride, truth, loss, labels, best):
    """Fills labels with argmax_y F(x, y) + loss Δ(y), lowest label first among equals; gives the maximum. L margin rescaling.

    best: as of `loss_augmented_maxima`.
    """
    length = node.shape[0]
    loss_augmented_maxima(node, start, stop, edge, stride, truth, loss, best)
    last = largest_at(best[length - 1])
    for t in range(length - 1, -1, -1):
        labels[t] = last
        if t > 0:
            last = best_origin(best[t - 1], edge[stride * t], last)
    return best[length - 1, labels[length - 1]]


@compiled
def rival_sequence(node, start, stop, edge, stride, truth, labels, best, followed):
    """Fills labels with argmax of F(x, y) over y ≠ y*, and gives the maximum; -inf, and y* itself, if there is no other.

    It is y* or the runner-up of 2-best decoding (T 4.3.1) for the price of one labelling: y* has one prefix of each length,
    and best_t holds those that have left it.
    followed_t = F(y*_1 .. y*_t)
    best_t(s) = ψ_t(s) + max(max_r (best_{t-1}(r) + E[r, s]), [s ≠ y*_t] (followed_{t-1} + E[y*_{t-1}, s]))
    """
    length, n_labels = node.shape
    kept = 0.0
    for t in range(length):
        row, right = best[t], truth[t]
        if t == 0:
            row[:] = 0.0
            row[right] = -np.inf
        else:
            step = edge[stride * t, truth[t - 1]]
            for s in range(n_labels):
                row[s] = kept + step[s]
            row[right] = -np.inf
            raise_to_maxima(best[t - 1], edge[stride * t], row)
            kept += step[right]
        add_node_scores(node, start, stop, t, row)
        kept += node[t, right]
        if t == 0:
            kept += start[right]
        if t == length - 1:
            kept += stop[right]
        followed[t] = kept
    last = largest_at(best[length - 1])
    score = best[length - 1, last]
    if score == -np.inf:
        copy_to(truth, labels)
        return score
    for t in range(length - 1, -1, -1):
        labels[t] = last
        if t == 0:
            break
        origin = best_origin(best[t - 1], edge[stride * t], last)
        leaves = followed[t - 1] + edge[stride * t, truth[t - 1], last]
        if last != truth[t] and leaves >= best[t - 1, origin] + edge[stride * t, origin, last]:
            for before in range(t):
                labels[before] = truth[before]
            break
        last = origin
    return score


@compiled
def diverse_sequence(node, start, stop, edge, stride, truth, loss, least, share, labels, scores, best, ahead, through):
    """Several labellings y ≠ y* with high F(x, y) + loss Δ(y), best first; gives how many.

    Each is the best one through some (position, wrong label) that none before it has, so they differ more than the k best
    do. The first is the best of all; others follow only if they exceed `least` by at least this share of what it does.
    through_t(s) = max F + loss Δ over labellings with y_t = s = best_t(s) + ahead_t(s)
    """
    length, n_labels = node.shape
    loss_augmented_maxima(node, start, stop, edge, stride, truth, loss, best)
    ahead[length - 1] = 0.0
    for t in range(length - 1, 0, -1):
        row = through[t]  # what follows a label at t - 1, until the maxima themselves are made below
        for s in range(n_labels):
            row[s] = ahead[t, s]
        add_scores_with_loss(node, start, stop, t, truth[t], loss, row)
        for r in range(n_labels):
            highest = -np.inf
            for s in range(n_labels):
                highest = max(highest, edge[stride * t, r, s] + row[s])
            ahead[t - 1, r] = highest
    for t in range(length):
        for s in range(n_labels):
            through[t, s] = best[t, s] + ahead[t, s]
        through[t, truth[t]] = -np.inf
    for number in range(scores.size):
        place, label = 0, 0
        for t in range(length):
            for s in range(n_labels):
                if through[t, s] > through[place, label]:
                    place, label = t, s
        scores[number] = through[place, label]
        threshold = -np.inf if number == 0 else least + share * (scores[0] - least)
        if scores[number] == -np.inf or scores[number] < threshold or (number > 0 and scores[0] <= least):
            return number
        row = labels[number]
        row[place] = label
        for t in range(place, 0, -1):
            row[t - 1] = best_origin(best[t - 1], edge[stride * t], row[t])
        for t in range(place + 1, length):
            follower, highest = 0, -np.inf
            for s in range(n_labels):
                score = edge[stride * t, row[t - 1], s] + node[t, s] + ahead[t, s] + (loss if s != truth[t] else 0.0)
                if t == length - 1:
                    score += stop[s]
                if score > highest:
                    follower, highest = s, score
            row[t] = follower
        for t in range(length):
            through[t, row[t]] = -np.inf
    return scores.size


@compiled
def add_scores_with_loss(node, start, stop, t, right, loss, row):
    """row[s] += ψ_t(s) + loss [s ≠ y*_t]."""
    add_node_scores(node, start, stop, t, row)
    kept = row[right]
    for s in range(row.size):
        row[s] += loss
    row[right] = kept


@compiled
def hamming_sequence(node, start, stop, edge, stride, truth, best, message):
    """best[t, h, s]: the highest score of a prefix up to t that ends in s and differs from y* in h positions, h <= H.

    best_t(h, s) = ψ_t(s) + max_r (best_{t-1}(h - [s ≠ y*_t], r) + E[r, s]), O(l H S²)
    """
    length, n_labels = node.shape
    farthest = best.shape[1] - 1
    for t in range(length):
        right, here = truth[t], best[t]
        here[:] = -np.inf
        for h in range(min(t, farthest) + 1):
            if t == 0:
                message[:] = 0.0
            else:
                message[:] = -np.inf
                raise_to_maxima(best[t - 1, h], edge[stride * t], message)
            add_node_scores(node, start, stop, t, message)
            if h < farthest:
                for s in range(n_labels):
                    here[h + 1, s] = message[s]
                here[h + 1, right] = -np.inf
            here[h, right] = message[right]


@compiled
def trace_distance(edge, stride, truth, distance, best, labels):
    """Fills labels with the best labelling at this distance from y*, from the maxima of `hamming_sequence`."""
    length = labels.size
    last, h = largest_at(best[length - 1, distance]), distance
    for t in range(length - 1, -1, -1):
        labels[t] = last
        h -= last != truth[t]
        if t > 0:
            last = best_origin(best[t - 1, h], edge[stride * t], last)


@compiled
def hamming_distance(labels, truth):
    count = 0
    for t in range(labels.size):
        count += labels[t] != truth[t]
    return count


@compiled
def slack_rescaled_sequence(node, start, stop, edge, stride, truth, truth_score, cells, labels, best, tried):
    """Fills labels with argmax_y Δ(y) (1 - F(y*) + F(y)), or y* if no y has it above 0; gives that maximum ξ and a bound on it.

    METHODS 4, L slack rescaling. Let V = max_y (Δ(y) - margin(y)), by loss-augmented decoding. No labelling at distance h has
    a margin below h - V, so none reaches more than h (1 + V - h), and only the distances at which that exceeds what the
    loss-augmented labelling reaches are looked at, by counting. Where counting takes more than `cells` numbers, as in very
    long sequences early in training, it is left to a search over the weight of the loss, and the bound is above ξ.
    """
    length, n_labels = node.shape
    reach = loss_augmented_sequence(node, start, stop, edge, stride, truth, 1.0, labels, best) - truth_score
    distance = hamming_distance(labels, truth)
    if distance == 0 or reach <= 0.0:
        copy_to(truth, labels)
        return 0.0, 0.0
    value = distance * (1.0 + reach - distance)
    # h (1 + V - h) > value strictly between these two.
    lower, upper = min(distance, 1.0 + reach - distance), max(distance, 1.0 + reach - distance)
    if value <= 0.0:
        lower, upper, value = 0.0, 1.0 + reach, 0.0
        copy_to(truth, labels)
    nearest, farthest = math.floor(lower) + 1, min(length, math.ceil(upper) - 1)
    if nearest > farthest:
        return value, value
    if length * (farthest + 1) * n_labels > cells:
        return search_loss_weight(
            node, start, stop, edge, stride, truth, truth_score, reach, value, labels, best, tried
        )
    counted = np.empty((length, farthest + 1, n_labels))
    hamming_sequence(node, start, stop, edge, stride, truth, counted, np.empty(n_labels))
    chosen = 0
    for h in range(nearest, farthest + 1):
        here = h * (1.0 - truth_score + counted[length - 1, h][largest_at(counted[length - 1, h])])
        if here > value:
            value, chosen = here, h
    if chosen > 0:
        trace_distance(edge, stride, truth, chosen, counted, labels)
    return value, value


@compiled
def search_loss_weight(node, start, stop, edge, stride, truth, truth_score, reach, value, labels, best, tried):
    """The best Δ(y) (1 - margin(y)) among the maximisers of λ Δ(y) - margin(y), and a bound for all y; reach is V(1).

    On the lower hull of the margins the best distance has λ = (1 - margin) / Δ; the left side rises and the right side falls
    with λ, so λ is found by bisection. With V(λ) the maximum, no labelling at distance h reaches more than h (1 + V(λ) - λ h).
    """
    length = truth.size
    bound = np.empty(length + 1)
    for h in range(length + 1):
        bound[h] = h * (1.0 + reach - h)
    low, high = 0.0, 1.0 + reach
    for _ in range(LOSS_WEIGHTS):
        weight = 0.5 * (low + high)
        reach = loss_augmented_sequence(node, start, stop, edge, stride, truth, weight, tried, best) - truth_score
        distance = hamming_distance(tried, truth)
        for h in range(length + 1):
            bound[h] = min(bound[h], h * (1.0 + reach - weight * h))
        slack = 1.0 + reach - weight * distance
        if distance * slack > value:
            value = distance * slack
            copy_to(tried, labels)
        if weight * distance < slack:
            low = weight
        else:
            high = weight
    return value, max(value, bound[largest_at(bound)])
