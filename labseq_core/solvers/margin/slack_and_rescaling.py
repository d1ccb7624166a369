"""What a margin asks for: which labellings violate it, what that costs, and what the duals bound. T 4.2, METHODS 4, L.

A rule is a kind of slack and a rescaling. With g = scale · (Ψ(x, y*) - Ψ(x, y)) and a target b all of them ask for
⟨w, g⟩ >= b - ξ:

    rescale      b        scale
    None         1        1          F(y*) - F(y) >= 1 - ξ
    margin       Δ(y)     1          F(y*) - F(y) >= Δ(y) - ξ
    slack        Δ(y)     Δ(y)       F(y*) - F(y) >= 1 - ξ / Δ(y)

    slack        primal: ½‖w‖² +            dual: Σ α b - ½‖Σ α g‖²
    none         nothing; ξ = 0             α >= 0
    l1           C Σ_i ξ_i                  Σ_y α <= C
    l2           C Σ_i ξ_i²                 - Σ_i (Σ_y α)² / 4C
    labelling    C Σ_i Σ_y ξ_i(y)           α <= C

These α are in the units of g: with slack rescaling those of T 4.20 are scale times as large.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from labseq_core.chain import (
    ChainPotentials,
    LabellingsInOrder,
    RivalLists,
    diverse_rivals,
    path_scores,
    rest_of,
    slack_rescaled_rivals,
)
from labseq_core.checks import require
from labseq_core.solvers.margin.working_sets import Candidates

SLACKS = ("none", "l1", "l2", "labelling")
RESCALES = (None, "margin", "slack")
CLOSE = 0.9  # further labellings of a sequence are of use if they violate the margin by nearly as much as the worst


@dataclass(frozen=True)
class Violations:
    """How far some sequences are from their margin."""

    sequences: np.ndarray  # which
    largest: np.ndarray  # of b - ⟨w, g⟩ over labellings, for each of them; below 0 where all margins hold
    losses: np.ndarray  # what their slacks cost for C = 1; an upper bound where not exact
    exact: bool
    candidates: Candidates  # labellings that violate the margin


@dataclass(frozen=True)
class MarginRule:
    slack: str  # one of SLACKS
    rescale: str | None  # one of RESCALES
    C: float
    max_labellings: int  # as many are looked at in a sequence where each labelling has its slack

    def __post_init__(self) -> None:
        impossible = self.slack == "none" and self.rescale == "slack"
        require(
            not impossible, "slack='none' has no slack to rescale; use rescale='margin' or None, or slack='l1', 'l2'"
        )

    @property
    def cap(self) -> float:
        return self.C if self.slack == "l1" else np.inf

    @property
    def upper(self) -> float:
        return self.C if self.slack == "labelling" else np.inf

    @property
    def ridge(self) -> float:
        return 0.5 / self.C if self.slack == "l2" else 0.0

    def violations(
        self, potentials: ChainPotentials, truth: np.ndarray, sequences: np.ndarray, wanted: int
    ) -> Violations:
        """Looks for the labelling that violates the margin most in these sequences, and for others that do by nearly as much,
        so many in all; for all labellings that violate it where each has its slack.
        """
        if self.slack == "labelling":
            return self._all_violations(potentials, truth, sequences)
        if self.rescale == "slack":
            worst = slack_rescaled_rivals(potentials, truth, sequences)
            largest, bounds = worst.scores, worst.bounds
            some = sequences[largest > 0.0]
            candidates = Candidates.whole(some, worst.labels, potentials.offsets)
            if wanted > 1 and some.size:
                # F > F(y*) - 1 is what violates this margin, at any distance.
                least = path_scores(potentials, truth) - 1.0
                others = diverse_rivals(potentials, truth, some, k=wanted - 1, least=least, share=CLOSE)
                candidates = candidates.and_those_of(_listed(others, some, least[some], potentials.offsets))
        else:
            # x = F + b - F(y*), b = Δ as the loss of decoding or 1
            loss = float(self.rescale == "margin")
            least = path_scores(potentials, truth) - (1.0 - loss)
            rivals = diverse_rivals(potentials, truth, sequences, k=wanted, loss=loss, least=least, share=CLOSE)
            largest = bounds = rivals.scores[:, 0] - least[sequences]
            candidates = _listed(rivals, sequences, least[sequences], potentials.offsets)
        losses = np.maximum(bounds, 0.0)
        exact = bool((largest >= bounds).all())
        return Violations(sequences, largest, losses**2 if self.slack == "l2" else losses, exact, candidates)

    def _all_violations(self, potentials: ChainPotentials, truth: np.ndarray, sequences: np.ndarray) -> Violations:
        """All labellings that violate the margin, in descending order, up to max_labellings a sequence.

        With x = b - ⟨w, g⟩ of rescaling None or margin, those that are left out have x <= x_K of the last one that was not,
        and x_+ <= κ e^{x - 1}, κ = x_K e^{1 - x_K} if x_K < 1, else 1. Their sum of e^{x - 1} is that of all labellings
        but the truth (1/p - 1 of it where there is no rescaling) minus that of the ones looked at.
        """
        batch = potentials.loss_augmented(truth) if self.rescale == "margin" else potentials
        least = 0.0 if self.rescale == "margin" else 1.0  # x = F + least - F(y*), F with losses for margin rescaling
        own = path_scores(batch, truth)
        n, exact = sequences.size, True
        largest, losses = np.full(n, -np.inf), np.zeros(n)
        of, begins, labels, begin = [], [], [], 0
        for place, i in enumerate(sequences.tolist()):
            right = truth[potentials.offsets[i] : potentials.offsets[i + 1]]
            rows, scores = LabellingsInOrder(batch[i], own[i] - least).take(self.max_labellings + 2)
            wrong = (rows != right).sum(axis=1)
            rows, excess, wrong = rows[wrong > 0], scores[wrong > 0] + least - own[i], wrong[wrong > 0]
            left_out = len(rows) > self.max_labellings
            rows, excess, wrong = (part[: self.max_labellings] for part in (rows, excess, wrong))
            scaled = excess * wrong if self.rescale == "slack" else excess
            largest[place] = scaled.max(initial=-np.inf)
            losses[place] = np.maximum(scaled, 0.0).sum()
            if left_out:
                exact = False
                longest = len(right) if self.rescale == "slack" else 1
                losses[place] += longest * _bound_of_rest(batch[i], right, excess, least)
            used = rows[scaled > 0.0]
            of += [i] * len(used)
            begins += [begin + k * len(right) for k in range(len(used))]
            begin += used.size
            labels.append(used.reshape(-1))
        flat = np.concatenate([np.zeros(0, dtype=np.int64), *labels])
        candidates = Candidates(np.array(of, dtype=np.int64), np.array(begins, dtype=np.int64), flat)
        return Violations(sequences, largest, losses, exact, candidates)

    def primal(self, squared_norm: float, largest: np.ndarray, losses: np.ndarray) -> float:
        """The exact primal objective; for a hard margin that of w / γ, which is feasible if γ > 0, else infinity."""
        if self.slack != "none":
            return 0.5 * squared_norm + self.C * float(losses.sum())
        # No margin is below b - v >= b (1 - v), v >= 0 the largest violation and b >= 1.
        gamma = 1.0 - float(largest.max(initial=-np.inf))
        if self.rescale == "margin":
            gamma = min(gamma, 1.0)
        if gamma == np.inf:  # there are no margins
            return 0.0
        return 0.5 * squared_norm / gamma**2 if gamma > 0.0 else np.inf

    def dual(self, squared_norm: float, linear: float, totals: np.ndarray) -> float:
        """linear: Σ α b.   totals: Σ_y α of each sequence."""
        return linear - 0.5 * squared_norm - 0.5 * self.ridge * float(totals @ totals)


def _listed(rivals: RivalLists, sequences: np.ndarray, least: np.ndarray, offsets: np.ndarray) -> Candidates:
    """Those that violate the margin, sequence by sequence."""
    place, number = np.nonzero(rivals.scores > least[:, np.newaxis])
    n_positions = rivals.labels.shape[1]
    return Candidates(sequences[place], offsets[sequences[place]] + number * n_positions, rivals.labels.reshape(-1))


def _bound_of_rest(one: ChainPotentials, right: np.ndarray, excess: np.ndarray, least: float) -> float:
    """A bound on the sum of x_+ over all labellings that were not looked at; excess: x of those that were."""
    log_all = float(rest_of(one, right).log_odds[0]) + least - 1.0
    if log_all > 700.0:
        return math.inf
    everything = math.exp(log_all)
    rest = everything - math.fsum(math.exp(x - 1.0) for x in excess) + 1e-9 * everything  # rounding
    last = excess[-1]
    return max(0.0, rest) * (last * math.exp(1.0 - last) if last < 1.0 else 1.0)
