"""Working sets in a kernel: scores of all training observations are kept up to date while coefficients move. T 4.3.2.

The coordinates of a difference g are (observation, label) and pairs of labels: β and √η δ. What the explicit way reads off
the weights, ⟨w, g⟩, is here read off the scores Gβ, and a step of α moves the scores by the rows of G of the observations at
which its labelling differs from the truth, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from labseq_core.chain import ChainPotentials
from labseq_core.chain.constraints import Constraints
from labseq_core.checks import require
from labseq_core.compiling.routines import compiled
from labseq_core.data.alphabet import Alphabet
from labseq_core.features.encoded import NO_VALUES, EncodedSequences
from labseq_core.kernels import Gram
from labseq_core.kernels.blocks import shown_bytes
from labseq_core.scoring.atoms import add_atoms_by_rows, read_atoms, score_by_rows
from labseq_core.scoring.kernel_training import RunningKernelScores
from labseq_core.scoring.linear import LinearWeights
from labseq_core.solvers.margin.feature_differences import Differences, add_multiple_of, product, visit
from labseq_core.solvers.margin.working_sets import Candidates, LabelSets, atoms_of, gram_of

FRESH_AFTER = 200_000  # changes of scores after which they are made anew from β: rounding adds up


class GramMargins:
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
        self._n_labels, self._rows = n_labels, gram.observations.rows
        numbered = Alphabet(list(map(str, range(len(gram)))))
        # Each position has one attribute, its observation: differences of features then come in the coordinates of β.
        alone = EncodedSequences(
            np.arange(self._rows.size + 1), self._rows.astype(np.int32), NO_VALUES, offsets, numbered
        )
        self.differences = Differences(alone, truth, n_labels, eta)
        self._running = RunningKernelScores(gram, offsets, n_labels, constraints)
        self._changes = 0

    @property
    def sets(self) -> LabelSets:
        return self.differences.sets

    def weights(self) -> LinearWeights:
        """β as node weights of observations, ηδ as edges."""
        return self.differences.fill(LinearWeights.zeros(len(self._running.gram), self._n_labels, False))

    def potentials(self, sequences: np.ndarray | None = None) -> ChainPotentials:
        """All scores are always at hand."""
        return self._running.potentials(self.weights().edge)

    def squared_norm(self) -> float:
        """⟨β, Gβ⟩ + η⟨δ, δ⟩."""
        own = self.differences
        return scored_norm(own.features, own.vector, self._running.by_label)

    def extend(self, candidates: Candidates, rescale: str | None) -> int:
        """The inner products of the new differences are taken in the kernel."""
        own = self.differences
        new, first_new = own.extend(candidates, rescale)
        for sequences, stored, stored_at in self._blocks(np.unique(candidates.sequences)):
            inner_products_by_rows(
                sequences, first_new, own.sets, own.atoms, self._rows, self._n_labels, stored, stored_at, own.mark
            )
        return new

    def _blocks(self, order: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Sequences in turn, so many that the rows of G at all their positions are kept; these rows, and where they are."""
        gram, offsets = self._running.gram, self.differences.data.offsets
        if gram.is_whole:
            yield order, *gram.kept(np.unique(self.differences.features[self._observed()] // self._n_labels))
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
        for sequences, stored, stored_at in self._blocks(order):
            changes = sweep_by_scores(
                sequences, own.sets, own.atoms, own.vector, self._rows, self._running.by_label, stored, stored_at,
                cap, upper, ridge,
            )  # fmt: skip
            if changes < 0:
                return False
            self._changes += changes
        if self._changes > FRESH_AFTER:
            self._changes = 0
            self._running.refresh(self.weights().node)
        return True

    def extrapolate(self, share: float, cap: float, upper: float) -> None:
        own = self.differences
        correction = own.extrapolate(share, cap, upper)
        self._running.extrapolate(share)
        changed = np.flatnonzero((correction != 0.0) & self._observed())
        if changed.size:
            ids, place = np.unique(own.features[changed] // self._n_labels, return_inverse=True)
            amounts = np.zeros((ids.size, self._n_labels))
            amounts[place, own.features[changed] % self._n_labels] = correction[changed]
            self._running.update(ids, amounts)

    def take_back(self) -> None:
        self.differences.take_back()
        self._running.take_back()

    def scale(self, factor: float) -> None:
        self.differences.scale(factor)
        self._running.scale(factor)


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
def inner_products_by_rows(sequences, first_new, sets, atoms, rows, n_labels, stored, stored_at, mark):
    """⟨g_k, g_l⟩ of new members with all of their sets, through G. mark: zeros, and zeros again afterwards."""
    for i in sequences:
        own, gram, first = atoms_of(sets, i), gram_of(sets, i), sets.bounds[i]
        for member in range(first_new[i], sets.bounds[i + 1]):
            add_multiple_of(sets, member, 1.0, atoms, mark)
            score_by_rows(own, atoms, rows, n_labels, stored, stored_at)
            for other in range(first, member + 1):
                value = product(sets, other, atoms, mark)
                gram[member - first, other - first] = gram[other - first, member - first] = value
            for atom in own:
                atoms.amount[atom] = 0.0
            for e in range(sets.entry_begin[member], sets.entry_end[member]):
                mark[sets.index[e]] = 0.0


@compiled
def sweep_by_scores(order, sets, atoms, vector, rows, by_label, stored, stored_at, cap, upper, ridge):
    """Visits these sequences in turn; the scores Gβ follow. Gives how often they changed, or -1 where a step has no end."""
    changes = 0
    for i in order:
        own = atoms_of(sets, i)
        read_atoms(own, atoms, rows, by_label)
        if not visit(i, sets, atoms, vector, cap, upper, ridge):
            return -1
        changes += add_atoms_by_rows(own, atoms, vector, rows, by_label, stored, stored_at)
    return changes
