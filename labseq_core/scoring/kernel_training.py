"""Training twins of kernel expansions: scores of sequences while coefficients of observations are fitted. METHODS 4, 5.

node[t, s] = Σ_j k(x_t, z_j) β[j, s],      edge = η δ,      z_j the distinct training observations
"""

from __future__ import annotations

import numpy as np

from labseq_core.chain import ChainPotentials, ChainStatistics
from labseq_core.chain.constraints import Constraints
from labseq_core.compiling.routines import compiled
from labseq_core.features.encoded import EncodedSequences
from labseq_core.kernels import Gram, Observations, cross_product
from labseq_core.scoring.kernel_expansion import potentials_of_scores
from labseq_core.scoring.training import RunningScores, TrainingScores


class KernelScoring(TrainingScores[np.ndarray]):
    """Scores of the training sequences themselves, through their Gram matrix.

    A function is a flat vector (β, δ, Gβ, ηδ), β: (observations, S), δ: (S, S): coefficients, then their images. Sums of
    functions have their images for nothing, and potentials take no product with the Gram matrix.
    """

    def __init__(
        self,
        gram: Gram,
        offsets: np.ndarray,
        n_labels: int,
        eta: float = 1.0,
        constraints: Constraints | None = None,
    ):
        self.gram, self.offsets, self.n_labels = gram, offsets, n_labels
        self.eta, self.constraints = eta, constraints
        self.rows = gram.observations.rows  # (positions,): the observation of each position
        self.size = (len(gram) + n_labels) * n_labels  # of a vector without its image

    def zeros(self) -> np.ndarray:
        return np.zeros(2 * self.size)

    def coefficients(self, vector: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """β and δ: views."""
        return self._parts(vector[: self.size])

    def images(self, vector: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gβ and ηδ: views."""
        return self._parts(vector[self.size :])

    def _parts(self, half: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        both = half.reshape(-1, self.n_labels)
        return both[: -self.n_labels], both[-self.n_labels :]

    def potentials(self, vector: np.ndarray) -> ChainPotentials:
        return self.potentials_at(self.images(vector)[0], self.coefficients(vector)[1])

    def potentials_at(self, scores: np.ndarray, delta: np.ndarray) -> ChainPotentials:
        """From Gβ, (observations, S), and δ."""
        return potentials_of_scores(scores[self.rows], self.eta * delta, self.constraints, self.offsets)

    def direction(self, vector: np.ndarray) -> ChainStatistics:
        """How potentials change along a function."""
        (scores, edge), nothing = self.images(vector), np.zeros(self.n_labels)
        return ChainStatistics(nothing, scores[self.rows], edge, nothing)

    def gradient(self, statistics: ChainStatistics) -> np.ndarray:
        """By the inner product of functions, so that the derivative is a function too (METHODS 5), without its image.

        Positions that share an observation share its coefficients, so their statistics add up.
        """
        vector = self.zeros()  # the image may stay so: sums with it must be numbers
        beta, delta = self.coefficients(vector)
        add_by_row(np.ascontiguousarray(statistics.node), self.rows, beta)
        delta[:] = statistics.edge
        return vector


class RunningKernelScores(RunningScores[np.ndarray, np.ndarray]):
    """Scores of all training observations, to which rows of the Gram matrix are added. Pairs of labels are the caller's."""

    def __init__(self, gram: Gram, offsets: np.ndarray, n_labels: int, constraints: Constraints | None = None):
        self.gram, self.offsets, self.rows = gram, offsets, gram.observations.rows
        self._constraints = constraints
        self.by_label = np.zeros((n_labels, len(gram)))  # Gβ: [label, observation], as compiled loops take it
        self._before = np.zeros(self.by_label.shape)

    def potentials(self, edge: np.ndarray | None = None) -> ChainPotentials:
        n_labels = len(self.by_label)
        edge = np.zeros((n_labels, n_labels)) if edge is None else edge
        return potentials_of_scores(self.by_label.T[self.rows], edge, self._constraints, self.offsets)

    def update(self, observations: np.ndarray, change: np.ndarray) -> None:
        """β[observations] += change, (k, S)."""
        self.gram.add_rows(self.by_label, observations, change)

    def refresh(self, beta: np.ndarray) -> None:
        """Scores from coefficients: rounding adds up over many updates."""
        self.by_label[:] = self.gram.product(beta).T

    def extrapolate(self, share: float) -> None:
        """Go on in the direction of what happened since the last call by this share of it."""
        before, self._before = self._before, self.by_label.copy()
        self.by_label += share * (self.by_label - before)

    def take_back(self) -> None:
        """Back to where the last `extrapolate` started."""
        self.by_label[:] = self._before

    def scale(self, factor: float) -> None:
        """Multiply the function."""
        self.by_label *= factor
        self._before *= factor


class GrowingExpansion(RunningScores[np.ndarray, np.ndarray]):
    """Coefficients of which a few change at a time, and what they give: scores of the training observations, ‖f‖²."""

    def __init__(self, scoring: KernelScoring):
        self.scoring = scoring
        shape, n_labels = (len(scoring.gram), scoring.n_labels), scoring.n_labels
        self.beta, self.scores = np.zeros(shape), np.zeros(shape)  # β and Gβ, (observations, S)
        self.delta = np.zeros((n_labels, n_labels))
        self.squared_norm = 0.0

    def potentials(self) -> ChainPotentials:
        return self.scoring.potentials_at(self.scores, self.delta)

    def effect(
        self, observations: np.ndarray, change: np.ndarray, pairs: np.ndarray | float
    ) -> tuple[np.ndarray, float]:
        """What an update does to the scores, (observations, S), and what ‖f‖² is after it."""
        by_label = np.zeros(self.scores.T.shape)
        self.scoring.gram.add_rows(by_label, observations, change)
        scores = by_label.T
        # ‖f + Δ‖² = ‖f‖² + ⟨Δ, 2 f + Δ⟩
        node = np.sum(change * (2.0 * self.scores[observations] + scores[observations]))
        edge = np.sum(pairs * (2.0 * self.delta + pairs))
        return scores, self.squared_norm + float(node) + self.scoring.eta * float(edge)

    def update(self, observations: np.ndarray, change: np.ndarray, pairs: np.ndarray | float = 0.0) -> None:
        """β[observations] += change, (k, S), each observation once; δ += pairs."""
        scores, self.squared_norm = self.effect(observations, change, pairs)
        self.beta[observations] += change
        self.scores += scores
        self.delta += pairs


class CrossKernelScores(RunningScores[np.ndarray, np.ndarray]):
    """Scores of other sequences than those of training, while coefficients of training observations change."""

    def __init__(self, training: GrowingExpansion, encoded: EncodedSequences, memory: int):
        self._scoring, self._offsets, self._memory = training.scoring, encoded.offsets, memory
        self._own = Observations.of(encoded)
        self._scores, self._delta = np.zeros((len(self._own), self._scoring.n_labels)), np.zeros_like(training.delta)

    def potentials(self) -> ChainPotentials:
        scoring = self._scoring
        edge = scoring.eta * self._delta
        return potentials_of_scores(self._scores[self._own.rows], edge, scoring.constraints, self._offsets)

    def update(self, observations: np.ndarray, change: np.ndarray, pairs: np.ndarray | float = 0.0) -> None:
        """As of `GrowingExpansion`."""
        gram = self._scoring.gram
        changed = gram.observations.take(observations)
        self._scores += cross_product(gram.kernel, self._own, changed, change, self._memory)
        self._delta += pairs


def sums_by_row(values: np.ndarray, rows: np.ndarray, n_rows: int) -> np.ndarray:
    """(n_rows, S): the sum of those values, (positions, S), whose position has the row."""
    sums = np.zeros((n_rows, values.shape[1]))
    add_by_row(np.ascontiguousarray(values), rows, sums)
    return sums


@compiled
def add_by_row(values, rows, sums):
    for t in range(rows.size):
        row = sums[rows[t]]
        for s in range(row.size):
            row[s] += values[t, s]


@compiled
def read_scores(by_label, rows, node):
    """node[t] = the scores of the observation rows[t]: `RunningKernelScores` of a sequence for compiled loops."""
    for t in range(rows.size):
        for s in range(by_label.shape[0]):
            node[t, s] = by_label[s, rows[t]]
