"""Gaussian process sequence classification, sparse: T Algorithm 8, 5.3.2, 5.3.3; R Algorithm 1.1."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from labseq_core.chain import viterbi
from labseq_core.features import EncodedSequences
from labseq_core.kernels import Gram, Kernel, Observations
from labseq_core.kernels.route import GaussianWork, route_of_gaussian
from labseq_core.learners.bases.kernel_learner import KernelLearner
from labseq_core.learners.cost import DataSize, Options, kernel_cost
from labseq_core.learners.gpsc import EXACT_UP_TO, GP_KERNEL, GP_L2
from labseq_core.learners.options import CONSTRAINTS, ETA, MAX_ITER, MEMORY, ROUTE, SEED, TOL, Option
from labseq_core.progress import STOPPED, Recorder
from labseq_core.scoring.kernel_expansion import KernelExpansion
from labseq_core.scoring.kernel_features import FeatureGram
from labseq_core.scoring.kernel_training import CrossKernelScores, KernelScoring
from labseq_core.solvers.gaussian.basis_selection import BASES, Key
from labseq_core.solvers.gaussian.certificate import optimality_gap, squared_gradient_norm
from labseq_core.solvers.gaussian.greedy_basis import ROUGH, STEP, WELL, Expansion, Path, Stopping, quiet

WORTHWHILE = 1e-9  # relative gain of a step: with less it counts as none
SAMPLE = 10  # sequences of which the steepest is taken
GROWTH = 1.3  # times as many coordinates as when all were fitted last: then they are again
EVALUATIONS = 250  # about so often are all coordinates looked at while they are fitted
PATH_ROWS = 100  # about how many rows of `path_` there are
ALL_THERE, NO_SLOPE = "all coordinates asked for are there", "no slope is large enough"  # why it stopped


def _seconds(options: Options, size: DataSize, entries: float = 0.0) -> float:
    """Coordinates are taken one sequence after the other; what is known of them grows with the observations."""
    taken = options["coordinates"] or options["fraction"] * size.tokens
    return 1.1e-3 * (taken * size.tokens) ** 0.5 + 3e-8 * taken * size.observations * size.labels


class SparseGPSC(KernelLearner):
    """The objective of `GPSC` over few coordinates: step by step, those of one sequence that are steepest are taken.

    fraction: coordinates for each training position; coordinates: how many, instead.
    T 5.4 writes 25 % of n l r², but counts so: its 19 % of the observations with 1.32 pairs of labels each are 25 % of n l.
    `path_` says after each part of the way what there is and how good it is. Prediction evaluates the kernel only at the
    observations that were taken.

    Attributes
    ----------
    path_ : DataFrame
        Objective and accuracy by number of coordinates.
    objective_ : float
        Loss plus penalty at the end of the training.
    gap_ : float
        The certificate: objective_ is at most this much above the minimum of the dense model.
    n_iter_ : int
        Steps done.
    stop_reason_ : str
        Why the training stopped.
    n_coordinates_ : int
        Coordinates taken.
    fraction_ : float
        n_coordinates_ per training position.
    n_observations_ : int
        Distinct observations in the training data.
    n_support_ : int
        Observations with a coefficient.
    route_ : str
        How training computed scores: "gram" or "explicit".

    Examples
    --------
    >>> from labseq_core import Linear, SparseGPSC
    >>> X = [["the", "dog", "barks"], ["a", "dog", "sleeps"], ["the", "cat", "sleeps"]]
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]]
    >>> model = SparseGPSC(kernel=Linear(), l2=0.1, fraction=2.0).fit(X, y)
    >>> model.predict([["a", "cat", "barks"]])
    [['D', 'N', 'V']]
    >>> model.n_coordinates_  # two for each of the nine training positions
    18
    """

    method_id = "sgps"
    title = "Sparse GP sequence classification"
    summary = "GP sequence classification with few observations: the steepest are taken one after the other."
    where = "thesis Algorithm 8, 5.3.2, 5.3.3; GP paper"
    probabilistic = True
    cost = kernel_cost(explicit=_seconds, gram=_seconds, times_entries=14)
    options = (
        GP_KERNEL,
        GP_L2,
        ETA,
        Option("fraction", "float", 0.25, "Coordinates for each training position.",
               low=1e-6, high=1e4, where="T 5.3.2, Fig. 5.2"),
        Option("coordinates", "int", None, "How many coordinates, in place of fraction.", low=1, high=10**9,
               where="T Alg. 8: p", advanced=True),
        Option("per_step", "int", 5, "Coordinates that are taken at a time, all of one sequence.", low=1, high=10_000,
               where="T Alg. 8: d"),
        Option("select", "choice", "sample", "The sequence to take from: random, any; best, the one with the steepest slope; "
               f"sample, the steepest of {SAMPLE} at random.", choices=("random", "sample", "best"), where="T Alg. 8"),
        Option("refit", "choice", "growth", "Coefficients fitted after each step: last, those taken last; all, all of them; "
               "growth, those taken last, and all whenever there are many more, and at the end.",
               choices=("last", "all", "growth"), where="T 5.3.2"),
        Option("basis", "choice", "observation", "Coordinates: labels of single observations, or labellings of sequences.",
               choices=tuple(BASES), where="T 5.3.2, 5.3.3"),
        CONSTRAINTS,
        replace(TOL, help="Pass by sequences whose slopes are all below this; stop when all are.", where="T Alg. 8: η"),
        replace(MAX_ITER, default=100_000, high=10_000_000, help="At most this many steps."),
        SEED,
        ROUTE,
        MEMORY,
    )  # fmt: skip
    facts: ClassVar[dict[str, type]] = {
        "objective_": float, "gap_": float, "n_iter_": int, "stop_reason_": str, "n_coordinates_": int, "fraction_": float,
        "n_observations_": int, "n_support_": int, "route_": str,
    }  # fmt: skip

    def __init__(
        self,
        kernel: Kernel = GP_KERNEL.default,
        l2: float = 1.0,
        eta: float = 1.0,
        fraction: float = 0.25,
        coordinates: int | None = None,
        per_step: int = 5,
        select: str = "sample",
        refit: str = "growth",
        basis: str = "observation",
        constraints: str | None = None,
        tol: float = 1e-3,
        max_iter: int = 100_000,
        seed: int = 0,
        route: str = "auto",
        memory: float = 2.0,
    ):
        self.kernel = kernel
        self.l2 = l2
        self.eta = eta
        self.fraction = fraction
        self.coordinates = coordinates
        self.per_step = per_step
        self.select = select
        self.refit = refit
        self.basis = basis
        self.constraints = constraints
        self.tol = tol
        self.max_iter = max_iter
        self.seed = seed
        self.route = route
        self.memory = memory

    def _learn(self, encoded: EncodedSequences, labels: np.ndarray, dev, recorder: Recorder) -> None:
        observations, expansion = self._problem(encoded, labels)
        basis = BASES[self.basis](expansion)
        wanted = min(self._wanted(encoded), basis.n_coordinates())
        dev_scores = None if dev is None else CrossKernelScores(expansion, dev[0], self._bytes)
        touched = np.zeros(len(observations), dtype=np.bool_)
        taken: dict[Key, Path] = {}
        step, idle, next_row, next_refit = 0, 0, 1, 1.0
        self.stop_reason_ = "the step limit was reached"

        def row() -> dict:
            columns = {
                "coordinates": len(basis.seen), "share": len(basis.seen) / basis.n_positions,
                "train_accuracy": float(np.mean(viterbi(expansion.potentials()).labels == labels)),
                "observations": float(np.mean(touched[observations.rows])),
                "pairs_per_observation": basis.pairs_seen / max(1, int(touched.sum())),
            }  # fmt: skip
            if dev_scores is not None:
                columns["dev_accuracy"] = float(np.mean(viterbi(dev_scores.potentials()).labels == dev[1]))
            return columns

        def fit(paths: Collection[Path], how: Stopping) -> None:
            done = len(basis.seen) / wanted
            changes = expansion.fit(paths, how, quiet(recorder, lambda value: recorder.tell(step, value, done)))
            touched[changes[0]] = True
            if dev_scores is not None:
                dev_scores.update(*changes)

        recorder.present = lambda encoded: self._expansion_now(observations, expansion).potentials(encoded)
        recorder.record(0, expansion.objective, 0.0, **row())
        candidates = self._candidates(basis, len(encoded))
        while step < self.max_iter and not recorder.stopped:
            if len(basis.seen) >= wanted or idle >= len(encoded):
                self.stop_reason_ = ALL_THERE if len(basis.seen) >= wanted else NO_SLOPE
                break
            sequences = next(candidates)
            idle += len(encoded) if self.select == "best" else len(sequences)
            count = min(self.per_step, wanted - len(basis.seen))
            chosen, slope = basis.choose(sequences, count, only_new=self.refit == "all")
            if slope <= self.tol:
                continue
            step, before = step + 1, expansion.objective
            basis.seen.update(chosen)
            taken |= chosen
            fit(*((taken.values(), WELL) if self.refit == "all" else (chosen.values(), STEP)))
            if self.refit == "growth" and next_refit <= len(taken) < wanted:
                fit(taken.values(), ROUGH)
                next_refit = GROWTH * len(taken)
            if before - expansion.objective > WORTHWHILE * expansion.objective:
                idle = 0
            if len(basis.seen) * PATH_ROWS >= next_row * wanted:
                next_row = len(basis.seen) * PATH_ROWS // wanted + 1
                recorder.record(step, expansion.objective, len(basis.seen) / wanted, **row())
            else:
                recorder.tell(step, expansion.objective, len(basis.seen) / wanted)
        if self.refit == "growth" and taken and not recorder.stopped:
            fit(taken.values(), WELL)
        if recorder.rows[-1]["objective"] != expansion.objective or recorder.rows[-1]["iteration"] < step:
            recorder.record(step, expansion.objective, len(basis.seen) / wanted, **row())
        self._keep(observations, expansion, basis, step, recorder)

    def _problem(self, encoded: EncodedSequences, labels: np.ndarray) -> tuple[Observations, Expansion]:
        """The distinct observations, and an expansion in them that has no coordinate yet."""
        observations = Observations.of(encoded)
        self.n_observations_ = len(observations)
        work = self._work(encoded)
        n_labels = len(self.classes_)
        self.route_ = route_of_gaussian(self.kernel, observations, self.route, self.memory, n_labels, work) or "gram"
        gram = (FeatureGram if self.route_ == "explicit" else Gram)(self.kernel, observations, self._bytes)
        scoring = KernelScoring(gram, encoded.offsets, len(self.classes_), self.eta, self._constraints())
        return observations, Expansion(scoring, labels, self.l2)

    def _wanted(self, encoded: EncodedSequences) -> int:
        return self.coordinates or max(1, round(self.fraction * encoded.n_positions))

    def _work(self, encoded: EncodedSequences) -> GaussianWork:
        """Each step looks at the slopes of some positions; what there is in the end is gone through many times."""
        wanted, length = self._wanted(encoded), encoded.n_positions / len(encoded)
        taken = min(wanted * (length if self.basis == "sequence" else 1), encoded.n_positions)
        looked_at = {"random": length, "sample": SAMPLE * length, "best": encoded.n_positions}[self.select]
        steps, there_and_back = wanted / self.per_step, 2
        return GaussianWork(steps * looked_at + there_and_back * EVALUATIONS * taken, steps + EVALUATIONS)

    def _candidates(self, basis, n_sequences: int) -> Iterator[list[int]]:
        """Whose turn it is, of which the steepest is taken: each once in a random order, then again; or the best of all."""
        random, size = np.random.default_rng(self.seed), SAMPLE if self.select == "sample" else 1
        while True:
            if self.select == "best":
                yield [basis.steepest_sequence()]
            else:
                order = random.permutation(n_sequences).tolist()
                yield from (order[begin : begin + size] for begin in range(0, n_sequences, size))

    def _keep(self, observations: Observations, expansion: Expansion, basis, step: int, recorder: Recorder) -> None:
        if recorder.stopped:
            self.stop_reason_ = STOPPED
        self.model_ = self._expansion_now(observations, expansion)
        self.objective_, self.n_iter_ = expansion.objective, step
        self.n_coordinates_, self.fraction_ = len(basis.seen), len(basis.seen) / basis.n_positions
        self.n_support_ = len(self.model_.support)
        self.gap_ = self._gap(expansion, recorder)

    def _expansion_now(self, observations: Observations, expansion: Expansion) -> KernelExpansion:
        return self._expansion_of(observations, expansion.beta, expansion.delta)

    def _gap(self, expansion: Expansion, recorder: Recorder) -> float:
        """The certificate against the dense minimum; the objective itself where that would take long."""
        if recorder.stopped or (self.route_ == "gram" and len(expansion.beta) > EXACT_UP_TO):
            return expansion.objective
        product = expansion.scoring.gram.product(expansion.r_beta)
        squared = squared_gradient_norm(expansion.r_beta, expansion.r_delta, product, self.eta)
        return optimality_gap(squared, self.l2, expansion.objective)

    @property
    def path_(self):
        """A data frame: what there was after so many coordinates.

        coordinates, fraction; objective; train_accuracy and, if followed, dev_accuracy; observations: the share of
        positions whose observation has a coefficient; pairs_per_observation: coordinates for each of these.
        """
        history = self.history_.rename(columns={"share": "fraction"})
        names = ["coordinates", "fraction", "objective", "train_accuracy", "dev_accuracy", "observations"]
        return history[[name for name in [*names, "pairs_per_observation", "seconds"] if name in history]]

    @property
    def n_parameters_(self) -> int:
        """Coefficients that are not 0."""
        expansion = self._fitted("model_")
        return int(np.count_nonzero(expansion.beta) + np.count_nonzero(expansion.delta))
