"""Learners in a kernel: how they score by an expansion in observations, and what they save."""

from __future__ import annotations

import numpy as np

from labseq_core.archives import LoadedArrays
from labseq_core.chain.constraints import Constraints, constraints_for
from labseq_core.kernels import Kernel, Observations
from labseq_core.kernels.route import GIB
from labseq_core.learners.base import SequenceLearner
from labseq_core.scoring.kernel_expansion import KernelExpansion
from labseq_core.scoring.model import Model


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
    n_observations_: int | None

    @property
    def expansion_(self) -> Model:
        return self.model_

    @property
    def _bytes(self) -> int:
        return int(self.memory * GIB)

    def _constraints(self) -> Constraints | None:
        return constraints_for(self.constraints, self.classes_)

    def _expansion_of(self, observations: Observations, beta: np.ndarray, delta: np.ndarray) -> KernelExpansion:
        return KernelExpansion.of(self.kernel, observations, beta, delta, self.eta, **self._how())

    def _how(self) -> dict:
        """In what way the expansion scores."""
        return {
            "constraints": self._constraints(), "memory": self._bytes, "route": self.route,
            "n_observations": self.n_observations_,
        }  # fmt: skip

    def _restore(self, loaded: LoadedArrays) -> None:
        known = self.vocabulary_, len(self.classes_), self.kernel, self.eta
        self.model_ = KernelExpansion.restore(loaded, *known, **self._how())
