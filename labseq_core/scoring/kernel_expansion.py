"""Scores as kernel expansions: coefficients -> potentials. T 2.9, 2.12; METHODS 4, 5. Training twins: `kernel_training`.

node[t, s] = Σ_j k(x_t, z_j) β[j, s],      edge = η δ,      z_j the distinct training observations
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from labseq_core.archives import LoadedArrays
from labseq_core.chain import ChainPotentials, ChainStatistics
from labseq_core.chain.constraints import Constraints
from labseq_core.checks import require
from labseq_core.data.alphabet import Alphabet
from labseq_core.features.encoded import EncodedSequences
from labseq_core.kernels import (
    DEFAULT_MEMORY,
    ExplicitMap,
    Kernel,
    Observations,
    cross_blocks,
    cross_product,
    explicit_map,
)
from labseq_core.kernels.observations import SparseRows
from labseq_core.kernels.route import predicts_by_features
from labseq_core.scoring.linear import LinearModel, LinearScoring, LinearWeights
from labseq_core.scoring.model import Model, Parts, Table


@dataclass(frozen=True)
class KernelExpansion(Model):
    """A fitted expansion: the observations with coefficients, and the coefficients.

    route: "gram" evaluates the kernel between new and support observations; "explicit" turns the coefficients into weights
    of explicit features once and then scores linearly; "auto" takes the cheaper one.
    """

    kernel: Kernel
    support: Observations
    beta: np.ndarray  # (support observations, S)
    delta: np.ndarray  # (S, S): delta[from, to]
    eta: float = 1.0
    constraints: Constraints | None = None
    memory: int = DEFAULT_MEMORY
    route: str = "auto"
    n_observations: int | None = None  # distinct ones in training, of which these have coefficients

    by_observations: ClassVar[bool] = True
    used_of: ClassVar[str] = "training observations"
    why_no_attributes: ClassVar[str] = (
        "this model has a kernel, so it has no weights of attributes; look at its support sequences"
    )

    @classmethod
    def of(
        cls, kernel: Kernel, observations: Observations, beta: np.ndarray, delta: np.ndarray, eta: float = 1.0, **more
    ) -> Self:
        """From coefficients of all training observations: those without any are dropped."""
        support = np.flatnonzero(beta.any(axis=1))
        return cls(kernel, observations.take(support), beta[support], delta, eta, **more)

    @property
    def n_labels(self) -> int:
        return len(self.delta)

    def potentials(self, encoded: EncodedSequences) -> ChainPotentials:
        """Of any sequences, in the vocabulary of the training data."""
        if len(self.support) == 0:
            node = np.zeros((encoded.n_positions, self.n_labels))
        elif self._explicit is not None:
            mapping, weights = self._explicit
            node = LinearModel(weights).potentials(mapping.apply(encoded, scaled=False)).node
        else:
            new = Observations.of(encoded)
            node = cross_product(self.kernel, new, self.support, self.beta, self.memory)[new.rows]
        return potentials_of_scores(node, self.eta * self.delta, self.constraints, encoded.offsets)

    @cached_property
    def _explicit(self) -> tuple[ExplicitMap, LinearWeights] | None:
        """w_f = c_f Σ_j ψ_f(z_j) β[j], if explicit features are the way to go."""
        if not predicts_by_features(self.kernel, self.support, self.route, self.memory, self.n_labels):
            return None
        mapping, mapped = explicit_map(self.kernel, self.support.as_sequences(), scaled=False)
        scoring, nothing = LinearScoring(mapped, self.n_labels), np.zeros(self.n_labels)
        weights = scoring.weights(scoring.gradient(ChainStatistics(nothing, self.beta, self.delta, nothing)))
        if mapping.scale.size:
            weights.node[:] *= mapping.scale[:, np.newaxis]
        return mapping, weights

    def arrays(self) -> dict[str, np.ndarray]:
        return {"beta": self.beta, "delta": self.delta, **observation_arrays(self.support)}

    @classmethod
    def restore(
        cls, loaded: LoadedArrays, vocabulary: Alphabet, n_labels: int, kernel: Kernel, eta: float, **more
    ) -> Self:
        """From `arrays`; more: the other fields."""
        support = restored_observations(loaded, vocabulary)
        beta, delta = loaded.floats("beta", len(support), n_labels), loaded.floats("delta", n_labels, n_labels)
        all_of_training = more.get("n_observations")
        require(
            all_of_training is None or all_of_training >= max(1, len(support)),
            "n_observations_ is less than the observations that it has",
        )
        return cls(kernel, support, beta, delta, eta, **more)

    def parts(self, encoded: EncodedSequences, position: int) -> list[Parts]:
        if len(self.support) == 0:
            return []
        here = Observations.of_positions(encoded).take(np.array([position]))
        values = next(iter(cross_blocks(self.kernel, here, self.support, self.memory)))[1][0]
        names = [f"training observation {number}" for number in range(1, len(self.support) + 1)]
        return [Parts("observation", names, values, values[:, np.newaxis] * self.beta)]

    def tables(self, attributes: Sequence[str], labels: Sequence[str]) -> list[Table]:
        return [Table("transition", labels, self.eta * self.delta)]

    @property
    def n_parameters(self) -> int:
        return self.beta.size + self.delta.size

    @property
    def norm(self) -> float:
        """‖F‖² = ‖node part‖² + η ‖δ‖², with edge = η δ: the length that training keeps small."""
        node = 0.0
        if len(self.support):
            products = cross_product(self.kernel, self.support, self.support, self.beta, self.memory)
            node = float(np.sum(self.beta * products))
        return float(np.sqrt(max(node, 0.0) + self.eta * np.sum(self.delta**2)))

    @property
    def used_share(self) -> float | None:
        return None if self.n_observations is None else len(self.support) / self.n_observations


def observation_arrays(observations: Observations) -> dict[str, np.ndarray]:
    """Distinct observations as they are saved with a model."""
    vectors = observations.vectors
    return {
        "support_indptr": vectors.indptr, "support_indices": vectors.indices, "support_values": vectors.values,
    }  # fmt: skip


def restored_observations(loaded: LoadedArrays, vocabulary: Alphabet) -> Observations:
    """From `observation_arrays`: within a row attributes are in order, each once."""
    indptr = loaded.pointers("support_indptr")
    indices = loaded.indices("support_indices", len(vocabulary), int(indptr[-1]), np.int32)
    values = loaded.floats("support_values", None)
    require(values.size in (0, indices.size), "support_values does not fit support_indices")
    rises = np.diff(indices) > 0
    rises[indptr[1:-1][(indptr[1:-1] > 0) & (indptr[1:-1] < indices.size)] - 1] = True  # where a row begins
    require(bool(rises.all()), "support_indices is not in order")
    require(bool(values.all()), "support_values holds zeros")
    vectors = SparseRows(indptr, indices, values, len(vocabulary))
    return Observations(vectors, np.arange(len(vectors)), vocabulary)


def potentials_of_scores(
    node: np.ndarray, edge: np.ndarray, constraints: Constraints | None, offsets: np.ndarray
) -> ChainPotentials:
    """Node scores, (positions, S), and edge scores, (S, S), with what is forbidden."""
    start = np.zeros(len(edge))
    if constraints is not None:
        start, edge = constraints.apply(start, edge)
    return ChainPotentials.trusted(start, np.ascontiguousarray(node), edge, np.zeros(len(edge)), offsets)
