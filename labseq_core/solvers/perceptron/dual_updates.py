"""The hidden Markov perceptron in its dual form: T Algorithm 6 with signed counters.

α is never written out: what matters of it is β[x, σ] = Σ α [label σ at observation x] and δ[σ, τ] = Σ α (pairs σ τ), which
the correct labelling raises and the decoded one lowers. Averages are those of β and δ.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from labseq_core.chain.recursions.batch import longest_among
from labseq_core.chain.recursions.maxima import viterbi_sequence
from labseq_core.compiling.routines import compiled
from labseq_core.features.encoded import EncodedSequences
from labseq_core.scoring.kernel_training import RunningKernelScores, read_scores
from labseq_core.scoring.labelling_differences import add_attribute_difference, add_pair_difference
from labseq_core.scoring.sparse_products import score_positions


@dataclass
class DualCounters:
    """Coefficients so far. Each change Δ at step c adds c·Δ to the sums: the average over C steps is counters - sums / C."""

    beta: np.ndarray  # (observations, S)
    edge: np.ndarray  # (S, S): η δ, or -inf where a pair is forbidden
    start: np.ndarray  # (S,): 0, or -inf
    eta: float
    steps: int = 0
    updates: int = 0
    delta: np.ndarray = field(init=False)  # (S, S)
    beta_sums: np.ndarray = field(init=False)
    delta_sums: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.delta = np.zeros_like(self.edge)
        self.beta_sums, self.delta_sums = np.zeros_like(self.beta), np.zeros_like(self.delta)

    def averages(self) -> tuple[np.ndarray, np.ndarray]:
        """β and δ, averaged over all steps so far."""
        return self.beta - self.beta_sums / self.steps, self.delta - self.delta_sums / self.steps


class ExplicitUpdates:
    """Scores by the weights w = Σ_j φ(z_j) β[j] of explicit features, which move with β.

    mapped: ψ of the training positions, not scaled;   scale: c of each feature, or empty.
    """

    def __init__(
        self, mapped: EncodedSequences, scale: np.ndarray, rows: np.ndarray, labels: np.ndarray, counters: DualCounters
    ):
        self.mapped, self.scale, self.labels, self.counters = mapped, scale, labels, counters
        self.rows = rows.astype(np.int32)
        self.weights = np.zeros((mapped.n_attributes, counters.edge.shape[0]))

    def visit(self, order: np.ndarray) -> tuple[int, int]:
        """Decode the sequences of `order`, correct where the truth is missed; numbers of wrong labels and sequences."""
        counters, mapped = self.counters, self.mapped
        counters.steps, wrong_labels, wrong_sequences = explicit_block(
            order, mapped.indptr, mapped.indices, mapped.values, self.scale, mapped.offsets, self.labels, self.rows,
            self.weights, counters.start, counters.edge, counters.eta, counters.beta, counters.delta,
            counters.beta_sums, counters.delta_sums, counters.steps,
        )  # fmt: skip
        counters.updates += wrong_sequences
        return wrong_labels, wrong_sequences


class GramUpdates:
    """Scores of all training observations, to which Gram rows are added when coefficients move."""

    def __init__(self, scores: RunningKernelScores, labels: np.ndarray, counters: DualCounters):
        self.scores, self.labels, self.counters = scores, labels, counters
        self._guessed = np.empty(int(np.diff(scores.offsets).max()), dtype=np.int64)

    def visit(self, order: np.ndarray) -> tuple[int, int]:
        """As for explicit features."""
        counters, wrong_labels, wrong_sequences, place = self.counters, 0, 0, 0
        scores = self.scores
        while True:
            missed = first_mistake(
                order, place, scores.offsets, self.labels, scores.rows, scores.by_label, counters.start, counters.edge,
                self._guessed,
            )  # fmt: skip
            counters.steps += missed - place
            if missed == len(order):
                counters.updates += wrong_sequences
                return wrong_labels, wrong_sequences
            wrong_labels += self._correct(order[missed])
            wrong_sequences += 1
            counters.steps += 1
            place = missed + 1

    def _correct(self, sequence: int) -> int:
        counters = self.counters
        own = slice(self.scores.offsets[sequence], self.scores.offsets[sequence + 1])
        truth, guess, rows = self.labels[own], self._guessed[: own.stop - own.start], self.scores.rows[own]
        wrong = note_mistake(
            truth, guess, rows.astype(np.int32), counters.eta, counters.steps, counters.edge,
            counters.beta, counters.delta, counters.beta_sums, counters.delta_sums,
        )  # fmt: skip
        places = np.flatnonzero(truth != guess)
        change = np.zeros((len(places), len(counters.edge)))
        change[np.arange(len(places)), truth[places]] = 1.0
        change[np.arange(len(places)), guess[places]] = -1.0
        self.scores.update(rows[places], change)
        return wrong


@compiled
def note_mistake(truth, guess, rows, eta, steps, edge, beta, delta, beta_sums, delta_sums):
    """Counters up for the correct labels and pairs, down for the decoded ones, where they differ; gives the wrong labels."""
    each, nothing = np.arange(truth.size + 1), np.empty(0)  # a position has one attribute, its observation
    add_pair_difference(truth, guess, delta, delta_sums, steps, eta, edge)
    return add_attribute_difference(each, rows, nothing, nothing, 0, truth, guess, beta, beta_sums, steps)


@compiled
def explicit_block(
    order, indptr, indices, values, scale, offsets, labels, rows, weights, start, edge, eta,
    beta, delta, beta_sums, delta_sums, steps,
):  # fmt: skip
    n_labels = edge.shape[0]
    longest = longest_among(order, 0, order.size, offsets)
    node, origin = np.empty((longest, n_labels)), np.zeros((longest, n_labels), dtype=np.int32)
    guessed, no_sums = np.empty(longest, dtype=np.int64), np.empty((0, 0))
    best, candidate, stop = np.empty(n_labels), np.empty(n_labels), np.zeros(n_labels)
    edges = edge.reshape((1, n_labels, n_labels))
    wrong_labels, wrong_sequences = 0, 0
    for i in order:
        begin, end = offsets[i], offsets[i + 1]
        truth, guess = labels[begin:end], guessed[: end - begin]
        score_positions(indptr, indices, values, weights, begin, end, node)
        viterbi_sequence(node[: end - begin], start, stop, edges, 0, guess, origin, best, candidate)
        wrong = add_attribute_difference(indptr, indices, values, scale, begin, truth, guess, weights, no_sums, steps)
        if wrong:
            note_mistake(truth, guess, rows[begin:end], eta, steps, edge, beta, delta, beta_sums, delta_sums)
        steps += 1
        wrong_labels += wrong
        wrong_sequences += wrong > 0
    return steps, wrong_labels, wrong_sequences


@compiled
def first_mistake(order, place, offsets, labels, rows, by_label, start, edge, guessed):
    """Decode from order[place] on until a labelling is wrong; gives its place, or the length of the order."""
    n_labels = edge.shape[0]
    longest = guessed.size
    node, origin = np.empty((longest, n_labels)), np.zeros((longest, n_labels), dtype=np.int32)
    best, candidate, stop = np.empty(n_labels), np.empty(n_labels), np.zeros(n_labels)
    edges = edge.reshape((1, n_labels, n_labels))
    while place < order.size:
        begin, end = offsets[order[place]], offsets[order[place] + 1]
        length = end - begin
        read_scores(by_label, rows[begin:end], node)
        viterbi_sequence(node[:length], start, stop, edges, 0, guessed[:length], origin, best, candidate)
        for t in range(length):
            if guessed[t] != labels[begin + t]:
                return place
        place += 1
    return place
