"""Learners in a kernel: how they choose a route, score by an expansion in observations, and what they save."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from labseq_core.chain import ChainPotentials
from labseq_core.chain.constraints import Constraints, constraints_for
from labseq_core.checks import require
from labseq_core.features import EncodedSequences
from labseq_core.kernels import ExplicitSize, Kernel, Linear, Observations, explicit_size
from labseq_core.kernels.blocks import shown_bytes
from labseq_core.learners.base import SequenceLearner
from labseq_core.learners.kernel_options import GIB
from labseq_core.scoring.kernel_expansion import KernelExpansion


def require_room_for_features(size: ExplicitSize, needed: int, memory: float) -> None:
    """needed: bytes; memory: in GiB."""
    require(
        needed <= memory * GIB,
        f"memory is {memory} GiB, but {size.features} explicit features need about {shown_bytes(needed)}; raise memory, or "
        "use route='gram'",
    )


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

    def _explicit_or_gram(self, encoded: EncodedSequences, explicit_is_faster: Callable[[ExplicitSize], bool]) -> str:
        """The route asked for, or what is faster of what exists and fits into memory; the linear kernel needs no values."""
        if self.route == "gram" or self.kernel == Linear():
            return "gram" if self.route == "gram" else "explicit"
        size = explicit_size(self.kernel, encoded)
        needed = None if size is None else size.n_bytes(len(self.classes_))
        if self.route == "explicit":
            if size is not None:  # without any the map says so
                require_room_for_features(size, needed, self.memory)
            return "explicit"
        return "explicit" if needed is not None and needed <= self._bytes and explicit_is_faster(size) else "gram"

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
