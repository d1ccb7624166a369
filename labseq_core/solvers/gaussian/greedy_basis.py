"""Sparse greedy kernel expansions: few coordinates are chosen by their slope, then their coefficients are fitted.

T Algorithm 8 and 5.3.3, R Algorithm 1.1. A coordinate adds to some coefficients at once: γ_(i,t,σ,τ) to β[(i,t), σ] and
δ[σ, τ], at the last position to β alone; α_(j,ȳ) to all of a labelling. Its slope is the sum of (G r_β) and η r_δ over what
it adds to, r the functional gradient: |K′ r|, not |r| (METHODS 5).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from labseq_core.chain import path_statistics
from labseq_core.losses import log_loss
from labseq_core.progress import Recorder
from labseq_core.scoring.kernel_training import GrowingExpansion, KernelScoring
from labseq_core.solvers.smooth.lbfgs import minimise

LARGEST_METRIC = 64  # coordinates whose second derivatives are written out as a matrix
LARGEST_BLOCK = 6000  # rows of a matrix of their inner products, or of the kernel values it is made of
ROWS_AT_A_TIME = 256  # of the Gram matrix, where they are squared
RIDGE = 1e-8  # relative to the largest second derivative: coordinates may depend on each other
Path = tuple[np.ndarray, np.ndarray, np.ndarray]  # a coordinate: observations, labels, pairs of labels (k, 2)


class Stopping(NamedTuple):
    """When a fit of coefficients is good enough."""

    tol: float
    max_iter: int


# Of the last coordinates, of all while more are to come, of all in the end.
STEP, ROUGH, WELL = Stopping(0.1, 2), Stopping(1e-2, 10), Stopping(1e-4, 200)


@dataclass(frozen=True)
class Coordinates:
    """Some coordinates, entry by entry: which of them adds 1 to which coefficient."""

    nodes: np.ndarray  # (entries, 3): coordinate, observation, label
    edges: np.ndarray  # (entries, 3): coordinate, from, to
    count: int

    @classmethod
    def of_paths(cls, paths: Collection[Path]) -> Coordinates:
        nodes = [(k, o, s) for k, (rows, labels, _) in enumerate(paths) for o, s in zip(rows, labels)]
        edges = [(k, *pair) for k, (_, _, pairs) in enumerate(paths) for pair in pairs]
        as_array = lambda entries: np.array(entries, dtype=np.int64).reshape(-1, 3)  # noqa: E731
        return cls(as_array(nodes), as_array(edges), len(paths))


class Expansion(GrowingExpansion):
    """An expansion that grows, with the objective R and its functional gradient r at the present coefficients."""

    def __init__(self, scoring: KernelScoring, labels: np.ndarray, l2: float):
        super().__init__(scoring)
        self.labels, self.l2 = labels, l2
        self.count = np.bincount(scoring.rows, minlength=len(scoring.gram))  # positions of each observation
        given = scoring.gradient(path_statistics(self.potentials(), labels))
        self._given, self._given_pairs = scoring.coefficients(given)
        self.differentiate()

    def differentiate(self) -> None:
        """R and r anew, in `objective`, `r_beta`, `r_delta`."""
        value, statistics = log_loss(self.potentials(), self.labels)
        self.objective = value + 0.5 * self.l2 * self.squared_norm
        self.statistics, edge = self.scoring.coefficients(self.scoring.gradient(statistics))
        self.r_beta, self.r_delta = self.statistics + self.l2 * self.beta, edge + self.l2 * self.delta
        # Expected labels of each observation, (observations, S), and pairs of them.
        self.expected, self.expected_pairs = self.statistics + self._given, edge + self._given_pairs

    def node_slopes(self, observations: np.ndarray) -> np.ndarray:
        """(G r_β)[observations], (k, S)."""
        return self.scoring.gram.row_products(observations, self.statistics) + self.l2 * self.scores[observations]

    def edge_slopes(self) -> np.ndarray:
        return self.scoring.eta * self.r_delta

    def fit(self, paths: Collection[Path], how: Stopping, recorder: Recorder) -> tuple[np.ndarray, ...]:
        """Minimise R over changes of these coordinates; gives what changed, as `update` takes it."""
        problem = _Subspace(self, Coordinates.of_paths(paths))
        minimum = minimise(problem.evaluate, np.zeros(len(paths)), **how._asdict(), recorder=recorder)
        changes = problem.observations, *problem.changes(minimum.point)
        self.update(*changes)
        self.differentiate()
        return changes


class _Subspace:
    """R as a function of changes of some coordinates, in variables in which its second derivative is about 1."""

    def __init__(self, expansion: Expansion, chosen: Coordinates):
        self._expansion, self._chosen = expansion, chosen
        scoring = expansion.scoring
        self.observations, places = np.unique(chosen.nodes[:, 1], return_inverse=True)
        self._node_entry = places * scoring.n_labels + chosen.nodes[:, 2]
        self._edge_entry = chosen.edges[:, 1] * scoring.n_labels + chosen.edges[:, 2]
        self._roots = self._metric()

    def changes(self, variables: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of β at the observations, (m, S), and of δ."""
        chosen, amounts = self._chosen, np.empty_like(variables)
        m, n_labels = len(self.observations), self._expansion.scoring.n_labels
        for own, root in self._roots:
            amounts[own] = variables[own] * root if root.ndim == 1 else variables[own] @ root
        change = np.bincount(self._node_entry, amounts[chosen.nodes[:, 0]], m * n_labels).reshape(m, n_labels)
        pairs = np.bincount(self._edge_entry, amounts[chosen.edges[:, 0]], n_labels * n_labels)
        return change, pairs.reshape(n_labels, n_labels)

    def evaluate(self, variables: np.ndarray) -> tuple[float, np.ndarray]:
        expansion, scoring, l2 = self._expansion, self._expansion.scoring, self._expansion.l2
        change, pairs = self.changes(variables)
        moved, squared_norm = expansion.effect(self.observations, change, pairs)
        scores, delta = expansion.scores + moved, expansion.delta + pairs
        value, statistics = log_loss(scoring.potentials_at(scores, delta), expansion.labels)
        beta, edge = scoring.coefficients(scoring.gradient(statistics))
        node_slopes = scoring.gram.row_products(self.observations, beta) + l2 * scores[self.observations]
        slopes = self._collected(node_slopes, scoring.eta * (edge + l2 * delta))
        gradient = np.empty_like(slopes)
        for own, root in self._roots:
            gradient[own] = slopes[own] * root if root.ndim == 1 else root @ slopes[own]
        return value + 0.5 * l2 * squared_norm, gradient

    def _collected(self, node: np.ndarray, edge: np.ndarray) -> np.ndarray:
        """Sums over what each coordinate adds to."""
        chosen = self._chosen
        return np.bincount(chosen.nodes[:, 0], node.ravel()[self._node_entry], chosen.count) + np.bincount(
            chosen.edges[:, 0], edge.ravel()[self._edge_entry], chosen.count
        )

    def _metric(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """By blocks of coordinates: which, and C⁻¹, (d, d), or its diagonal; C Cᵀ is about the second derivative, or like it.

        Few coordinates: as if positions were independent. More: K′, the inner products of functions. It is zero between
        coordinates that begin with different labels, so each label is a block. Too many: the diagonal of the first.
        """
        every = np.arange(self._chosen.count)
        if self._chosen.count <= LARGEST_METRIC:
            return [(every, _inverse_root(self._second_derivatives()))]
        blocks, with_a_label = self._blocks(), np.bincount(self._chosen.nodes[:, 2])
        if max(with_a_label.max(), *map(len, blocks)) > LARGEST_BLOCK:
            return [(every, 1.0 / np.sqrt(self._curvatures()))]
        return [(own, _inverse_root(self._inner_products(own))) for own in blocks]

    def _blocks(self) -> list[np.ndarray]:
        """Coordinates by label, if each has but one."""
        owners, _, labels = self._chosen.nodes.T
        if len(owners) > self._chosen.count:
            return [np.arange(self._chosen.count)]
        return [owners[labels == label] for label in np.unique(labels)]

    def _inner_products(self, own: np.ndarray) -> np.ndarray:
        """K′ among some of the coordinates, (d, d)."""
        chosen, scoring = self._chosen, self._expansion.scoring
        place = np.full(chosen.count, -1)
        place[own] = np.arange(own.size)
        inner = np.zeros((own.size, own.size))
        nodes, edges = (entries[place[entries[:, 0]] >= 0] for entries in (chosen.nodes, chosen.edges))
        for label in np.unique(nodes[:, 2]):
            owners, observations, _ = nodes[nodes[:, 2] == label].T
            add_at(inner, place[owners], scoring.gram.between(observations, observations))
        pairs = edges[:, 1] * scoring.n_labels + edges[:, 2]
        for pair in np.unique(pairs):
            owners = edges[pairs == pair, 0]
            add_at(inner, place[owners], np.full((owners.size, owners.size), scoring.eta))
        return inner

    def _pair_curvatures(self) -> np.ndarray:
        """λη + η² E[pairs], (S, S)."""
        eta, expansion = self._expansion.scoring.eta, self._expansion
        return eta * expansion.l2 + eta * eta * np.maximum(expansion.expected_pairs, 0.0)

    def _curvatures(self) -> np.ndarray:
        """Of each coordinate, (d,), as if its entries did not meet elsewhere."""
        expansion, gram = self._expansion, self._expansion.scoring.gram
        variances = expansion.expected * (1.0 - expansion.expected / expansion.count[:, np.newaxis])
        parts = np.array_split(self.observations, 1 + len(self.observations) // ROWS_AT_A_TIME)
        squares = np.concatenate([np.square(gram.rows(part)) @ np.maximum(variances, 0.0) for part in parts])
        node = squares + expansion.l2 * gram.diagonal()[self.observations, np.newaxis]
        return self._collected(node, self._pair_curvatures())

    def _second_derivatives(self) -> np.ndarray:
        """λ K′ + Σ_t (diag p_t - p_t p_tᵀ) seen through what the coordinates do to the scores at t, and pairs; (d, d)."""
        expansion, chosen, scoring = self._expansion, self._chosen, self._expansion.scoring
        d, n_labels = chosen.count, scoring.n_labels
        # What each coordinate does to the scores of one label at all observations, (effects, n).
        kinds, place = np.unique(chosen.nodes[:, [0, 2]], axis=0, return_inverse=True)
        change, effects = np.zeros((len(self.observations), len(kinds))), np.zeros((len(kinds), len(scoring.gram)))
        np.add.at(change, (self._node_entry // n_labels, place.ravel()), 1.0)
        scoring.gram.add_rows(effects, self.observations, change)
        owners, labels = kinds.T
        expected = effects * expansion.expected.T[labels]
        alike = expansion.l2 * effects[:, self.observations] @ change + expected @ effects.T
        alike[labels[:, np.newaxis] != labels] = 0.0
        matrix = np.zeros((d, d))
        add_at(matrix, owners, alike - (expected / expansion.count) @ expected.T)
        pairs = np.zeros((d, n_labels**2))
        np.add.at(pairs, (chosen.edges[:, 0], self._edge_entry), 1.0)
        matrix += (pairs * self._pair_curvatures().ravel()) @ pairs.T
        return 0.5 * (matrix + matrix.T)


def add_at(matrix: np.ndarray, places: np.ndarray, block: np.ndarray) -> None:
    """matrix[places, places] += block; a place may stand there more than once."""
    np.add.at(matrix, np.ix_(places, places), block)


def _inverse_root(matrix: np.ndarray) -> np.ndarray:
    """C⁻¹ for C Cᵀ = matrix."""
    largest = max(float(np.diag(matrix).max()), 1e-300)
    return np.linalg.inv(np.linalg.cholesky(matrix + RIDGE * largest * np.eye(len(matrix))))


def quiet(recorder: Recorder, tell: Callable[[float], bool]) -> Recorder:
    """A recorder for a fit inside a fit: nothing of it is kept, but it can be stopped."""
    return Recorder(lambda progress: tell(progress.objective)) if recorder.callback else Recorder()
