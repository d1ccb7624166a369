"""Sparse greedy kernel expansions: few coordinates are chosen by their slope, then their coefficients are fitted.

T Algorithm 8 and 5.3.3, R Algorithm 1.1. A coordinate adds to some coefficients at once: γ_(i,t,σ,τ) to β[(i,t), σ] and
δ[σ, τ], at the last position to β alone; α_(j,ȳ) to all of a labelling. Its slope is the sum of (G r_β) and η r_δ over what
it adds to, r the functional gradient: |K′ r|, not |r| (METHODS 5).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import numpy as np

from labseq_core.chain import ChainPotentials, path_statistics
from labseq_core.losses import log_loss
from labseq_core.scoring.kernel_expansion import KernelScoring
from labseq_core.solvers.history import Recorder
from labseq_core.solvers.lbfgs import minimise

LARGEST_METRIC = 64  # coordinates whose second derivatives are written out as a matrix
LARGEST_GRAM = 6000  # entries of coordinates whose inner products are
RIDGE = 1e-8  # relative to the largest second derivative: coordinates may depend on each other
FIT_TOL, FIT_ITERATIONS = 1e-2, 10  # of the coefficients of the last coordinates
REFIT_TOL, REFIT_ITERATIONS = 1e-4, 200  # and of all of them
Path = tuple[np.ndarray, np.ndarray, np.ndarray]  # a coordinate: observations, labels, pairs of labels (k, 2)


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


@dataclass
class Expansion:
    """An expansion that grows: coefficients, and the scores that they give at the training observations."""

    scoring: KernelScoring
    labels: np.ndarray
    l2: float
    beta: np.ndarray = field(init=False)  # (observations, S)
    delta: np.ndarray = field(init=False)  # (S, S)
    scores: np.ndarray = field(init=False)  # (observations, S): G β

    def __post_init__(self) -> None:
        n, n_labels = len(self.scoring.gram), self.scoring.n_labels
        self.beta, self.scores = np.zeros((n, n_labels)), np.zeros((n, n_labels))
        self.delta = np.zeros((n_labels, n_labels))
        self.squared_norm = 0.0
        given = path_statistics(self.potentials(), self.labels)
        self._given, self._given_pairs = self.scoring.coefficients(given)
        self.gradient()

    def potentials(self) -> ChainPotentials:
        return self.scoring.potentials_at(self.scores, self.delta)

    def gradient(self) -> None:
        """R, and its functional gradient r at the present coefficients, kept in `objective`, `r_beta`, `r_delta`."""
        value, statistics = log_loss(self.potentials(), self.labels)
        self.objective = value + 0.5 * self.l2 * self.squared_norm
        self.statistics, edge = self.scoring.coefficients(statistics)
        self.r_beta, self.r_delta = self.statistics + self.l2 * self.beta, edge + self.l2 * self.delta
        # Expected labels of each observation, (observations, S), and pairs of them.
        self.expected, self.expected_pairs = self.statistics + self._given, edge + self._given_pairs

    def node_slopes(self, observations: np.ndarray) -> np.ndarray:
        """(G r_β)[observations], (k, S)."""
        distinct, places = np.unique(observations, return_inverse=True)
        rows = self.scoring.gram.rows(distinct)
        return (rows @ self.statistics + self.l2 * self.scores[distinct])[places]

    def edge_slopes(self) -> np.ndarray:
        return self.scoring.eta * self.r_delta

    def fit(
        self, paths: Collection[Path], tol: float, max_iter: int, recorder: Recorder
    ) -> tuple[np.ndarray, np.ndarray]:
        """Minimise R over changes of these coordinates; the observations that changed, and by how much, (m, S)."""
        problem = _Subspace(self, Coordinates.of_paths(paths))
        found = minimise(problem.evaluate, np.zeros(len(paths)), max_iter=max_iter, tol=tol, recorder=recorder)
        change, pairs = problem.changes(found.point)
        self.squared_norm = problem.squared_norm(change, pairs)
        self.beta[problem.observations] += change
        self.scores += problem.rows.T @ change
        self.delta += pairs
        self.gradient()
        return problem.observations, change


class _Subspace:
    """R as a function of changes of some coordinates, in variables in which its second derivative is about 1."""

    def __init__(self, expansion: Expansion, chosen: Coordinates):
        self._expansion, self._chosen = expansion, chosen
        scoring = expansion.scoring
        self.observations, places = np.unique(chosen.nodes[:, 1], return_inverse=True)
        self.rows = scoring.gram.rows(self.observations)  # (m, n)
        self.within = self.rows[:, self.observations]
        n_labels = scoring.n_labels
        self._node_entry = places * n_labels + chosen.nodes[:, 2]
        self._edge_entry = chosen.edges[:, 1] * n_labels + chosen.edges[:, 2]
        self._shape = len(self.observations), n_labels
        self._root = self._metric()

    def changes(self, variables: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of β at the observations, (m, S), and of δ."""
        amounts = self._amounts(variables)
        chosen, (m, n_labels) = self._chosen, self._shape
        change = np.bincount(self._node_entry, amounts[chosen.nodes[:, 0]], m * n_labels).reshape(m, n_labels)
        pairs = np.bincount(self._edge_entry, amounts[chosen.edges[:, 0]], n_labels * n_labels)
        return change, pairs.reshape(n_labels, n_labels)

    def squared_norm(self, change: np.ndarray, pairs: np.ndarray) -> float:
        """‖f‖² after the change: ‖f‖² + 2⟨f, Δ⟩ + ‖Δ‖²."""
        expansion = self._expansion
        node = 2.0 * np.sum(change * expansion.scores[self.observations]) + np.sum(change * (self.within @ change))
        edge = np.sum(pairs * (2.0 * expansion.delta + pairs))
        return expansion.squared_norm + float(node) + expansion.scoring.eta * float(edge)

    def evaluate(self, variables: np.ndarray) -> tuple[float, np.ndarray]:
        expansion, scoring, l2 = self._expansion, self._expansion.scoring, self._expansion.l2
        change, pairs = self.changes(variables)
        scores, delta = expansion.scores + self.rows.T @ change, expansion.delta + pairs
        value, statistics = log_loss(scoring.potentials_at(scores, delta), expansion.labels)
        beta, edge = scoring.coefficients(statistics)
        node_slopes = self.rows @ beta + l2 * scores[self.observations]
        slopes = self._collected(node_slopes, scoring.eta * (edge + l2 * delta))
        return value + 0.5 * l2 * self.squared_norm(change, pairs), self._transposed(slopes)

    def _collected(self, node: np.ndarray, edge: np.ndarray) -> np.ndarray:
        """Sums over what each coordinate adds to."""
        chosen = self._chosen
        return np.bincount(chosen.nodes[:, 0], node.ravel()[self._node_entry], chosen.count) + np.bincount(
            chosen.edges[:, 0], edge.ravel()[self._edge_entry], chosen.count
        )

    def _metric(self) -> np.ndarray:
        """C⁻¹, (d, d), or its diagonal, (d,), for a C Cᵀ that is about the second derivative, up to a factor.

        Few coordinates: as if positions were independent, λ K′ + Σ_t (diag p_t - p_t p_tᵀ) seen through what the coordinates
        do to the scores at t, and expected pairs. More: K′, the inner products of functions. Many: the diagonal of the first.
        """
        expansion, chosen = self._expansion, self._chosen
        if chosen.count > LARGEST_METRIC and len(chosen.nodes) <= LARGEST_GRAM:
            return self._inverse_root(self._inner_products())
        scoring, l2, eta = expansion.scoring, expansion.l2, expansion.scoring.eta
        expected, pair_weights = expansion.expected, eta * l2 + eta * eta * np.maximum(expansion.expected_pairs, 0.0)
        count = np.bincount(scoring.rows, minlength=len(scoring.gram))
        if chosen.count > LARGEST_METRIC:
            # Entries of one coordinate at one observation and label, as if they did not meet elsewhere.
            variances = np.maximum(expected * (1.0 - expected / count[:, np.newaxis]), 0.0)
            node = np.square(self.rows) @ variances + l2 * np.diag(self.within)[:, np.newaxis]
            return 1.0 / np.sqrt(self._collected(node, pair_weights))
        effects = np.zeros((chosen.count, self._shape[1], len(scoring.gram)))  # on the scores of all observations
        np.add.at(effects, (chosen.nodes[:, 0], chosen.nodes[:, 2]), self.rows[self._node_entry // self._shape[1]])
        means = (effects * expected.T).sum(axis=1) / np.sqrt(count)  # (d, n)
        flat = effects.reshape(chosen.count, -1)
        matrix = (flat * expected.T.ravel()) @ flat.T - means @ means.T
        at_nodes = effects[:, :, self.observations].transpose(0, 2, 1).reshape(chosen.count, -1)
        spread = np.zeros((chosen.count, self._shape[0] * self._shape[1]))
        np.add.at(spread, (chosen.nodes[:, 0], self._node_entry), 1.0)
        pairs = np.zeros((chosen.count, self._shape[1] ** 2))
        np.add.at(pairs, (chosen.edges[:, 0], self._edge_entry), 1.0)
        matrix += l2 * at_nodes @ spread.T + (pairs * pair_weights.ravel()) @ pairs.T
        return self._inverse_root(0.5 * (matrix + matrix.T))

    def _inner_products(self) -> np.ndarray:
        """K′ among the coordinates, (d, d)."""
        chosen, n_labels, eta = self._chosen, self._shape[1], self._expansion.scoring.eta
        inner = np.zeros((chosen.count, chosen.count))
        for entries, owners, among in (
            (self._node_entry, chosen.nodes[:, 0], self.within),
            (self._edge_entry, chosen.edges[:, 0], None),
        ):
            groups = entries % n_labels if among is not None else entries  # only those of one label, or pair, meet
            for group in np.unique(groups):
                own = np.flatnonzero(groups == group)
                places = entries[own] // n_labels
                block = np.full((own.size, own.size), eta) if among is None else among[np.ix_(places, places)]
                np.add.at(inner, np.ix_(owners[own], owners[own]), block)
        return inner

    def _inverse_root(self, matrix: np.ndarray) -> np.ndarray:
        largest = max(float(np.diag(matrix).max()), 1e-300)
        return np.linalg.inv(np.linalg.cholesky(matrix + RIDGE * largest * np.eye(len(matrix))))

    def _amounts(self, variables: np.ndarray) -> np.ndarray:
        """Cᵀ amounts = variables."""
        return variables * self._root if self._root.ndim == 1 else variables @ self._root

    def _transposed(self, slopes: np.ndarray) -> np.ndarray:
        return slopes * self._root if self._root.ndim == 1 else self._root @ slopes


def quiet(recorder: Recorder, tell: Callable[[float], bool]) -> Recorder:
    """A recorder for a fit inside a fit: nothing of it is kept, but it can be stopped."""
    return Recorder(lambda progress: tell(progress.objective)) if recorder.callback else Recorder()
