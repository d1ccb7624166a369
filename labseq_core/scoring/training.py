"""Training twins: the scores of given sequences while a model is still being fitted. What is fitted stands in `model`.

A solver asks for scores and writes none. What it finds out comes back by one of two ways:

    potentials    parameters                                    -> `ChainPotentials` of the sequences
    gradient      `ChainStatistics`, derivatives by potentials  -> derivatives by parameters: the transpose of `potentials`
    update        a change of a few parameters                  -> the scores that are kept follow

`TrainingScores` are for solvers that try whole vectors of parameters; they know potentials and gradient. `RunningScores` are
for solvers that go on from where they are, by a few parameters at a time; they know potentials and update.

    model                parameters                     TrainingScores                     RunningScores
    `LinearModel`        weights                        `linear.LinearScoring`             `linear.RunningWeights`
    `KernelExpansion`    coefficients of observations   `kernel_training.KernelScoring`    the others in `kernel_training`
    `ExplicitExpansion`  weights of kernel features     `kernel_features.FeatureScoring`

Loops that are compiled as a whole take the same steps from compiled routines: `sparse_products` scores positions,
`labelling_differences` moves weights from one labelling towards another (perceptrons), `atoms` does both for single labels
(margins). Models of counts are not fitted step by step: they need no twin.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

import numpy as np

from labseq_core.chain import ChainPotentials, ChainStatistics

Parameters = TypeVar("Parameters")
Where = TypeVar("Where")
Change = TypeVar("Change")


class TrainingScores(ABC, Generic[Parameters]):
    """Scores of one batch of sequences at any parameters."""

    @abstractmethod
    def potentials(self, parameters: Parameters, /) -> ChainPotentials:
        """In arrays of their own: they do not follow when the parameters are changed in place."""

    @abstractmethod
    def gradient(self, statistics: ChainStatistics) -> np.ndarray:
        """The chain rule: derivatives with respect to potentials -> with respect to parameters, one flat vector."""


class RunningScores(ABC, Generic[Where, Change]):
    """Scores of one batch of sequences at the present parameters."""

    @abstractmethod
    def potentials(self) -> ChainPotentials:
        """At the present parameters. The next update may write to the same arrays."""

    @abstractmethod
    def update(self, where: Where, change: Change, /) -> None:
        """parameters[where] += change; the scores follow."""
