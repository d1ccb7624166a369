"""Online updates with lazy averaging: HM-Perceptron, T Algorithm 1."""

from __future__ import annotations

import numpy as np

from labseq_core.chain.recursions.batch import longest_among
from labseq_core.chain.recursions.maxima import viterbi_sequence
from labseq_core.compiling.routines import compiled
from labseq_core.scoring.sparse_products import score_positions


def blocks_of(order: np.ndarray, lengths: np.ndarray, n_tokens: int) -> list[np.ndarray]:
    """The order of sequences cut into runs of about so many tokens."""
    tokens = np.cumsum(lengths[order])
    cuts = np.searchsorted(tokens, np.arange(n_tokens, tokens[-1], n_tokens))
    return [block for block in np.split(order, cuts) if block.size]


@compiled
def perceptron_block(
    order, indptr, indices, values, offsets, labels, node_weights, edge_weights, start, stop, start_stop,
    node_sums, edge_sums, start_sums, stop_sums, steps,
):  # fmt: skip
    """Visit the sequences of `order`: decode each with the current weights and move them towards the truth if it differs.

    Each change Δ at step c adds c·Δ to the sums, so that the average of the weights after each step of C steps is
    weights - sums / C. Gives the number of steps so far and the numbers of wrong labels and wrong sequences.
    """
    n_labels = edge_weights.shape[0]
    longest = longest_among(order, 0, order.size, offsets)
    node = np.empty((longest, n_labels))
    origin = np.zeros((longest, n_labels), dtype=np.int32)
    guessed = np.empty(longest, dtype=np.int64)
    best, candidate = np.empty(n_labels), np.empty(n_labels)
    edges = edge_weights.reshape((1, n_labels, n_labels))
    wrong_labels, wrong_sequences = 0, 0
    for i in order:
        begin, end = offsets[i], offsets[i + 1]
        length = end - begin
        score_positions(indptr, indices, values, node_weights, begin, end, node)
        viterbi_sequence(node[:length], start, stop, edges, 0, guessed[:length], origin, best, candidate)
        wrong = 0
        for t in range(length):
            truth, guess = labels[begin + t], guessed[t]
            if truth != guess:
                wrong += 1
                for k in range(indptr[begin + t], indptr[begin + t + 1]):
                    amount = values[k] if values.size else 1.0
                    node_weights[indices[k], truth] += amount
                    node_weights[indices[k], guess] -= amount
                    node_sums[indices[k], truth] += steps * amount
                    node_sums[indices[k], guess] -= steps * amount
            if t > 0:
                before, guess_before = labels[begin + t - 1], guessed[t - 1]
                if before != guess_before or truth != guess:
                    edge_weights[before, truth] += 1.0
                    edge_weights[guess_before, guess] -= 1.0
                    edge_sums[before, truth] += steps
                    edge_sums[guess_before, guess] -= steps
        if start_stop and wrong:
            last = length - 1
            start[labels[begin]] += 1.0
            start[guessed[0]] -= 1.0
            start_sums[labels[begin]] += steps
            start_sums[guessed[0]] -= steps
            stop[labels[end - 1]] += 1.0
            stop[guessed[last]] -= 1.0
            stop_sums[labels[end - 1]] += steps
            stop_sums[guessed[last]] -= steps
        steps += 1
        wrong_labels += wrong
        wrong_sequences += wrong > 0
    return steps, wrong_labels, wrong_sequences
