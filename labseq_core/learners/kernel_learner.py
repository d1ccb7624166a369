"""Learners in a kernel: how they score by an expansion in observations, and what they save."""

from __future__ import annotations

import numpy as np

from labseq_core.chain import ChainPotentials
from labseq_core.chain.constraints import Constraints, constraints_for
from labseq_core.features import EncodedSequences
from labseq_core.kernels import Kernel, Observations
from labseq_core.kernels.route import GIB
from labseq_core.learners.base import SequenceLearner
from labseq_core.scoring.kernel_expansion import KernelExpansion


class KernelLearner(SequenceLearner):
    """`expansion_` holds coefficients of observations (observations, S) and of pairs of labels (S, S).

    Attributes
    ----------
    expansion_ : KernelExpansion
        Observations and their coefficients: a score is a sum of kernel values.
    """

    kernel: Kernel
    eta: float
    constraints: str | None
    route: str
    memory: float
    expansion_: KernelExpansion

    @property
    def _bytes(self) -> int:
        return int(self.memory * GIB)

    def _constraints(self) -> Constraints | None:
        return constraints_for(self.constraints, self.classes_)

    def _expansion_of(self, observations: Observations, beta: np.ndarray, delta: np.ndarray) -> KernelExpansion:
        return KernelExpansion.of(self.kernel, observations, beta, delta, self.eta, **self._how())

    def _how(self) -> dict:
        """In what way the expansion scores."""
        return {"constraints": self._constraints(), "memory": self._bytes, "route": self.route}

    def _potentials_of(self, encoded: EncodedSequences) -> ChainPotentials:
        return self.expansion_.potentials(encoded)

    @property
    def n_parameters_(self) -> int:
        """Coefficients of observations and of pairs of labels."""
        expansion = self._fitted("expansion_")
        return expansion.beta.size + expansion.delta.size

    def _arrays(self) -> dict[str, np.ndarray]:
        return self.expansion_.arrays()

    def _restore(self, arrays: dict[str, np.ndarray]) -> None:
        self.expansion_ = KernelExpansion.restore(arrays, self.kernel, self.vocabulary_, self.eta, **self._how())
