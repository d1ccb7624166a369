"""What a fitted method is: something that scores the labels of any sequence. Decoding, saving and pages ask nothing else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from labseq_core.chain import ChainPotentials
from labseq_core.chain.constraints import Constraints
from labseq_core.checks import LabSeqError
from labseq_core.features.encoded import EncodedSequences


@dataclass(frozen=True, eq=False)
class Parts:
    """What the node scores of a position are sums of: of each part a name, a value, and what it adds to each label."""

    kind: str  # attribute, observation (of training, by its number in the model), prior
    names: Sequence[str]
    values: np.ndarray  # (parts,)
    scores: np.ndarray  # (parts, S)

    @classmethod
    def of_attributes(cls, encoded: EncodedSequences, position: int, weights: np.ndarray) -> Parts:
        """x_t[a] W[a] of the attributes of a position."""
        own = slice(encoded.indptr[position], encoded.indptr[position + 1])
        attributes = encoded.indices[own]
        values = encoded.values[own] if encoded.values.size else np.ones(attributes.size)
        names = [encoded.vocabulary.names[attribute] for attribute in attributes.tolist()]
        return cls("attribute", names, values, values[:, np.newaxis] * weights[attributes])


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers of a model that can be shown, a column for each label: of attributes, transitions, start or stop."""

    kind: str
    names: Sequence[str]  # of the rows
    values: np.ndarray  # (rows, S)


class Model(ABC):
    """A fitted scoring function F(x, y) = Σ_t node_t(y_t) + Σ edge(y_{t-1}, y_t) + start(y_1) + stop(y_l)."""

    by_observations: ClassVar[bool] = False  # parts of a node score belong to training observations, not to attributes
    has_log_probabilities: ClassVar[bool] = False  # scores are logarithms of probabilities
    why_no_attributes: ClassVar[str] = ""  # where `tables` has none of attributes
    # What `used_share` is a share of, as a noun: features (attribute x label, or a pair of labels), kernel features (explicit
    # ones, of a kernel), training observations (distinct ones), parameters.
    used_of: ClassVar[str] = ""
    constraints: Constraints | None = None

    @abstractmethod
    def potentials(self, encoded: EncodedSequences) -> ChainPotentials:
        """Of any sequences, in the vocabulary of the training data."""

    @abstractmethod
    def arrays(self) -> dict[str, np.ndarray]:
        """What is saved; `restore` of each kind of model takes it back, checked."""

    @abstractmethod
    def parts(self, encoded: EncodedSequences, position: int) -> list[Parts]:
        """What the node scores of a position are sums of."""

    @abstractmethod
    def tables(self, attributes: Sequence[str], labels: Sequence[str]) -> list[Table]:
        """The numbers that belong to single attributes and pairs of labels; those hidden in a kernel are left out."""

    @property
    def n_parameters(self) -> int:
        """How many numbers it consists of."""
        return sum(array.size for array in self.arrays().values())

    @property
    def norm(self) -> float | None:
        """‖F‖, of the weights or in the space of the kernel; None where scores are no weights that could be scaled."""
        return None

    @property
    def absolute_sum(self) -> float | None:
        """Σ|λ| of explicit weights."""
        return None

    @property
    def used_share(self) -> float | None:
        """How much of what it could use it does use, from 0 to 1; None where it does not say."""
        return None


class OwnScores(Model):
    """Of a learner that scores in a way of its own and says nothing more about it."""

    def __init__(
        self, name: str, potentials: Callable[[EncodedSequences], ChainPotentials], arrays: dict[str, np.ndarray]
    ):
        self._name, self._potentials, self._arrays = name, potentials, arrays

    def potentials(self, encoded: EncodedSequences) -> ChainPotentials:
        return self._potentials(encoded)

    def arrays(self) -> dict[str, np.ndarray]:
        return self._arrays

    def parts(self, encoded: EncodedSequences, position: int) -> list[Parts]:
        raise LabSeqError(f"{self._name} does not say what its scores are made of")

    def tables(self, attributes: Sequence[str], labels: Sequence[str]) -> list[Table]:
        return []


def nonzero_share(*arrays: np.ndarray) -> float:
    """Numbers other than 0, of all."""
    return sum(int(np.count_nonzero(array)) for array in arrays) / sum(array.size for array in arrays)
