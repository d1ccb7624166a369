"""What a loss is, and what is to be known of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from labseq_core.chain import ChainPotentials, ChainStatistics


@dataclass(frozen=True)
class Loss:
    """A function of potentials and labels that is minimised, with all that is to be known of it.

    function(potentials, labels) gives its value, summed over sequences, and its derivative with respect to the potentials.
    """

    name: str  # CRF(loss=name)
    function: Callable[..., tuple[float, ChainStatistics]]
    formula: str
    # The method that a CRF is with it.
    method_id: str
    title: str
    summary: str
    where: str  # chapter and section in the documents
    pointwise: bool = False  # made for labels that are decoded one by one, each the most probable (T Prop. 2)
    # How it is minimised.
    convex: bool = True  # if not, restarts from a perturbed optimum can help
    has_length_decay: bool = False  # the function takes log_weights too, (sequences,): the logarithm of π^l of each
    curves_like_log: bool = False  # the curvature of the log loss may precondition the solver
    may_overflow: bool = True  # at the first weights; then these are tried before the solver is
    # For the estimated time.
    iterations: int = 110  # that a solver usually takes
    seconds: float = 4e-9  # for a unit of work in each, see `learners/cost.py`

    def __call__(self, potentials: ChainPotentials, labels: np.ndarray) -> tuple[float, ChainStatistics]:
        return self.function(potentials, labels)

    def weighted(self, log_weights: np.ndarray) -> Loss:
        """The same with a weight for each sequence."""
        return replace(self, function=partial(self.function, log_weights=log_weights))
