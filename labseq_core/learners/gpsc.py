"""Gaussian process sequence classification, dense: T 5.2, 5.3.1, 5.3.4; G."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from labseq_core.archives import LoadedArrays
from labseq_core.chain import viterbi
from labseq_core.checks import require
from labseq_core.features import EncodedSequences
from labseq_core.kernels import Gram, Kernel, Observations, Polynomial, cross_product, pivoted_cholesky
from labseq_core.kernels.blocks import shown_bytes
from labseq_core.kernels.route import GaussianWork, route_of_gaussian
from labseq_core.learners.base import DEV_EVERY
from labseq_core.learners.bases.kernel_learner import KernelLearner
from labseq_core.learners.cost import gp_iterations, kernel_cost, one_pass
from labseq_core.learners.options import CONSTRAINTS, ETA, KERNEL, L2, MAX_ITER, MEMORY, ROUTE, TOL, Option
from labseq_core.progress import Recorder
from labseq_core.scoring.explicit_expansion import ExplicitExpansion
from labseq_core.scoring.kernel_expansion import KernelExpansion
from labseq_core.scoring.kernel_features import DenseFeatures, ExplicitFeatures, Features, FeatureScoring
from labseq_core.scoring.kernel_training import KernelScoring
from labseq_core.solvers.gaussian.certificate import optimality_gap
from labseq_core.solvers.gaussian.map_problem import FeatureProblem, GramProblem
from labseq_core.solvers.smooth.lbfgs import minimise
from labseq_core.solvers.smooth.newton_cg import minimise_newton
from labseq_core.solvers.smooth.stopping import Minimum

USUAL_RANK = 500
EXACT_UP_TO = 30_000  # observations: all their kernel values are made once in some seconds
GOAL = "the certificate is small enough"
_TO_PREPARE = 0.3  # the share of the work, as told to the callback, that making kernel values or features is
_USUAL_ITERATIONS = 50

GP_KERNEL = replace(KERNEL, default=Polynomial(2))
GP_L2 = replace(
    L2, low=1e-6, help="Inverse variance of the prior: the larger, the smoother the function.", where="T 5.19"
)


class GPSC(KernelLearner):
    """Minimises Σ_i -log p(y^i | x^i) + (l2/2) ‖f‖², ‖f‖² = tr(βᵀGβ) + η‖δ‖²: the MAP estimate under a Gaussian process.

    With the linear kernel it is the CRF, with penalty l2/eta on pairs of labels. `gap_`: `objective_` is at most so much
    above the minimum; the fit stops when that is below tol · objective. Routes: "gram" works with kernel values, "explicit"
    with the features that the kernel stands for (the same result), "low-rank" with the part of the kernel that `rank`
    observations span: it is then the best function in that span, and `error_bound_` is what may be lost by that.

    Attributes
    ----------
    expansion_ : KernelExpansion or ExplicitExpansion
        Observations and their coefficients, or with route "explicit" the weights of the kernel's features.
    objective_ : float
        Loss plus penalty at the end of the training.
    gap_ : float
        The certificate: objective_ is at most this much above the minimum.
    error_bound_ : float
        What the low-rank route may lose besides; 0 for the other routes.
    n_iter_ : int
        Iterations done.
    converged_ : bool
        Whether the tolerance was reached.
    stop_reason_ : str
        Why the training stopped.
    route_ : str
        How training computed scores: "gram", "explicit" or "low-rank".
    rank_ : int
        Observations that span the function.
    n_observations_ : int
        Distinct observations in the training data.
    n_products_ : int
        Products with the Gram matrix.

    Examples
    --------
    >>> from labseq_core import GPSC, Polynomial
    >>> X = [["the", "dog", "barks"], ["a", "dog", "sleeps"], ["the", "cat", "sleeps"]]
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]]
    >>> model = GPSC(kernel=Polynomial(2), l2=0.1).fit(X, y)
    >>> model.predict([["a", "cat", "barks"]])
    [['D', 'N', 'V']]
    >>> model.gap_ <= model.tol * model.objective_
    True
    """

    method_id = "gps"
    title = "GP sequence classification"
    summary = "The CRF with kernels: a Gaussian process prior on functions, and the most probable function is taken."
    where = "thesis 5.2, 5.3.1, 5.3.4; GP paper"
    probabilistic = True
    cost = kernel_cost(
        explicit=lambda options, size, entries: 2e-9 * gp_iterations(options) * one_pass(size, entries),
        gram=lambda options, size: (
            5e-9 * size.observations**2
            + gp_iterations(options) * (2e-10 * size.labels * size.observations**2 + 2e-9 * one_pass(size))
        ),
        low_rank=lambda options, size, rank: (
            2e-9 * size.observations * rank * (rank / 4 + gp_iterations(options) * size.labels)
        ),
        times_entries=14,
    )
    options = (
        GP_KERNEL,
        GP_L2,
        ETA,
        Option("solver", "choice", "lbfgs", "lbfgs: gradients of functions; newton: second order, by conjugate gradients.",
               choices=("lbfgs", "newton"), where="T 5.3.1, 5.3.4", advanced=True),
        replace(ROUTE, choices=("auto", "gram", "explicit", "low-rank"), help=f"{ROUTE.help} low-rank: nearly so."),
        Option("rank", "int", None, "Low-rank: how many observations span the functions; none: as many as are usual.",
               low=1, high=1_000_000, advanced=True),
        CONSTRAINTS,
        replace(TOL, help="Stop when the objective is certainly within this share of the minimum.", where="T Lemma 4"),
        MAX_ITER,
        MEMORY,
    )  # fmt: skip
    # What was minimised and how far, by which route, with how many products with the Gram matrix.
    facts: ClassVar[dict[str, type]] = {
        "objective_": float, "gap_": float, "error_bound_": float, "n_iter_": int, "converged_": bool, "stop_reason_": str,
        "route_": str, "rank_": int, "n_observations_": int, "n_products_": int,
    }  # fmt: skip

    def __init__(
        self,
        kernel: Kernel = GP_KERNEL.default,
        l2: float = 1.0,
        eta: float = 1.0,
        solver: str = "lbfgs",
        route: str = "auto",
        rank: int | None = None,
        constraints: str | None = None,
        tol: float = 1e-3,
        max_iter: int = 300,
        memory: float = 2.0,
    ):
        self.kernel = kernel
        self.l2 = l2
        self.eta = eta
        self.solver = solver
        self.route = route
        self.rank = rank
        self.constraints = constraints
        self.tol = tol
        self.max_iter = max_iter
        self.memory = memory

    def _learn(self, encoded: EncodedSequences, labels: np.ndarray, dev, recorder: Recorder) -> None:
        observations = Observations.of(encoded)
        self.n_observations_ = len(observations)
        self.route_ = self._choose_route(observations)
        self.rank_, self.n_products_, self.error_bound_ = len(observations), 0, 0.0
        make = {"gram": self._gram_fit, "explicit": self._explicit_fit, "low-rank": self._low_rank_fit}[self.route_]
        made = make(observations, encoded, labels, recorder)
        self._minimise(made, dev, recorder)

    def _minimise(self, made: _Fit, dev, recorder: Recorder) -> None:
        problem = made.problem

        def gap(value: float, norm: float) -> float:
            return optimality_gap(norm * norm, self.l2, value)

        def observe(iteration: int, point: np.ndarray) -> dict:
            recorder.present = lambda encoded: made.expansion(point).potentials(encoded)
            if dev is None or iteration % DEV_EVERY:
                return {}
            return {"dev_accuracy": _accuracy(made.expansion(point), dev)}

        rules = {
            "max_iter": 0 if recorder.stopped else self.max_iter, "tol": self.tol, "recorder": recorder, "observe": observe,
            "space": problem.space, "goal": GOAL,
            "measure": lambda value, norm, point: gap(value, norm) / value if value > 0.0 else 0.0,
        }  # fmt: skip
        if self.solver == "newton":
            minimum = minimise_newton(problem.evaluate, problem.scoring.zeros(), problem.curvature, **rules)
        else:
            diagonal = problem.diagonal if problem.has_diagonal else None
            start = problem.scoring.zeros()
            minimum = minimise(problem.evaluate, start, diagonal=diagonal, memory=problem.pairs, **rules)
        self._keep(minimum, made, dev, recorder)
        self.gap_ = gap(minimum.value, minimum.gradient_norm)
        for row in recorder.rows:
            row["gap"] = gap(row["objective"], row["gradient_norm"])

    def _keep(self, minimum: Minimum, made: _Fit, dev, recorder: Recorder) -> None:
        self.model_ = made.expansion(minimum.point)
        self.objective_ = minimum.value
        self.n_iter_ = minimum.iterations
        self.converged_ = minimum.converged
        self.stop_reason_ = minimum.why
        self.n_products_ = getattr(made.problem.space, "n_products", 0)
        self.error_bound_ = min(made.error_bound(minimum.point), minimum.value)
        if dev is not None:
            recorder.rows[-1]["dev_accuracy"] = _accuracy(self.model_, dev)

    # Routes

    def _choose_route(self, observations: Observations) -> str:
        """What is estimated to be faster, of what exists and fits into memory."""
        needs_rank = self.route in ("auto", "low-rank")
        require(
            self.rank is None or needs_rank, f"rank is {self.rank}, but route is {self.route!r}; use route='low-rank'"
        )
        if self.route == "low-rank" or self.rank is not None:
            return "low-rank"
        work = GaussianWork(_USUAL_ITERATIONS * len(observations), _USUAL_ITERATIONS)
        n_labels = len(self.classes_)
        return route_of_gaussian(self.kernel, observations, self.route, self.memory, n_labels, work) or "low-rank"

    def _gram_fit(self, observations, encoded: EncodedSequences, labels: np.ndarray, recorder: Recorder) -> _Fit:
        gram = Gram(self.kernel, observations, self._bytes)
        start = _loss_of_nothing(encoded, len(self.classes_))
        gram.fill(lambda done: recorder.tell(0, start, _TO_PREPARE * done))
        constraints = self._constraints()
        scoring = KernelScoring(gram, encoded.offsets, len(self.classes_), self.eta, constraints)

        def expansion(point: np.ndarray) -> KernelExpansion:
            beta, delta = scoring.coefficients(point)
            return self._expansion_of(observations, beta.copy(), delta.copy())

        return _Fit(GramProblem(scoring, labels, self.l2), expansion)

    def _explicit_fit(self, observations, encoded: EncodedSequences, labels: np.ndarray, recorder: Recorder) -> _Fit:
        recorder.tell(0, _loss_of_nothing(encoded, len(self.classes_)), 0.0)
        features = ExplicitFeatures(self.kernel, observations)
        scoring = self._feature_scoring(features, observations, encoded)

        def expansion(point: np.ndarray) -> ExplicitExpansion:
            weights, delta = scoring.parts(point)[0], scoring.delta(point)
            return ExplicitExpansion(self.kernel, observations, weights, delta, self.eta, scoring.constraints, features)

        return _Fit(FeatureProblem(scoring, labels, self.l2), expansion)

    def _low_rank_fit(self, observations, encoded: EncodedSequences, labels: np.ndarray, recorder: Recorder) -> _Fit:
        n, start = len(observations), _loss_of_nothing(encoded, len(self.classes_))
        room = self._bytes // (2 * 8 * n)
        rank = min(self.rank or min(USUAL_RANK, room), n)
        require(
            1 <= rank <= room,
            f"memory is {self.memory} GiB, but {max(rank, 1)} columns over {n} observations need about "
            f"{shown_bytes(16 * n * max(rank, 1))}; raise memory, or lower rank",
        )
        low_rank = pivoted_cholesky(
            self.kernel, observations, rank, lambda done: recorder.tell(0, start, _TO_PREPARE * done)
        )
        self.rank_ = low_rank.rank
        scoring = self._feature_scoring(DenseFeatures(low_rank.factor), observations, encoded)
        problem = FeatureProblem(scoring, labels, self.l2)
        pivots = observations.take(low_rank.pivots)

        def expansion(point: np.ndarray) -> KernelExpansion:
            beta = low_rank.expansion_of(scoring.parts(point)[0])
            return self._expansion_of(pivots, beta, scoring.delta(point))

        def error_bound(point: np.ndarray) -> float:
            """What is left of ‖r‖²/(2λ) outside the span, tr(rᵀ E r)/(2λ); of many observations a bound on it."""
            statistics = problem.observation_statistics(point)
            if n <= EXACT_UP_TO:
                inside = low_rank.factor.T @ statistics
                product = cross_product(self.kernel, observations, observations, statistics, self._bytes)
                left = float(np.sum(statistics * product) - np.sum(inside * inside))
            else:  # E is positive, so |E_ij| <= √(E_ii E_jj)
                reach = np.sqrt(low_rank.rest) @ np.abs(statistics)
                left = float(reach @ reach)
            return max(left, 0.0) / (2.0 * self.l2)

        return _Fit(problem, expansion, error_bound)

    def _feature_scoring(self, features: Features, observations, encoded: EncodedSequences) -> FeatureScoring:
        n_labels, constraints = len(self.classes_), self._constraints()
        return FeatureScoring(features, observations.rows, encoded.offsets, n_labels, self.eta, constraints)

    def _how(self) -> dict:
        return {**super()._how(), "route": "auto" if self.route == "auto" else "gram"}

    # What was learned

    def _restore(self, loaded: LoadedArrays) -> None:
        if self.route_ == "explicit":
            known = self.vocabulary_, len(self.classes_), self.kernel, self.eta
            self.model_ = ExplicitExpansion.restore(loaded, *known, self._bytes, constraints=self._constraints())
        else:
            super()._restore(loaded)


class _Fit:
    """A problem in the coordinates of a route, and what its points mean."""

    def __init__(self, problem, expansion, error_bound=lambda point: 0.0):
        self.problem, self.expansion, self.error_bound = problem, expansion, error_bound


def _accuracy(expansion: KernelExpansion | ExplicitExpansion, dev) -> float:
    encoded, labels = dev
    return float(np.mean(viterbi(expansion.potentials(encoded)).labels == labels))


def _loss_of_nothing(encoded: EncodedSequences, n_labels: int) -> float:
    """The log loss of f = 0: what a fit begins with, but for constraints."""
    return encoded.n_positions * float(np.log(n_labels))
