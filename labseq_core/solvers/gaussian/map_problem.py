"""The MAP objective of Gaussian process sequence classification, in coefficients of kernels or in weights of features.

R(f) = Σ_i -log p(y^i | x^i) + (λ/2) ‖f‖²,      ‖f‖² = tr(βᵀ G β) + η ‖δ‖²      (T 5.19; METHODS 5, 7.6)

It is strongly convex in f, so the derivative r bounds what is left: R(f) - min R <= ‖r‖² / (2λ)      (T Lemma 4, corrected)
"""

from __future__ import annotations

import numpy as np

from labseq_core.chain import covariance_product, forward_backward, independent_variances
from labseq_core.checks import LabSeqError
from labseq_core.losses import log_loss
from labseq_core.scoring.kernel_features import FeatureScoring
from labseq_core.scoring.kernel_training import KernelScoring, sums_by_row
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
        self.space = KernelSpace(scoring)

    def evaluate(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        """R and r; the image of r is left for `KernelSpace.complete`."""
        value, statistics = log_loss(self.scoring.potentials(point), self.labels)
        gradient, size = self.scoring.gradient(statistics), self.scoring.size
        gradient[:size] += self.l2 * point[:size]
        return value + 0.5 * self.l2 * dot(point[:size], point[size:]), gradient

    def curvature(self, point: np.ndarray) -> GramCurvature:
        return GramCurvature(self, point)


class GramCurvature:
    """A v = λ v + C M v at a point, and the clique-block preconditioner (T 5.3.4): what goes beyond a clique is left out.

    Blocks: λI + g_tt Σ (diag p_t - p_t p_tᵀ) over the positions of an observation; λI + η Σ Cov(edge) for pairs of labels.
    """

    def __init__(self, problem: GramProblem, point: np.ndarray):
        self._scoring, self._l2 = problem.scoring, problem.l2
        self._potentials = problem.scoring.potentials(point)
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
        scoring, size = self._scoring, self._scoring.size
        product = scoring.gradient(covariance_product(self._potentials, scoring.direction(vector)))
        product[:size] += self._l2 * vector[:size]
        return product

    def precondition(self, vector: np.ndarray) -> np.ndarray:
        solved = np.empty_like(vector)
        (beta, delta), (own_beta, own_delta) = map(self._scoring.coefficients, (vector, solved))
        if self._whole_blocks:
            np.einsum("oij,oj->oi", self._node, beta, out=own_beta)
            own_delta[:] = (self._edge @ delta.ravel()).reshape(delta.shape)
        else:
            np.multiply(self._node, beta, out=own_beta)
            own_delta[:] = self._edge.reshape(delta.shape) * delta
        return solved


class FeatureProblem:
    """In weights of features and of pairs of labels: ‖f‖² is the plain square of all of them."""

    has_diagonal = True
    pairs = 10

    def __init__(self, scoring: FeatureScoring, labels: np.ndarray, l2: float):
        self.scoring, self.labels, self.l2 = scoring, labels, l2
        self.space = Euclidean()

    def evaluate(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        value, statistics = log_loss(self.scoring.potentials(point), self.labels)
        gradient = self.scoring.gradient(statistics)
        add_multiple(gradient, self.l2, point, gradient)
        return value + 0.5 * self.l2 * dot(point, point), gradient

    def observation_statistics(self, point: np.ndarray) -> np.ndarray:
        """(observations, S): expected minus given labels."""
        _, statistics = log_loss(self.scoring.potentials(point), self.labels)
        return self.scoring.by_observation(statistics)

    def diagonal(self, point: np.ndarray) -> np.ndarray:
        """That of the second derivative if positions were independent."""
        return self.scoring.diagonal(independent_variances(self.scoring.potentials(point))) + self.l2

    def curvature(self, point: np.ndarray) -> FeatureCurvature:
        return FeatureCurvature(self, point)


class FeatureCurvature:
    """A v = λ v + Φᵀ C Φ v at a point. Without preconditioner: measured, the diagonal misleads, as attributes go together."""

    def __init__(self, problem: FeatureProblem, point: np.ndarray):
        self._scoring, self._l2 = problem.scoring, problem.l2
        self._potentials = problem.scoring.potentials(point)

    def product(self, vector: np.ndarray) -> np.ndarray:
        scoring = self._scoring
        product = scoring.gradient(covariance_product(self._potentials, scoring.direction(vector)))
        return add_multiple(product, self._l2, vector, product)

    def precondition(self, vector: np.ndarray) -> np.ndarray:
        return vector.copy()
