"""Working sets in a kernel: scores of all training observations are kept up to date while coefficients move. T 4.3.2.

The coordinates of a difference g are (observation, label) and pairs of labels: β and √η δ. What the explicit way reads off
the weights, ⟨w, g⟩, is here read off the scores Gβ, and a step of α moves the scores by the rows of G of the observations at
which its labelling differs from the truth, and nothing else.
"""

from __future__ import annotations

import numpy as np

from labseq_core._jit import compiled
from labseq_core.chain import ChainPotentials
from labseq_core.chain.constraints import Constraints
from labseq_core.data.alphabet import Alphabet
from labseq_core.features.encoded import NO_VALUES, EncodedSequences
from labseq_core.kernels import Gram
from labseq_core.scoring.kernel_expansion import RunningScores
from labseq_core.scoring.linear import LinearScoring
from labseq_core.solvers.block_ascent import VANISHING, ascend, project
from labseq_core.solvers.explicit_features import ExplicitFeatures
from labseq_core.solvers.label_sets import Candidates

FRESH_AFTER = 200_000  # changes of scores after which they are made anew from β: rounding adds up


class GramFeatures(ExplicitFeatures):
    """The same interface as `ExplicitFeatures`; `weights()` are β as node weights of observations and ηδ as edges."""

    def __init__(
        self,
        gram: Gram,
        offsets: np.ndarray,
        truth: np.ndarray,
        n_labels: int,
        eta: float,
        constraints: Constraints | None,
    ):
        rows = gram.observations.rows
        numbered = Alphabet(list(map(str, range(len(gram)))))
        # Each position has one attribute, its observation: differences of features then come in the coordinates of β.
        alone = EncodedSequences(np.arange(rows.size + 1), rows.astype(np.int32), NO_VALUES, offsets, numbered)
        super().__init__(LinearScoring(alone, n_labels, constraints=constraints), truth, eta)
        self._running = RunningScores(gram, n_labels)
        self._rows = rows
        self._scores_before = np.zeros_like(self._running.by_label)
        self._changes = 0

    @property
    def _n_observed(self) -> int:
        return self._running.by_label.shape[1]

    def potentials(self, sequences: np.ndarray | None = None) -> ChainPotentials:
        """Scores of all sequences; they are always at hand."""
        node = np.ascontiguousarray(self._running.by_label.T[self._rows])
        return self.scoring.with_transitions(node, self.weights())

    def squared_norm(self) -> float:
        """⟨β, Gβ⟩ + η⟨δ, δ⟩."""
        used = slice(1, 1 + self._used)
        return scored_norm(self._features[used], self._vector[: self._used], self._running.by_label)

    def extend(self, candidates: Candidates, rescale: str | None) -> int:
        """As in `ExplicitFeatures`, with the inner products of the new differences taken in the kernel."""
        new = super().extend(candidates, rescale)
        for i in np.unique(candidates.sequences).tolist():
            self._inner_products(i)
        return new

    def _inner_products(self, i: int) -> None:
        """⟨g_k, g_l⟩ = Σ_{o, p, s} g_k[o, s] G[o, p] g_l[p, s] + pairs, of one working set."""
        sets, n_labels = self.sets, self.data.n_labels
        first, end = int(sets.bounds[i]), int(sets.bounds[i + 1])
        if first == end:
            return
        entries = [slice(int(sets.entry_begin[k]), int(sets.entry_end[k])) for k in range(first, end)]
        features = np.unique(np.concatenate([self._features[1 + sets.index[own]] for own in entries]))
        dense = np.zeros((end - first, features.size))
        for row, own in enumerate(entries):
            dense[row, np.searchsorted(features, self._features[1 + sets.index[own]])] = sets.value[own]
        observed = features < self._n_observed * n_labels
        pairs = dense[:, ~observed]
        found = pairs @ pairs.T
        ids, place = np.unique(features[observed] // n_labels, return_inverse=True)
        block = self._running.gram.between(ids, ids)
        label = features[observed] % n_labels
        for s in np.unique(label).tolist():
            own = np.flatnonzero(label == s)
            part = dense[:, np.flatnonzero(observed)[own]]
            found += part @ block[np.ix_(place[own], place[own])] @ part.T
        sets.gram[sets.gram_bounds[i] : sets.gram_bounds[i + 1]] = found.ravel()

    def sweep(self, order: np.ndarray, cap: float, upper: float, ridge: float) -> bool:
        sets, largest = self.sets, int(np.diff(self.sets.bounds).max(initial=0))
        residual, change = np.empty(largest), np.zeros_like(self._vector)
        touched = np.empty(self._touched.size * max(1, largest), dtype=np.int64)
        for i in order.tolist():
            count = visit_set(
                i,
                sets,
                self._features,
                self._vector,
                self._running.by_label,
                cap,
                upper,
                ridge,
                residual,
                change,
                touched,
            )
            if count < 0:
                return False
            if count:
                self._move(touched[:count], change)
        self._refresh_scores()
        return True

    def _move(self, touched: np.ndarray, change: np.ndarray) -> None:
        """Scores follow the coefficients; change is zero again afterwards."""
        n_labels = self.data.n_labels
        coordinates = np.unique(touched)
        features = self._features[1 + coordinates]
        observed = features < self._n_observed * n_labels
        ids, place = np.unique(features[observed] // n_labels, return_inverse=True)
        if ids.size:
            amounts = np.zeros((ids.size, n_labels))
            np.add.at(amounts, (place, features[observed] % n_labels), change[coordinates[observed]])
            self._running.move(ids, amounts)
        change[coordinates] = 0.0
        self._changes += 1

    def _refresh_scores(self) -> None:
        if self._changes > FRESH_AFTER:
            self._changes = 0
            self._running.by_label[:] = self._running.gram.product(self.weights().node).T

    def extrapolate(self, share: float, cap: float, upper: float) -> None:
        here, scores = self._vector[: self._used].copy(), self._running.by_label
        moved = here + share * (here - self._previous[: self._used])
        self._previous[: self._used] = here
        self._vector[: self._used] = moved
        scores_here = scores.copy()
        scores += share * (scores - self._scores_before)
        self._scores_before = scores_here
        change, touched = np.zeros_like(self._vector), np.empty(max(1, self.sets.index.size), dtype=np.int64)
        count = extrapolate_alphas(self.sets, self._vector, change, touched, share, cap, upper)
        if count:
            self._move(touched[:count], change)

    def take_back(self) -> None:
        super().take_back()
        self._running.by_label[:] = self._scores_before

    def scale(self, factor: float) -> None:
        super().scale(factor)
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
def visit_set(i, sets, features, vector, by_label, cap, upper, ridge, residual, change, touched):
    """α of one working set to its optimum; coefficients follow, and what changed is listed. -1: a step has no end."""
    n_labels, n_observed = by_label.shape
    first, size, total = sets.bounds[i], sets.bounds[i + 1] - sets.bounds[i], 0.0
    before = sets.alpha[first : first + size].copy()
    for k in range(size):
        total += before[k]
    for k in range(size):
        product = 0.0
        for e in range(sets.entry_begin[first + k], sets.entry_end[first + k]):
            f = features[1 + sets.index[e]]
            score = by_label[f % n_labels, f // n_labels] if f < n_observed * n_labels else vector[sets.index[e]]
            product += sets.value[e] * score
        residual[k] = sets.target[first + k] - product - ridge * total
    gram = sets.gram[sets.gram_bounds[i] : sets.gram_bounds[i + 1]].reshape((size, size))
    if not ascend(sets.alpha[first : first + size], residual[:size], gram, cap, upper, ridge):
        return -1
    count = 0
    for k in range(size):
        amount = sets.alpha[first + k] - before[k]
        if amount != 0.0:
            count = add_difference(sets, first + k, amount, vector, change, touched, count)
    return count


@compiled
def add_difference(sets, slot, amount, vector, change, touched, count):
    """vector += amount · g, change too; its coordinates are listed."""
    for e in range(sets.entry_begin[slot], sets.entry_end[slot]):
        vector[sets.index[e]] += amount * sets.value[e]
        change[sets.index[e]] += amount * sets.value[e]
        touched[count] = sets.index[e]
        count += 1
    return count


@compiled
def extrapolate_alphas(sets, vector, change, touched, share, cap, upper):
    """As `extrapolate_sets`: α + share (α - before), projected; what projection takes back is listed."""
    largest, count = 0, 0
    for i in range(sets.bounds.size - 1):
        largest = max(largest, sets.bounds[i + 1] - sets.bounds[i])
    free, point, work = np.empty(largest), np.empty(largest), np.empty(largest)
    for i in range(sets.bounds.size - 1):
        first, size, moved, scale = sets.bounds[i], sets.bounds[i + 1] - sets.bounds[i], False, 0.0
        for k in range(size):
            here = sets.alpha[first + k]
            free[k] = point[k] = here + share * (here - sets.before[first + k])
            moved = moved or free[k] != here
            scale = max(scale, here)
            sets.before[first + k] = here
        if not moved:
            continue
        project(point[:size], cap, upper, work)
        for k in range(size):
            if point[k] < VANISHING * scale:
                point[k] = 0.0
            sets.alpha[first + k] = point[k]
            if point[k] != free[k]:
                count = add_difference(sets, first + k, point[k] - free[k], vector, change, touched, count)
    return count
