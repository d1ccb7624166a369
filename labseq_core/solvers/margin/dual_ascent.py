"""Margins by dual ascent on working sets: T Algorithm 5, mended as METHODS 4 says.

Each round looks for the labellings that violate the margins most at the present weights, which gives the exact primal
objective too, adds them to the working sets, and then sweeps over the sets: every visit moves the α of one sequence to the
optimum, and between sweeps α goes on some way in the direction of the last one. What lowers the dual is taken back.
It stops on the duality gap, and on nothing else that would call it converged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from labseq_core.chain import ChainPotentials
from labseq_core.checks import LabSeqError
from labseq_core.progress import STOPPED, Recorder
from labseq_core.solvers.margin.feature_differences import MarginFeatures
from labseq_core.solvers.margin.shrinking import CALM, Shrinking
from labseq_core.solvers.margin.slack_and_rescaling import MarginRule
from labseq_core.solvers.margin.working_sets import Candidates
from labseq_core.solvers.smooth.lbfgs_memory import dot
from labseq_core.solvers.smooth.stopping import ITERATION_LIMIT, ROUNDING, share_of_decades

FIRST_BATCHES = 32  # of the first round: weights are of use before all sequences have been seen
SWEEPS = 10  # in a round
MOST_WANTED, MORE_EVERY = 10, 8  # labellings of a sequence at a time; one at first, one more every so many rounds
MOST_MOMENTUM = 0.95  # share of a sweep that is gone on for
THINNEST = 1e-6  # a margin relative to the differences it separates; below, data count as not separable
STUCK = 5  # rounds without ascent
ENOUGH_OF_TOL = 0.1  # an ascent by less than this part of the tolerance is none where the gap cannot be closed anyway


@dataclass(frozen=True)
class MarginOptimum:
    primal: float
    dual: float
    iterations: int
    sweeps: int
    converged: bool
    exact: bool  # the primal is exact, not an upper bound
    why: str


def maximise_margin(
    features: MarginFeatures,
    truth: np.ndarray,
    rule: MarginRule,
    *,
    tol: float,
    max_iter: int,
    seed: int,
    recorder: Recorder,
    observe: Callable[[int], dict] = lambda iteration: {},
) -> MarginOptimum:
    """Solve the dual until primal - dual <= tol · |primal|. `observe(iteration)` adds to the history.

    Stops too after max_iter rounds, when the callback says so, when rounding allows no ascent, or when labellings that are
    bounded but not looked at keep the gap open; weights and α are those of the last row of the history in each case.
    """
    ascent = _Ascent(features, truth, rule, tol, seed, recorder)
    ascent.first_round()
    iteration, first_gap, why = 0, np.nan, None
    while why is None:
        iteration += 1
        ascent.look()
        first_gap = ascent.relative_gap if np.isnan(first_gap) else first_gap
        done = max(iteration / max_iter, share_of_decades(first_gap, ascent.relative_gap, tol))
        recorder.record(iteration, ascent.objective, done, **ascent.row(), **observe(iteration))
        why = ascent.verdict(iteration, max_iter)
        if why is None:
            ascent.improve()
        elif ascent.look_at_the_others():
            recorder.rows[-1] |= {"objective": ascent.objective, **ascent.row()}
    return MarginOptimum(ascent.primal, ascent.dual, iteration, ascent.sweeps, ascent.converged, ascent.exact, why)


class _Ascent:
    """Where the ascent stands."""

    def __init__(
        self,
        features: MarginFeatures,
        truth: np.ndarray,
        rule: MarginRule,
        tol: float,
        seed: int,
        recorder: Recorder,
    ):
        self.features, self.truth, self.rule, self.tol, self.recorder = features, truth, rule, tol, recorder
        self.random = np.random.default_rng(seed)
        self.n_sequences = features.sets.bounds.size - 1
        self.primal, self.dual, self.exact, self.converged = np.inf, 0.0, True, False
        self.sweeps = self.rounds = self.momentum = self.stuck = self.looked_at = 0
        self._largest, self._losses = np.zeros(self.n_sequences), np.zeros(self.n_sequences)
        self._inexact = np.zeros(self.n_sequences, dtype=np.bool_)
        self._shrinking = Shrinking(self.n_sequences)
        self._least_gap = np.inf
        self._found: list[Candidates] = []
        self._potentials: ChainPotentials | None = None

    @property
    def objective(self) -> float:
        """The primal; the dual while a hard margin is not open everywhere."""
        return self.primal if self.primal < np.inf else self.dual

    @property
    def relative_gap(self) -> float:
        if not 0.0 < self.primal < np.inf:
            return float(self.primal > self.dual)
        return (self.primal - self.dual) / self.primal

    def row(self) -> dict:
        """What the history says of a round."""
        sets = self.features.sets
        return {
            "primal": self.primal, "dual": self.dual, "gap": self.primal - self.dual, "relative_gap": self.relative_gap,
            "sweeps": self.sweeps, "working_set": sets.n_members,
            "support_sequences": int(np.count_nonzero(sets.alpha)), "looked_at": self.looked_at,
        }  # fmt: skip

    # The rounds

    def first_round(self) -> None:
        """Sequence by sequence, or batch by batch where they are many: no labelling found without weights is worth much."""
        order = self.random.permutation(self.n_sequences)
        batches = np.array_split(order, min(FIRST_BATCHES, self.n_sequences))
        for number, batch in enumerate(batches):
            sequences = np.sort(batch)
            violations = self.rule.violations(self.features.potentials(sequences), self.truth, sequences, 1)
            self.features.extend(violations.candidates, self.rule.rescale)
            self._sweep(batch)
            self.dual = self._dual()
            if not self.recorder.tell(0, self.dual, 0.01 * number / len(batches)):
                break
        self.sweeps += 1

    def look(self) -> None:
        """Violations of all sequences that are not at rest; of these too if the gap seems to be small enough."""
        self.rounds += 1
        self._found.clear()
        self._potentials = self.features.potentials()
        self.looked_at = 0
        self._look_at(self._shrinking.awake(self.rounds))
        if self._gap_is_small():
            self.look_at_the_others()
        self.converged = self._gap_is_small()

    def look_at_the_others(self) -> bool:
        """Makes the primal that of all sequences; False if it is already."""
        if self.looked_at == self.n_sequences:
            return False
        self._look_at(self._shrinking.at_rest(self.rounds))
        return True

    def improve(self) -> None:
        """Extends the working sets by what was found and sweeps over them."""
        features, rule = self.features, self.rule
        before = self.dual
        new = sum(features.extend(candidates, rule.rescale) for candidates in self._found)
        if rule.slack == "none":
            self._rescale()
        used = np.flatnonzero(np.diff(features.sets.bounds))
        for _ in range(SWEEPS):
            share = min(MOST_MOMENTUM, self.momentum / (self.momentum + 3.0))
            features.extrapolate(share, rule.cap, rule.upper)
            self._sweep(self.random.permutation(used))
            self.sweeps += 1
            reached = self._dual()
            if reached < self.dual - self._rounding():
                features.take_back()
                self.momentum = 0
                if share == 0.0:
                    break
                continue
            self.dual, self.momentum = reached, self.momentum + 1
            if not self.recorder.tell(self.rounds, self.objective, 0.0):
                break
        gain, gap = self.dual - before, self.primal - self.dual
        stuck = (
            new == 0 and gain <= self._rounding() if self.exact else gain <= ENOUGH_OF_TOL * self.tol * abs(self.dual)
        )
        # Near the optimum the primal still falls when the dual rises by no more than rounding.
        self.stuck = self.stuck + 1 if stuck and gap >= 0.5 * self._least_gap else 0
        self._least_gap = min(self._least_gap, gap)

    def verdict(self, iteration: int, max_iter: int) -> str | None:
        """Why it is over; None: it is not."""
        if self.recorder.stopped:
            return STOPPED
        if self.converged:
            return "the duality gap is small enough"
        if self.stuck >= STUCK and not self.exact:
            return f"{self._uncounted()} are bounded, not counted: the optimum is between dual and primal"
        if self.stuck >= STUCK:
            return "rounding errors allow no further ascent"
        if iteration >= max_iter:
            more = " before all margins were open; raise max_iter or allow slack" if self.primal == np.inf else ""
            return ITERATION_LIMIT + more
        return None

    def _uncounted(self) -> str:
        if self.rule.slack == "labelling":
            return f"labellings beyond the first {self.rule.max_labellings} of a sequence"
        return "labellings of very long sequences"

    # Their parts

    def _look_at(self, sequences: np.ndarray) -> None:
        """Keeps what is found, and lets sequences rest that are satisfied and have no labelling in their sets."""
        wanted = min(MOST_WANTED, 1 + self.rounds // MORE_EVERY)
        violations = self.rule.violations(self._potentials, self.truth, sequences, wanted)
        self.looked_at += sequences.size
        self._found.append(violations.candidates)
        self._largest[sequences], self._losses[sequences] = violations.largest, violations.losses
        self._inexact[sequences] = not violations.exact
        self.exact = not self._inexact.any()
        calm = violations.largest <= (0.0 if self.rule.rescale == "slack" else -CALM)
        calm &= np.diff(self.features.sets.bounds)[sequences] == 0
        self._shrinking.note(self.rounds, sequences, calm)
        self.primal = self.rule.primal(self.features.squared_norm(), self._largest, self._losses)

    def _gap_is_small(self) -> bool:
        return self.primal < np.inf and self.primal - self.dual <= self.tol * abs(self.primal)

    def _sweep(self, order: np.ndarray) -> None:
        rule = self.rule
        if not self.features.sweep(order, rule.cap, rule.upper, rule.ridge):
            raise _not_separable("a wrong labelling has exactly the features of the true one")

    def _dual(self) -> float:
        linear, totals = self._sums()
        return self.rule.dual(self.features.squared_norm(), linear, totals)

    def _sums(self) -> tuple[float, np.ndarray]:
        sets = self.features.sets
        totals = (
            np.bincount(sets.sequence_of_members(), sets.alpha, self.n_sequences) if self.rule.ridge else np.zeros(0)
        )
        return dot(sets.alpha, sets.target), totals

    def _rounding(self) -> float:
        linear, _ = self._sums()
        return ROUNDING * (linear + self.features.squared_norm())

    def _rescale(self) -> None:
        """Hard margin: the best multiple of α, and a proof that there is no optimum where it grows without end.

        Weights w with all margins open have ⟨w, Σ α g⟩ >= Σ α b, so no w of length 1 opens one wider than ‖Σ α g‖ / Σ α b.
        """
        linear, _ = self._sums()
        if linear == 0.0:
            return
        square = self.features.squared_norm()
        if square <= THINNEST**2 * linear**2 * self.features.sets.largest_square():
            raise _not_separable("no weights open all margins by more than rounding does")
        self.features.scale(linear / square)
        self.dual = self._dual()


def _not_separable(why: str) -> LabSeqError:
    fix = "use slack='l1' or 'l2', or better attributes"
    return LabSeqError(f"the training data are not separable: {why}, so slack='none' has no solution; {fix}")
