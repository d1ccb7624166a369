"""Boosting on label sequences: T 3.3.2, 3.7; B 5."""

from __future__ import annotations

from labseq_core.learners.boosting.base import BOUND, LENGTH_DECAY, PATIENCE, ROUNDS, SMOOTHING, BoostingLearner
from labseq_core.learners.options import CONSTRAINTS


class SequenceBoost(BoostingLearner):
    """Minimises Σ_i π^{l_i} (1/p(y^i | x^i) - 1), a bound on the number of labellings that beat the truth, one feature a
    round, by bounds on what a step does to it.

    Examples
    --------
    >>> from labseq_core import SequenceBoost
    >>> X = [["the", "dog", "barks"], ["a", "dog", "sleeps"], ["the", "cat", "sleeps"]]
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]]
    >>> model = SequenceBoost(rounds=20).fit(X, y)
    >>> model.predict([["a", "cat", "barks"]])
    [['D', 'N', 'V']]
    >>> model.n_rounds_
    20
    >>> list(model.rounds_.columns[:3])
    ['round', 'feature', 'kind']
    """

    method_id = "boost"
    title = "Sequence boosting"
    summary = (
        "AdaBoost on whole sequences: each round takes the one feature that helps most, so the model stays sparse."
    )
    where = "thesis 3.3.2, Algorithms 3 and 4"
    probabilistic = True
    options = (BOUND, ROUNDS, SMOOTHING, LENGTH_DECAY, PATIENCE, CONSTRAINTS)

    def __init__(
        self,
        bound: str = "exact",
        rounds: int = 500,
        smoothing: float = 1e-4,
        length_decay: float = 1.0,
        patience: int = 100,
        constraints: str | None = None,
    ):
        self.bound = bound
        self.rounds = rounds
        self.smoothing = smoothing
        self.length_decay = length_decay
        self.patience = patience
        self.constraints = constraints


class LogitBoost(BoostingLearner):
    """Minimises Σ_i -log p(y^i | x^i) one feature a round.

    A step Δ changes it by Σ_i log E_p[e^{Δu}] <= Σ_i log(s_i e^{Δ L_i} + (1 - s_i) e^{Δ U_i}), s_i under p. Features are
    ranked by log z <= z - 1 of that, which has the form of the boosting bounds; the step minimises the sum of logarithms
    (tight) or the loss itself (exact).

    Examples
    --------
    >>> from labseq_core import LogitBoost
    >>> X = [["the", "dog", "barks"], ["a", "dog", "sleeps"], ["the", "cat", "sleeps"]]
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]]
    >>> model = LogitBoost(rounds=20).fit(X, y)
    >>> model.predict([["a", "cat", "barks"]])
    [['D', 'N', 'V']]
    >>> model.n_rounds_
    20
    >>> list(model.rounds_.columns[:3])
    ['round', 'feature', 'kind']
    """

    method_id = "logitboost"
    title = "Sequence LogitBoost"
    summary = "Boosting of the log loss: the loss of a CRF, one feature a round."
    where = "thesis 3.7, as future work"
    probabilistic = True
    inverse_probability = False
    options = (BOUND, ROUNDS, SMOOTHING, PATIENCE, CONSTRAINTS)

    def __init__(
        self,
        bound: str = "exact",
        rounds: int = 500,
        smoothing: float = 1e-4,
        patience: int = 100,
        constraints: str | None = None,
    ):
        self.bound = bound
        self.rounds = rounds
        self.smoothing = smoothing
        self.patience = patience
        self.constraints = constraints
