"""Features in place of kernel values: G = Φ Φᵀ over distinct observations, exactly by conjunctions or nearly by pivots.

scores = Φ W,      W: (features, S),      k(x, z) = ⟨φ(x), φ(z)⟩      (METHODS 5, last point)
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from labseq_core.chain import ChainPotentials, ChainStatistics
from labseq_core.chain.constraints import Constraints
from labseq_core.features.encoded import gather, renumber
from labseq_core.features.transposed import even_chunks, transposed
from labseq_core.kernels import DEFAULT_MEMORY, Gram, Kernel, Observations, explicit_map
from labseq_core.kernels.observations import distinct_rows
from labseq_core.scoring.kernel_expansion import potentials_of_scores
from labseq_core.scoring.kernel_training import sums_by_row
from labseq_core.scoring.sparse_products import collect_batch, score_batch
from labseq_core.scoring.training import TrainingScores

FEW_ROWS = 64  # rows of a Gram matrix that are made sooner than features are summed up
_COLUMNS = 64  # of a dense matrix that are squared at a time


class Features(Protocol):
    """Φ over the distinct observations of training data."""

    n_features: int

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """Φ W, (observations, S)."""

    def collect(self, statistics: np.ndarray) -> np.ndarray:
        """Φᵀ statistics, (features, S)."""

    def collect_squared(self, variances: np.ndarray) -> np.ndarray:
        """The same with the squares of Φ."""


class ExplicitFeatures:
    """φ_f = √c_f ψ_f by the exact map of a kernel; features that the same observations have count as one.

    A weight W on features with one column ψ costs least when they share it by c: then it costs W²/Σ c. So they are one
    feature with the sum of their c. Most conjunctions of rare attributes are of that kind.
    """

    def __init__(self, kernel: Kernel, observations: Observations):
        self.mapping, mapped = explicit_map(kernel, observations.as_sequences(), scaled=False)
        columns = transposed(mapped.indptr, mapped.indices, mapped.values, mapped.n_attributes)
        firsts, self._group = distinct_rows(*columns[:3])
        self._scale = self.mapping.scale if self.mapping.scale.size else np.ones(mapped.n_attributes)
        self._root = np.sqrt(np.bincount(self._group, self._scale, len(firsts)))[:, np.newaxis]
        numbers = np.full(mapped.n_attributes, -1, dtype=np.int32)
        numbers[firsts] = np.arange(len(firsts), dtype=np.int32)
        self._indptr, self._indices, kept = renumber(mapped.indptr, mapped.indices, numbers)
        self._values = mapped.values[kept] if mapped.values.size else mapped.values
        self._by_feature = transposed(self._indptr, self._indices, self._values, len(firsts))
        self._chunks = even_chunks(self._indptr)

    @property
    def n_features(self) -> int:
        return len(self._root)

    def scores(self, weights: np.ndarray) -> np.ndarray:
        return self._scored(self._indptr, self._indices, self._values, weights, self._chunks)

    def scores_of(self, observations: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Some rows of `scores`."""
        entries, indptr = gather(self._indptr, observations)
        values = self._values[entries] if self._values.size else self._values
        return self._scored(indptr, self._indices[entries], values, weights, even_chunks(indptr))

    def _scored(self, indptr, indices, values, weights: np.ndarray, chunks: np.ndarray) -> np.ndarray:
        scores = np.empty((indptr.size - 1, weights.shape[1]))
        work = 2 * indices.size * weights.shape[1]
        score_batch(indptr, indices, values, self._root * weights, chunks, scores, work=work)
        return scores

    def collect(self, statistics: np.ndarray) -> np.ndarray:
        return self._collected(statistics, self._by_feature[2], self._root)

    def collect_squared(self, variances: np.ndarray) -> np.ndarray:
        values = self._by_feature[2]
        return self._collected(variances, values * values, self._root * self._root)

    def _collected(self, statistics: np.ndarray, values: np.ndarray, factor: np.ndarray) -> np.ndarray:
        pointer, rows, _, chunks = self._by_feature
        collected = np.empty((self.n_features, statistics.shape[1]))
        collect_batch(pointer, rows, values, chunks, statistics, collected, work=2 * rows.size * statistics.shape[1])
        collected *= factor
        return collected

    def weights_of_conjunctions(self, weights: np.ndarray) -> np.ndarray:
        """From weights of the features, (features, S): each conjunction takes its share."""
        shared = (weights / self._root)[self._group]
        shared *= self._scale[:, np.newaxis]
        return shared


class FeatureGram(Gram):
    """A Gram matrix whose products go through explicit features: G β = Φ (Φᵀ β). Few rows are made as they are."""

    def __init__(self, kernel: Kernel, observations: Observations, memory: int = DEFAULT_MEMORY):
        super().__init__(kernel, observations, memory // 2)  # the features have the other half
        self._features = ExplicitFeatures(kernel, observations)

    def product(self, beta: np.ndarray) -> np.ndarray:
        return self._features.scores(self._features.collect(beta))

    def row_products(self, ids: np.ndarray, beta: np.ndarray) -> np.ndarray:
        if len(ids) <= FEW_ROWS:
            return super().row_products(ids, beta)
        return self._features.scores_of(np.asarray(ids, dtype=np.int64), self._features.collect(beta))

    def add_rows(self, scores: np.ndarray, ids: np.ndarray, change: np.ndarray) -> None:
        if len(ids) <= FEW_ROWS:
            super().add_rows(scores, ids, change)
            return
        beta = np.zeros((len(self), change.shape[1]))
        np.add.at(beta, np.asarray(ids, dtype=np.int64), change)
        scores += self.product(beta).T


class DenseFeatures:
    """A matrix Φ, (observations, features)."""

    def __init__(self, matrix: np.ndarray):
        self.matrix = matrix

    @property
    def n_features(self) -> int:
        return self.matrix.shape[1]

    def scores(self, weights: np.ndarray) -> np.ndarray:
        return self.matrix @ weights

    def collect(self, statistics: np.ndarray) -> np.ndarray:
        return self.matrix.T @ statistics

    def collect_squared(self, variances: np.ndarray) -> np.ndarray:
        parts = [self.matrix[:, begin : begin + _COLUMNS] for begin in range(0, self.n_features, _COLUMNS)]
        return np.concatenate([np.square(part).T @ variances for part in parts])


class FeatureScoring(TrainingScores[np.ndarray]):
    """Scores of the training sequences by weights of features, (features, S), then of pairs of labels, (S, S), in one vector.

    edge = √η u, so that η ‖δ‖² = ‖u‖² for δ = u / √η: the length of a function is that of the vector.
    """

    def __init__(
        self,
        features: Features,
        rows: np.ndarray,
        offsets: np.ndarray,
        n_labels: int,
        eta: float = 1.0,
        constraints: Constraints | None = None,
    ):
        self.features, self.rows, self.offsets = features, rows, offsets
        self.n_labels, self.constraints = n_labels, constraints
        self._root_eta = float(np.sqrt(eta))

    def zeros(self) -> np.ndarray:
        return np.zeros((self.features.n_features + self.n_labels) * self.n_labels)

    def parts(self, vector: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights of features and of pairs of labels: views."""
        both = vector.reshape(-1, self.n_labels)
        return both[: -self.n_labels], both[-self.n_labels :]

    def delta(self, vector: np.ndarray) -> np.ndarray:
        return self.parts(vector)[1] / self._root_eta

    def potentials(self, vector: np.ndarray) -> ChainPotentials:
        return potentials_of_scores(*self._scores(vector), self.constraints, self.offsets)

    def direction(self, vector: np.ndarray) -> ChainStatistics:
        """How potentials change along a vector."""
        (node, edge), nothing = self._scores(vector), np.zeros(self.n_labels)
        return ChainStatistics(nothing, node, edge, nothing)

    def _scores(self, vector: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        weights, pairs = self.parts(vector)
        return self.features.scores(weights)[self.rows], self._root_eta * pairs

    def gradient(self, statistics: ChainStatistics) -> np.ndarray:
        by_observation = self.by_observation(statistics)
        return self._joined(self.features.collect(by_observation), self._root_eta * statistics.edge)

    def diagonal(self, variances: ChainStatistics) -> np.ndarray:
        """The same with squared features: variances of the statistics -> of the features, if positions were independent."""
        by_observation = self.by_observation(variances)
        return self._joined(self.features.collect_squared(by_observation), self._root_eta**2 * variances.edge)

    def by_observation(self, statistics: ChainStatistics) -> np.ndarray:
        """(observations, S): positions that share an observation add up."""
        return sums_by_row(statistics.node, self.rows, int(self.rows.max()) + 1)

    def _joined(self, weights: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        return np.concatenate([weights.ravel(), pairs.ravel()])
