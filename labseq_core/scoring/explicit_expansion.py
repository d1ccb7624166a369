"""Scores by explicit features of a kernel: the model that a fit through `ExplicitFeatures` gives.

node[t, s] = ⟨φ(x_t), W[:, s]⟩,      edge = η δ      (METHODS 5, last point)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from labseq_core.archives import LoadedArrays
from labseq_core.chain import ChainPotentials
from labseq_core.chain.constraints import Constraints
from labseq_core.checks import require
from labseq_core.data.alphabet import Alphabet
from labseq_core.features.encoded import EncodedSequences
from labseq_core.kernels import ExplicitMap, Kernel, Observations
from labseq_core.kernels.explicit import explicit_size
from labseq_core.scoring.kernel_expansion import observation_arrays, potentials_of_scores, restored_observations
from labseq_core.scoring.kernel_features import ExplicitFeatures
from labseq_core.scoring.linear import LinearModel, LinearWeights
from labseq_core.scoring.model import Model, Parts, Table, nonzero_share


@dataclass(frozen=True)
class ExplicitExpansion(Model):
    """A function given by weights of the explicit features that training observations have."""

    kernel: Kernel
    observations: Observations  # of training: they say which conjunctions there are
    weights: np.ndarray  # (features, S), as of `ExplicitFeatures`
    delta: np.ndarray  # (S, S): delta[from, to]
    eta: float = 1.0
    constraints: Constraints | None = None
    features: ExplicitFeatures | None = None  # where they have been made already

    why_no_attributes: ClassVar[str] = "this model has weights of conjunctions, not of attributes"

    def potentials(self, encoded: EncodedSequences) -> ChainPotentials:
        mapping, weights = self._by_conjunction
        node = LinearModel(weights).potentials(mapping.apply(encoded, scaled=False)).node
        return potentials_of_scores(node, self.eta * self.delta, self.constraints, encoded.offsets)

    @cached_property
    def _by_conjunction(self) -> tuple[ExplicitMap, LinearWeights]:
        features = self.features or ExplicitFeatures(self.kernel, self.observations)
        node, nothing = features.weights_of_conjunctions(self.weights), np.zeros(len(self.delta))
        return features.mapping, LinearWeights(node, node, self.delta, nothing, nothing)

    def arrays(self) -> dict[str, np.ndarray]:
        return {"weights": self.weights, "delta": self.delta, **observation_arrays(self.observations)}

    @classmethod
    def restore(
        cls, loaded: LoadedArrays, vocabulary: Alphabet, n_labels: int, kernel: Kernel, eta: float, memory: int, **more
    ) -> Self:
        """From `arrays`; memory: bytes that the features may take, as in training; more: the other fields."""
        observations = restored_observations(loaded, vocabulary)
        size = explicit_size(kernel, observations.as_sequences())
        require(
            size is None or size.n_bytes(n_labels) <= memory, "its features take more memory than its options allow"
        )
        features = ExplicitFeatures(kernel, observations)
        weights, delta = (
            loaded.floats("weights", features.n_features, n_labels),
            loaded.floats("delta", n_labels, n_labels),
        )
        return cls(kernel, observations, weights, delta, eta, features=features, **more)

    def parts(self, encoded: EncodedSequences, position: int) -> list[Parts]:
        mapping, weights = self._by_conjunction
        return [Parts.of_attributes(mapping.apply(encoded, scaled=False), position, weights.node)]

    def tables(self, attributes: Sequence[str], labels: Sequence[str]) -> list[Table]:
        return [Table("transition", labels, self.eta * self.delta)]

    @property
    def n_parameters(self) -> int:
        return self.weights.size + self.delta.size

    @property
    def norm(self) -> float:
        return float(np.sqrt(np.sum(self.weights**2) + self.eta * np.sum(self.delta**2)))

    used_of: ClassVar[str] = "kernel features"

    @property
    def used_share(self) -> float:
        return nonzero_share(self.weights, self.delta)
