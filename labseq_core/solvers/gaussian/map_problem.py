"""The MAP objective of Gaussian process sequence classification, in coefficients of kernels or in weights of features.

R(f) = Σ_i -log p(y^i | x^i) + (λ/2) ‖f‖²,      ‖f‖² = tr(βᵀ G β) + η ‖δ‖²      (T 5.19; METHODS 5, 7.6)

It is strongly convex in f, so the derivative r bounds what is left: R(f) - min R <= ‖r‖² / (2λ)      (T Lemma 4, corrected)
"""

from __future__ import annotations

import numpy as np

from labseq_core.chain import ChainPotentials, ChainStatistics, covariance_product, forward_backward
from labseq_core.chain.constraints import Constraints
from labseq_core.checks import LabSeqError
from labseq_core.losses import log_loss
from labseq_core.scoring.kernel_expansion import KernelScoring, potentials_of_scores, sums_by_row
from labseq_core.scoring.kernel_features import Features
from labseq_core.solvers.gaussian.kernel_space import KernelSpace
from labseq_core.solvers.smooth.lbfgs import Euclidean
from labseq_core.solvers.smooth.lbfgs_memory import add_multiple, dot

LARGEST_BLOCK = 32  # labels: with more, only the diagonals of the preconditioner's blocks are used


class GramProblem:
    """In coefficients (β, δ) with their images, see `KernelSpace`; gradients are functional ones: r = λ (β, δ) + statistics."""

    has_diagonal = False
    pairs = 30  # that L-BFGS remembers: they cost little beside a product with the Gram matrix

    def __init__(self, scoring: KernelScoring, labels: np.ndarray, l2: float):
        self.scoring, self.labels, self.l2 = scoring, labels, l2
        self.space = KernelSpace(scoring.gram, scoring.n_labels, scoring.eta)

    def start(self) -> np.ndarray:
        return self.space.zeros()

    def potentials(self, point: np.ndarray) -> ChainPotentials:
        size = self.space.size
        scores, _ = self.space.parts(point[size:])
        return self.scoring.potentials_at(scores, self.space.parts(point[:size])[1])

    def evaluate(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        """R and r; the image of r is left for `KernelSpace.complete`."""
        value, statistics = log_loss(self.potentials(point), self.labels)
        gradient = self._vector(statistics)
        size = self.space.size
        gradient[:size] += self.l2 * point[:size]
        return value + 0.5 * self.l2 * dot(point[:size], point[size:]), gradient

    def _vector(self, statistics: ChainStatistics) -> np.ndarray:
        vector = self.space.zeros()  # the image may stay so: sums with it must be numbers
        beta, delta = self.space.parts(vector[: self.space.size])
        beta[:], delta[:] = self.scoring.coefficients(statistics)
        return vector

    def curvature(self, point: np.ndarray) -> GramCurvature:
        return GramCurvature(self, point)


class GramCurvature:
    """A v = λ v + C M v at a point, and the clique-block preconditioner (T 5.3.4): what goes beyond a clique is left out.

    Blocks: λI + g_tt Σ (diag p_t - p_t p_tᵀ) over the positions of an observation; λI + η Σ Cov(edge) for pairs of labels.
    """

    def __init__(self, problem: GramProblem, point: np.ndarray):
        self._problem, self._space = problem, problem.space
        self._potentials = problem.potentials(point)
        scoring, l2 = problem.scoring, problem.l2
        n_labels, diagonal = scoring.n_labels, scoring.gram.diagonal()
        self._whole_blocks = n_labels <= LARGEST_BLOCK
        per_position = self._potentials.with_edge_per_position() if self._whole_blocks else self._potentials
        marginals = forward_backward(per_position).statistics
        node = marginals.node
        if self._whole_blocks:
            outer = (node[:, :, np.newaxis] * node[:, np.newaxis, :]).reshape(len(node), -1)
            blocks = -sums_by_row(outer, scoring.rows, len(diagonal)).reshape(-1, n_labels, n_labels)
            every = np.arange(n_labels)
            blocks[:, every, every] += sums_by_row(node, scoring.rows, len(diagonal))
            try:
                self._node = np.linalg.inv(l2 * np.eye(n_labels) + diagonal[:, np.newaxis, np.newaxis] * blocks)
            except np.linalg.LinAlgError:
                cause = f"kernel values up to {diagonal.max():.2g} leave no digits for l2 = {l2:g}"
                raise LabSeqError(f"{cause}; scale the attributes, use Normalized(kernel), or raise l2") from None
            pairs = marginals.edge.reshape(len(node), -1)
            covariance = np.diag(pairs.sum(axis=0)) - pairs.T @ pairs
            self._edge = np.linalg.inv(l2 * np.eye(n_labels * n_labels) + scoring.eta * covariance)
        else:
            variances = sums_by_row(node * (1.0 - node), scoring.rows, len(diagonal))
            self._node = 1.0 / (l2 + diagonal[:, np.newaxis] * variances)
            self._edge = 1.0 / (l2 + scoring.eta * marginals.edge.ravel())

    def product(self, vector: np.ndarray) -> np.ndarray:
        size, space = self._space.size, self._space
        scores, edge = space.parts(vector[size:])
        nothing = np.zeros(space.n_labels)
        direction = ChainStatistics(nothing, scores[self._problem.scoring.rows], edge, nothing)
        product = self._problem._vector(covariance_product(self._potentials, direction))
        product[:size] += self._problem.l2 * vector[:size]
        return product

    def precondition(self, vector: np.ndarray) -> np.ndarray:
        solved = np.empty_like(vector)
        size, space = self._space.size, self._space
        (beta, delta), (own_beta, own_delta) = space.parts(vector[:size]), space.parts(solved[:size])
        if self._whole_blocks:
            np.einsum("oij,oj->oi", self._node, beta, out=own_beta)
            own_delta[:] = (self._edge @ delta.ravel()).reshape(delta.shape)
        else:
            np.multiply(self._node, beta, out=own_beta)
            own_delta[:] = self._edge.reshape(delta.shape) * delta
        return solved


class FeatureProblem:
    """In weights of features, (features, S), then of pairs of labels, (S, S): ‖f‖² is the plain square of all of them.

    edge = √η u, so that η ‖δ‖² = ‖u‖² for δ = u / √η.
    """

    has_diagonal = True
    pairs = 10

    def __init__(
        self,
        features: Features,
        rows: np.ndarray,
        offsets: np.ndarray,
        labels: np.ndarray,
        n_labels: int,
        l2: float,
        eta: float,
        constraints: Constraints | None,
    ):
        self.features, self.rows, self.offsets, self.labels = features, rows, offsets, labels
        self.n_labels, self.l2, self.constraints = n_labels, l2, constraints
        self.root_eta = float(np.sqrt(eta))
        self.space = Euclidean()

    def start(self) -> np.ndarray:
        return np.zeros((self.features.n_features + self.n_labels) * self.n_labels)

    def parts(self, flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights of features and of pairs of labels: views."""
        both = flat.reshape(-1, self.n_labels)
        return both[: -self.n_labels], both[-self.n_labels :]

    def delta(self, point: np.ndarray) -> np.ndarray:
        return self.parts(point)[1] / self.root_eta

    def potentials(self, point: np.ndarray) -> ChainPotentials:
        weights, pairs = self.parts(point)
        return self._potentials(self.features.scores(weights), pairs)

    def _potentials(self, scores: np.ndarray, pairs: np.ndarray) -> ChainPotentials:
        return potentials_of_scores(scores[self.rows], self.root_eta * pairs, self.constraints, self.offsets)

    def evaluate(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        value, statistics = log_loss(self.potentials(point), self.labels)
        gradient = self._collected(statistics)
        add_multiple(gradient, self.l2, point, gradient)
        return value + 0.5 * self.l2 * dot(point, point), gradient

    def observation_statistics(self, point: np.ndarray) -> np.ndarray:
        """(observations, S): expected minus given labels."""
        _, statistics = log_loss(self.potentials(point), self.labels)
        return self._by_observation(statistics.node)

    def _by_observation(self, node: np.ndarray) -> np.ndarray:
        return sums_by_row(node, self.rows, int(self.rows.max()) + 1)

    def _collected(self, statistics: ChainStatistics) -> np.ndarray:
        vector = np.empty((self.features.n_features + self.n_labels) * self.n_labels)
        weights, pairs = self.parts(vector)
        weights[:] = self.features.collect(self._by_observation(statistics.node))
        pairs[:] = self.root_eta * statistics.edge
        return vector

    def diagonal(self, point: np.ndarray) -> np.ndarray:
        """That of the second derivative if positions were independent."""
        expected = forward_backward(self.potentials(point)).statistics
        vector = np.empty((self.features.n_features + self.n_labels) * self.n_labels)
        weights, pairs = self.parts(vector)
        weights[:] = self.features.collect_squared(self._by_observation(expected.node * (1.0 - expected.node)))
        pairs[:] = self.root_eta**2 * expected.edge
        vector += self.l2
        return vector

    def curvature(self, point: np.ndarray) -> FeatureCurvature:
        return FeatureCurvature(self, point)


class FeatureCurvature:
    """A v = λ v + Φᵀ C Φ v at a point. Without preconditioner: measured, the diagonal misleads, as attributes go together."""

    def __init__(self, problem: FeatureProblem, point: np.ndarray):
        self._problem = problem
        self._potentials = problem.potentials(point)

    def product(self, vector: np.ndarray) -> np.ndarray:
        problem = self._problem
        weights, pairs = problem.parts(vector)
        nothing = np.zeros(problem.n_labels)
        scores = problem.features.scores(weights)[problem.rows]
        direction = ChainStatistics(nothing, scores, problem.root_eta * pairs, nothing)
        product = problem._collected(covariance_product(self._potentials, direction))
        return add_multiple(product, problem.l2, vector, product)

    def precondition(self, vector: np.ndarray) -> np.ndarray:
        return vector.copy()
