"""Online updates with lazy averaging: HM-Perceptron, T Algorithm 1."""

from __future__ import annotations

import numpy as np

from labseq_core.chain.recursions.batch import longest_among
from labseq_core.chain.recursions.maxima import viterbi_sequence
from labseq_core.compiling.routines import compiled
from labseq_core.scoring.labelling_differences import add_attribute_difference, add_end_difference, add_pair_difference
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

    Gives the number of steps so far and the numbers of wrong labels and wrong sequences.
    """
    n_labels = edge_weights.shape[0]
    longest = longest_among(order, 0, order.size, offsets)
    node = np.empty((longest, n_labels))
    origin = np.zeros((longest, n_labels), dtype=np.int32)
    guessed = np.empty(longest, dtype=np.int64)
    best, candidate, no_scale = np.empty(n_labels), np.empty(n_labels), np.empty(0)
    edges = edge_weights.reshape((1, n_labels, n_labels))
    wrong_labels, wrong_sequences = 0, 0
    for i in order:
        begin, end = offsets[i], offsets[i + 1]
        truth, guess = labels[begin:end], guessed[: end - begin]
        score_positions(indptr, indices, values, node_weights, begin, end, node)
        viterbi_sequence(node[: end - begin], start, stop, edges, 0, guess, origin, best, candidate)
        wrong = add_attribute_difference(
            indptr, indices, values, no_scale, begin, truth, guess, node_weights, node_sums, steps
        )
        if wrong:
            add_pair_difference(truth, guess, edge_weights, edge_sums, steps, 1.0, edge_weights)
            if start_stop:
                add_end_difference(truth[0], guess[0], start, start_sums, steps)
                add_end_difference(truth[-1], guess[-1], stop, stop_sums, steps)
        steps += 1
        wrong_labels += wrong
        wrong_sequences += wrong > 0
    return steps, wrong_labels, wrong_sequences
