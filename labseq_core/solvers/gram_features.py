"""Working sets in a kernel: scores of all training observations are kept up to date while coefficients move. T 4.3.2.

The coordinates of a difference g are (observation, label) and pairs of labels: β and √η δ. What the explicit way reads off
the weights, ⟨w, g⟩, is here read off the scores Gβ, and a step of α moves the scores by the rows of G of the observations at
which its labelling differs from the truth, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from labseq_core._checks import require
from labseq_core._jit import compiled
from labseq_core.chain import ChainPotentials
from labseq_core.chain.constraints import Constraints
from labseq_core.data.alphabet import Alphabet
from labseq_core.features.encoded import NO_VALUES, EncodedSequences
from labseq_core.kernels import Gram
from labseq_core.kernels.blocks import shown_bytes
from labseq_core.scoring.kernel_expansion import RunningScores
from labseq_core.scoring.linear import LinearScoring, LinearWeights
from labseq_core.solvers.block_ascent import ascend
from labseq_core.solvers.differences import Differences
from labseq_core.solvers.label_sets import Candidates, LabelSets

FRESH_AFTER = 200_000  # changes of scores after which they are made anew from β: rounding adds up


class GramFeatures:
    """`MarginFeatures` whose function is an expansion in observations."""

    def __init__(
        self,
        gram: Gram,
        offsets: np.ndarray,
        truth: np.ndarray,
        n_labels: int,
        eta: float,
        constraints: Constraints | None,
    ):
        longest = int(np.diff(offsets).max())
        require(
            gram.capacity >= min(longest, len(gram)),
            f"memory is {shown_bytes(gram.memory)}, which keeps kernel values of {gram.capacity} observations, but the "
            f"longest sequence has {longest}; raise memory, or train on fewer or shorter sequences",
        )
        self._rows = gram.observations.rows
        numbered = Alphabet(list(map(str, range(len(gram)))))
        # Each position has one attribute, its observation: differences of features then come in the coordinates of β.
        alone = EncodedSequences(
            np.arange(self._rows.size + 1), self._rows.astype(np.int32), NO_VALUES, offsets, numbered
        )
        self.scoring = LinearScoring(alone, n_labels, constraints=constraints)
        self.differences = Differences(alone, truth, n_labels, eta)
        self._running = RunningScores(gram, n_labels)
        self._scores_before = np.zeros_like(self._running.by_label)
        self._changes = 0

    @property
    def sets(self) -> LabelSets:
        return self.differences.sets

    def weights(self) -> LinearWeights:
        """β as node weights of observations, ηδ as edges."""
        return self.differences.fill(self.scoring.weights())

    def potentials(self, sequences: np.ndarray | None = None) -> ChainPotentials:
        """All scores are always at hand."""
        node = np.ascontiguousarray(self._running.by_label.T[self._rows])
        return self.scoring.with_transitions(node, self.weights())

    def squared_norm(self) -> float:
        """⟨β, Gβ⟩ + η⟨δ, δ⟩."""
        own = self.differences
        return scored_norm(own.features, own.vector, self._running.by_label)

    def extend(self, candidates: Candidates, rescale: str | None) -> int:
        """The inner products of the new differences are taken in the kernel."""
        new, first_new = self.differences.extend(candidates, rescale)
        image = np.empty(self.differences.n_used)
        for sequences, stored, slots in self._blocks(np.unique(candidates.sequences)):
            inner_products(sequences, first_new, self.sets, self.differences.listed, self._shape, stored, slots, image)
        return new

    @property
    def _shape(self) -> tuple[int, int]:
        """Labels and observations."""
        return self._running.by_label.shape

    def _blocks(self, order: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Sequences in turn, so many that the rows of G at all their positions are kept; these rows, and where they are."""
        gram, offsets = self._running.gram, self.differences.data.offsets
        if gram.is_whole:
            yield order, *gram.kept(np.unique(self.differences.features[self._observed()] // self._shape[0]))
            return
        begin = 0
        while begin < order.size:
            lengths = np.cumsum(offsets[order[begin:] + 1] - offsets[order[begin:]])
            end = begin + max(1, int(np.searchsorted(lengths, gram.capacity, side="right")))
            positions = [self._rows[offsets[i] : offsets[i + 1]] for i in order[begin:end]]
            yield order[begin:end], *gram.kept(np.unique(np.concatenate(positions)))
            begin = end

    def _observed(self) -> np.ndarray:
        """Which coordinates in use are those of observations, not of pairs of labels."""
        return self.differences.features < self._running.by_label.size

    def sweep(self, order: np.ndarray, cap: float, upper: float, ridge: float) -> bool:
        own = self.differences
        change = np.zeros(own.n_used)
        for sequences, stored, slots in self._blocks(order):
            changes = sweep_by_scores(
                sequences, own.sets, own.listed, own.vector, self._running.by_label, stored, slots, cap, upper, ridge, change
            )  # fmt: skip
            if changes < 0:
                return False
            self._changes += changes
        if self._changes > FRESH_AFTER:
            self._changes = 0
            self._running.by_label[:] = self._running.gram.product(self.weights().node).T
        return True

    def extrapolate(self, share: float, cap: float, upper: float) -> None:
        own, scores = self.differences, self._running.by_label
        correction = own.extrapolate(share, cap, upper)
        before, self._scores_before = self._scores_before, scores.copy()
        scores += share * (scores - before)
        changed = np.flatnonzero((correction != 0.0) & self._observed())
        if changed.size:
            n_labels = self._shape[0]
            ids, place = np.unique(own.features[changed] // n_labels, return_inverse=True)
            amounts = np.zeros((ids.size, n_labels))
            amounts[place, own.features[changed] % n_labels] = correction[changed]
            self._running.move(ids, amounts)

    def take_back(self) -> None:
        self.differences.take_back()
        self._running.by_label[:] = self._scores_before

    def scale(self, factor: float) -> None:
        self.differences.scale(factor)
        self._running.by_label *= factor
        self._scores_before *= factor


@compiled
def scored_norm(features, vector, by_label):
    """Σ_f u_f (score of f); of a pair of labels the score is u_f itself."""
    n_labels, n_observed = by_label.shape
    total = 0.0
    for j in range(features.size):
        f = features[j]
        total += vector[j] * (by_label[f % n_labels, f // n_labels] if f < n_observed * n_labels else vector[j])
    return total


@compiled
def inner_products(sequences, first_new, sets, listed, shape, stored, slots, image):
    """⟨g_k, g_l⟩ = Σ_{o, p, s} g_k[o, s] G[o, p] g_l[p, s] + pairs, of new vectors with all of their sets.

    image: room for G g_k at the coordinates that the set has.
    """
    for i in sequences:
        first, end = sets.bounds[i], sets.bounds[i + 1]
        size = end - first
        gram = sets.gram[sets.gram_bounds[i] : sets.gram_bounds[i + 1]].reshape((size, size))
        for k in range(size):
            if sets.entry_begin[first + k] >= first_new:
                take_image(sets, first, end, first + k, listed, shape, stored, slots, image)
                for other in range(size):
                    total = 0.0
                    for e in range(sets.entry_begin[first + other], sets.entry_end[first + other]):
                        total += sets.value[e] * image[sets.index[e]]
                    gram[k, other] = gram[other, k] = total


@compiled
def take_image(sets, first, end, slot, listed, shape, stored, slots, image):
    """image[j] = Σ_o g[o, s] G[o, p] at each coordinate j = (p, s) of the slots from first to end; u itself at pairs."""
    n_labels, n_observed = shape
    n_node = n_labels * n_observed
    for other in range(first, end):
        for e in range(sets.entry_begin[other], sets.entry_end[other]):
            j = sets.index[e]
            feature, total = listed[1 + j], 0.0
            for own in range(sets.entry_begin[slot], sets.entry_end[slot]):
                mine = listed[1 + sets.index[own]]
                if feature >= n_node:
                    total += sets.value[own] if mine == feature else 0.0
                elif mine < n_node and mine % n_labels == feature % n_labels:
                    total += sets.value[own] * stored[slots[mine // n_labels], feature // n_labels]
            image[j] = total


@compiled
def sweep_by_scores(order, sets, listed, vector, by_label, stored, slots, cap, upper, ridge, change):
    """T Algorithm 5, line 7, for each of these sequences: α to the optimum; u and the scores Gβ follow.

    change: zeros, and zeros again afterwards. Gives how often scores were changed, or -1 where a step has no end.
    """
    n_labels, n_observed = by_label.shape
    n_node, largest, changes = n_labels * n_observed, 0, 0
    for i in order:
        largest = max(largest, sets.bounds[i + 1] - sets.bounds[i])
    before, residual = np.empty(largest), np.empty(largest)
    for i in order:
        first, end = sets.bounds[i], sets.bounds[i + 1]
        size, total = end - first, 0.0
        for k in range(size):
            before[k] = sets.alpha[first + k]
            total += before[k]
        for k in range(size):
            product = 0.0
            for e in range(sets.entry_begin[first + k], sets.entry_end[first + k]):
                j = sets.index[e]
                feature = listed[1 + j]
                score = by_label[feature % n_labels, feature // n_labels] if feature < n_node else vector[j]
                product += sets.value[e] * score
            residual[k] = sets.target[first + k] - product - ridge * total
        gram = sets.gram[sets.gram_bounds[i] : sets.gram_bounds[i + 1]].reshape((size, size))
        if not ascend(sets.alpha[first:end], residual[:size], gram, cap, upper, ridge):
            return -1
        for k in range(size):
            amount = sets.alpha[first + k] - before[k]
            if amount != 0.0:
                for e in range(sets.entry_begin[first + k], sets.entry_end[first + k]):
                    change[sets.index[e]] += amount * sets.value[e]
        for k in range(size):
            if sets.alpha[first + k] != before[k]:
                for e in range(sets.entry_begin[first + k], sets.entry_end[first + k]):
                    j = sets.index[e]
                    amount, feature = change[j], listed[1 + j]
                    if amount != 0.0:
                        change[j] = 0.0
                        vector[j] += amount
                        if feature < n_node:
                            changes += 1
                            add_row(by_label, feature % n_labels, stored, slots[feature // n_labels], amount)
    return changes


@compiled
def add_row(by_label, label, stored, slot, amount):
    """by_label[label] += amount · G[o]."""
    for j in range(by_label.shape[1]):
        by_label[label, j] += amount * stored[slot, j]
