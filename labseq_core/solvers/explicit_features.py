"""Working sets on explicit weights: the linear kernel, or features that another stands for, without a Gram matrix."""

from __future__ import annotations

import numpy as np

from labseq_core._jit import compiled
from labseq_core.chain import ChainPotentials
from labseq_core.scoring.linear import LinearScoring, LinearWeights
from labseq_core.solvers.block_ascent import ascend
from labseq_core.solvers.curvature import dot
from labseq_core.solvers.differences import Differences, add_multiple_of, product
from labseq_core.solvers.label_sets import Candidates, LabelSets


class ExplicitFeatures:
    """`MarginFeatures` whose function is given by weights u, one for each feature in use."""

    def __init__(self, scoring: LinearScoring, truth: np.ndarray, eta: float):
        encoded, n_labels = scoring.encoded, scoring.n_labels
        self.scoring = scoring
        self.differences = Differences(encoded, truth, n_labels, eta)
        self._potentials = ChainPotentials.trusted(
            np.zeros(n_labels), np.zeros((encoded.n_positions, n_labels)), np.zeros((n_labels, n_labels)),
            np.zeros(n_labels), encoded.offsets,
        )  # fmt: skip

    @property
    def sets(self) -> LabelSets:
        return self.differences.sets

    def weights(self) -> LinearWeights:
        """The weights as they score."""
        return self.differences.fill(self.scoring.weights())

    def potentials(self, sequences: np.ndarray | None = None) -> ChainPotentials:
        if sequences is None:
            self._potentials = self.scoring.potentials(self.weights())
        else:
            self._potentials = self.scoring.rescored(self._potentials, self.weights(), sequences)
        return self._potentials

    def squared_norm(self) -> float:
        vector = self.differences.vector[: self.differences.n_used]
        return dot(vector, vector)

    def extend(self, candidates: Candidates, rescale: str | None) -> int:
        return self.differences.extend(candidates, rescale)[0]

    def sweep(self, order: np.ndarray, cap: float, upper: float, ridge: float) -> bool:
        return sweep_sets(order, self.sets, self.differences.vector, cap, upper, ridge)

    def extrapolate(self, share: float, cap: float, upper: float) -> None:
        self.differences.extrapolate(share, cap, upper)

    def take_back(self) -> None:
        self.differences.take_back()

    def scale(self, factor: float) -> None:
        self.differences.scale(factor)


@compiled
def sweep_sets(order, sets, vector, cap, upper, ridge):
    """T Algorithm 5, line 7, for each of these sequences: α of its working set to the optimum, u = Σ α g follows."""
    largest = 0
    for i in order:
        largest = max(largest, sets.bounds[i + 1] - sets.bounds[i])
    before, residual = np.empty(largest), np.empty(largest)
    for i in order:
        first, end = sets.bounds[i], sets.bounds[i + 1]
        size, total = end - first, 0.0
        for k in range(size):
            before[k] = sets.alpha[first + k]
            total += before[k]
        for k in range(size):
            residual[k] = sets.target[first + k] - product(sets, first + k, vector) - ridge * total
        gram = sets.gram[sets.gram_bounds[i] : sets.gram_bounds[i + 1]].reshape((size, size))
        if not ascend(sets.alpha[first:end], residual[:size], gram, cap, upper, ridge):
            return False
        for k in range(size):
            change = sets.alpha[first + k] - before[k]
            if change != 0.0:
                add_multiple_of(sets, first + k, change, vector)
    return True
