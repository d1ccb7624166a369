"""Hidden Markov support vector machines: T chapter 4, with the rescalings of L."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from labseq_core.archives import MOST_TOKENS, LoadedArrays
from labseq_core.chain import path_scores, refuse_forbidden, viterbi
from labseq_core.checks import require
from labseq_core.features import EncodedSequences
from labseq_core.kernels import Gram, Kernel, Observations, explicit_map
from labseq_core.kernels.route import margin_costs, route_of_updates
from labseq_core.learners.bases.kernel_learner import KernelLearner
from labseq_core.learners.cost import kernel_cost
from labseq_core.learners.options import CONSTRAINTS, KERNEL, MAX_ITER, MEMORY, ROUTE, SEED, TOL, Option
from labseq_core.progress import Recorder
from labseq_core.scoring.kernel_expansion import KernelExpansion
from labseq_core.scoring.linear import LinearModel, LinearScoring, LinearWeights
from labseq_core.solvers.margin.dual_ascent import MarginOptimum, maximise_margin
from labseq_core.solvers.margin.explicit_weights import ExplicitMargins
from labseq_core.solvers.margin.gram_scores import GramMargins
from labseq_core.solvers.margin.slack_and_rescaling import RESCALES, SLACKS, MarginRule
from labseq_core.solvers.margin.working_sets import LabelSets

DEV_EVERY_ROUNDS = 5  # rounds between two looks at the development data


class HMSVM(KernelLearner):
    """Minimises ½‖w‖² + C Σ_i ξ_i so that the true labelling of each sequence scores higher than all others by a margin.

    slack "none": hard margin (SVM0).   "l1": C Σ_i ξ_i (SVM1).   "l2": C Σ_i ξ_i² (SVM2).   "labelling": one slack for each
    wrong labelling, C Σ_i Σ_y ξ_i(y) (SVM3).
    rescale None: F(y^i) - F(y) >= 1 - ξ.   "margin": >= Δ(y) - ξ, Δ the number of wrong labels.   "slack": >= 1 - ξ / Δ(y).
    The sums are over training sequences, never averages. Label pairs have the inner product η times that of attributes.

    `primal_objective_` and `dual_objective_` enclose the optimum, `gap_` is their difference. Where `exact_` is False the
    primal is an upper bound: with slack="labelling" every labelling that violates the margin costs something, of which
    max_labellings a sequence are looked at and the others are bounded. On long sequences that bound is wide, or
    infinite: the model rests on the labellings that were looked at, `converged_` is False, and `stop_reason_` says why.
    The weights are w = Σ α (Ψ(x^i, y^i) - Ψ(x^i, y)) over the support sequences, see `support_sequences_`. With the linear
    kernel they are `weights_`, with any other the model is the `expansion_` in observations. `route_` says how training
    scored. memory: GiB.

    Attributes
    ----------
    weights_ : LinearWeights
        The weights, with the linear kernel and route "explicit" only.
    expansion_ : KernelExpansion
        Observations and their coefficients, in all other cases.
    primal_objective_ : float
        ½‖w‖² + C Σ_i ξ_i; an upper bound on it where `exact_` is False.
    dual_objective_ : float
        A lower bound on the optimum.
    gap_ : float
        primal_objective_ - dual_objective_.
    exact_ : bool
        Whether primal_objective_ is exact.
    converged_ : bool
        Whether the tolerance was reached.
    stop_reason_ : str
        Why the training stopped.
    n_iter_ : int
        Rounds of looking for the most violated constraints.
    n_sweeps_ : int
        Passes of the dual solver over the working sets.
    support_sequences_ : DataFrame
        The labellings with a coefficient: sequence, labels, alpha, is_truth.
    n_training_sequences_ : int
        Training sequences.
    n_support_sequences_ : int
        Wrong labellings with a coefficient.
    n_support_examples_ : int
        Training sequences that have such labellings.
    support_per_example_ : float
        n_support_sequences_ / n_support_examples_.
    satisfied_share_ : float
        Share of training sequences without such labellings.
    working_set_size_ : int
        Labellings in the working sets at the end.
    log10_constraints_ : float or None
        Decimal logarithm of the number of constraints; None with a single label.
    route_ : str
        How training computed scores: "gram" or "explicit".
    n_observations_ : int or None
        Distinct observations in the training data; None if the model is `weights_`.

    Examples
    --------
    >>> from labseq_core import HMSVM
    >>> X = [["the", "dog", "barks"], ["a", "dog", "sleeps"], ["the", "cat", "sleeps"]]
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]]
    >>> model = HMSVM(C=10.0).fit(X, y)
    >>> model.predict([["a", "cat", "barks"]])
    [['D', 'N', 'V']]
    >>> model.gap_ <= model.tol * model.primal_objective_
    True
    >>> list(model.support_sequences_.columns)
    ['sequence', 'labels', 'alpha', 'is_truth']
    """

    method_id = "hmsvm"
    title = "HM-SVM"
    summary = (
        "Hidden Markov support vector machine: the true labelling shall win by a margin; few labellings decide which."
    )
    where = "thesis chapter 4"
    cost = kernel_cost(
        explicit=lambda options, size, entries: 5e-5 * size.tokens * (1 + entries / 20),
        gram=lambda options, size: 1.8e-7 * size.tokens * (2000 + size.observations),
        times_entries=30,
    )
    options = (
        Option("C", "float", 1.0, "How much a violated margin costs: the larger, the closer to the training data.", low=1e-6,
               high=1e6, log_scale=True, where="T 4.2.2", tuning=(0.03, 0.1, 0.3, 1.0, 3.0, 10.0)),
        Option("slack", "choice", "l1", "How a margin may be violated. none: not at all; l1, l2: one slack a sequence, whose "
               "size or square counts; labelling: one slack for each wrong labelling, for short sequences only.",
               choices=SLACKS, where="T 4.10, SVM1-SVM3"),
        Option("rescale", "choice", None, "margin: a labelling with more wrong labels shall lose by more; slack: its violation "
               "counts more.", choices=RESCALES, where="T 4.34, 4.35; lecture slides, Margin-rescaling"),
        KERNEL,
        Option("eta", "float", 1.0, "η: how much pairs of labels weigh against attributes; 0 leaves them out.", low=0.0,
               high=1e6, where="T 2.9, 4.22"),
        replace(TOL, help="Stop when the duality gap is this small relative to the primal objective."),
        replace(MAX_ITER, default=500, help="At most this many rounds of looking for violated margins."),
        SEED,
        CONSTRAINTS,
        Option("max_labellings", "int", 100, "slack=labelling: at most so many labellings of a sequence are looked at; what "
               "the others may cost is bounded.", low=1, high=10_000, advanced=True),
        ROUTE,
        MEMORY,
    )  # fmt: skip
    facts: ClassVar[dict[str, type]] = {
        "primal_objective_": float, "dual_objective_": float, "gap_": float, "exact_": bool, "converged_": bool,
        "stop_reason_": str, "n_iter_": int, "n_sweeps_": int, "n_training_sequences_": int, "n_support_sequences_": int,
        "n_support_examples_": int, "satisfied_share_": float, "support_per_example_": float, "working_set_size_": int,
        "log10_constraints_": float, "route_": str, "n_observations_": int,
    }  # fmt: skip
    unknown_facts = ("log10_constraints_", "n_observations_")

    has_weights = True

    def __init__(
        self,
        C: float = 1.0,
        slack: str = "l1",
        rescale: str | None = None,
        kernel: Kernel = KERNEL.default,
        eta: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 500,
        seed: int = 0,
        constraints: str | None = None,
        max_labellings: int = 100,
        route: str = "auto",
        memory: float = 2.0,
    ):
        self.C = C
        self.slack = slack
        self.rescale = rescale
        self.kernel = kernel
        self.eta = eta
        self.tol = tol
        self.max_iter = max_iter
        self.seed = seed
        self.constraints = constraints
        self.max_labellings = max_labellings
        self.route = route
        self.memory = memory

    def _learn(self, encoded: EncodedSequences, labels: np.ndarray, dev, recorder: Recorder) -> None:
        rule = MarginRule(self.slack, self.rescale, float(self.C), int(self.max_labellings))
        observations = None if self._keeps_weights else Observations.of(encoded)
        self.n_observations_ = None if observations is None else len(observations)
        self.route_ = route_of_updates(
            self.kernel, encoded, self.route, self.memory, len(self.classes_),
            lambda size: margin_costs(size, encoded.n_positions, len(observations)),
        )  # fmt: skip
        features = self._features(encoded, observations, labels)
        refuse_forbidden(path_scores(features.potentials(), labels))

        def model_now() -> LinearModel | KernelExpansion:
            return self._model_of(observations, labels, features)

        def accuracy_now() -> float:
            return float(np.mean(viterbi(model_now().potentials(dev[0])).labels == dev[1]))

        recorder.present = lambda other: model_now().potentials(other)

        def observe(iteration: int) -> dict:
            if dev is None or not self.kernel.is_linear or iteration % DEV_EVERY_ROUNDS != 1:
                return {}
            return {"dev_accuracy": accuracy_now()}

        optimum = maximise_margin(
            features, labels, rule, tol=float(self.tol), max_iter=self.max_iter, seed=self.seed, recorder=recorder,
            observe=observe,
        )  # fmt: skip
        self.model_ = model_now()
        if dev is not None:
            recorder.rows[-1]["dev_accuracy"] = accuracy_now()
        self._keep(optimum, features.sets)
        self._keep_support(features.sets, labels, encoded.offsets)

    # How it scores

    def _features(
        self, encoded: EncodedSequences, observations: Observations | None, labels: np.ndarray
    ) -> ExplicitMargins | GramMargins:
        n_labels, eta = len(self.classes_), float(self.eta)
        constraints = self._constraints()
        if self.route_ == "gram":
            gram = Gram(self.kernel, observations, self._bytes)
            return GramMargins(gram, encoded.offsets, labels, n_labels, eta, constraints)
        mapped = encoded if self.kernel.is_linear else explicit_map(self.kernel, encoded)[1]
        return ExplicitMargins(LinearScoring(mapped, n_labels, False, constraints), labels, eta)

    @property
    def _keeps_weights(self) -> bool:
        """Whether the model is weights of attributes; else it is an expansion in observations."""
        return self.kernel.is_linear and self.route != "gram"

    def _model_of(
        self, observations: Observations | None, labels: np.ndarray, features: ExplicitMargins | GramMargins
    ) -> LinearModel | KernelExpansion:
        """The function that α stands for as it is."""
        weights = features.weights()
        if observations is None:
            return LinearModel(weights, self._constraints(), eta=self.eta)
        sets = features.sets
        beta = np.zeros((len(observations), len(self.classes_)))
        amounts = np.repeat(sets.alpha * sets.scale, sets.distance)
        rows = observations.rows[sets.position[: amounts.size]]
        np.add.at(beta, (rows, labels[sets.position[: amounts.size]]), amounts)  # T 4.25, with its sign
        np.add.at(beta, (rows, sets.label[: amounts.size]), -amounts)
        delta = weights.edge / self.eta if self.eta > 0.0 else np.zeros_like(weights.edge)
        return self._expansion_of(observations, beta, delta)

    @property
    def weights_(self) -> LinearWeights:
        return self.model_.weights

    # What is kept of the training

    def _keep(self, optimum: MarginOptimum, sets: LabelSets) -> None:
        self.primal_objective_, self.dual_objective_ = optimum.primal, optimum.dual
        self.gap_, self.exact_ = optimum.primal - optimum.dual, optimum.exact
        self.converged_, self.stop_reason_ = optimum.converged, optimum.why
        self.n_iter_, self.n_sweeps_ = optimum.iterations, optimum.sweeps
        self.working_set_size_ = sets.n_members

    def _keep_support(self, sets: LabelSets, labels: np.ndarray, offsets: np.ndarray) -> None:
        """The labellings with α > 0 and the true labels of their sequences, and how many they are."""
        chosen = np.flatnonzero(sets.alpha)
        owners = sets.sequence_of_members()[chosen]
        examples = np.unique(owners)
        differences = np.concatenate(
            [np.zeros(0, dtype=np.int64)]
            + [np.arange(sets.difference_bounds[k], sets.difference_bounds[k + 1]) for k in chosen]
        )
        sizes = sets.distance[chosen]
        self._support = {
            "sequence": owners,
            "alpha": (sets.alpha * sets.scale)[chosen],
            "bounds": np.concatenate([[0], np.cumsum(sizes)]),
            "position": sets.position[differences] - np.repeat(offsets[owners], sizes),
            "label": sets.label[differences].astype(np.int64),
            "example": examples,
            "truth": np.concatenate(
                [np.zeros(0, dtype=np.int64)] + [labels[offsets[i] : offsets[i + 1]] for i in examples]
            ),
            "length": np.diff(offsets)[examples],
        }
        self.n_training_sequences_ = len(offsets) - 1
        self.log10_constraints_ = _log10_constraints(np.diff(offsets), len(self.classes_))
        self.n_support_sequences_, self.n_support_examples_ = int(chosen.size), int(examples.size)
        self.satisfied_share_ = 1.0 - examples.size / self.n_training_sequences_
        self.support_per_example_ = chosen.size / max(1, examples.size)

    # What decides

    @property
    def support_sequences_(self):
        """A data frame of all labellings with a weight α: sequence (its number in the training data), labels, alpha, is_truth.

        The true labelling of a sequence stands first, with the sum of the others (T 4.16); these follow, largest α first.
        """
        import pandas as pd

        rows = [row for number in self.support_numbers() for row in self.support_of(number)]
        return pd.DataFrame(rows, columns=["sequence", "labels", "alpha", "is_truth"])

    def support_numbers(self) -> list[int]:
        """The training sequences that have support sequences, numbered from 0 on."""
        return self._fitted("_support")["example"].tolist()

    def support_of(self, sequence: int) -> list[dict]:
        """The same of one training sequence, as dicts; empty if all its margins hold without it."""
        support = self._fitted("_support")
        whole = 0 <= sequence < self.n_training_sequences_
        require(whole, f"sequence is {sequence!r}; the model was trained on {self.n_training_sequences_}, from 0 on")
        place = int(np.searchsorted(support["example"], sequence))
        if place == len(support["example"]) or support["example"][place] != sequence:
            return []
        begin = int(support["length"][:place].sum())
        truth = support["truth"][begin : begin + int(support["length"][place])]
        first, last = np.searchsorted(support["sequence"], [sequence, sequence + 1])
        order = first + np.argsort(-support["alpha"][first:last], kind="stable")
        total = float(support["alpha"][first:last].sum())
        rows = [{"sequence": sequence, "labels": self._label_names(truth), "alpha": total, "is_truth": True}]
        for member in order.tolist():
            own = slice(support["bounds"][member], support["bounds"][member + 1])
            labels = truth.copy()
            labels[support["position"][own]] = support["label"][own]
            alpha = float(support["alpha"][member])
            rows.append({"sequence": sequence, "labels": self._label_names(labels), "alpha": alpha, "is_truth": False})
        return rows

    def _label_names(self, labels: np.ndarray) -> list[str]:
        return [self.classes_[label] for label in labels.tolist()]

    # Keeping it

    def _arrays(self) -> dict[str, np.ndarray]:
        return {**super()._arrays(), **{f"dual_{name}": array for name, array in self._support.items()}}

    def _restore(self, loaded: LoadedArrays) -> None:
        if self._keeps_weights:
            sizes = len(self.vocabulary_), len(self.classes_)
            self.model_ = LinearModel.restore(loaded, *sizes, constraints=self._constraints(), eta=self.eta)
        else:
            super()._restore(loaded)
        self._support = self._restored_support(loaded)

    def _restored_support(self, loaded: LoadedArrays) -> dict[str, np.ndarray]:
        n_sequences, n_labels = self.n_training_sequences_, len(self.classes_)
        examples = loaded.indices("dual_example", n_sequences)
        lengths = loaded.indices("dual_length", MOST_TOKENS, examples.size)
        truth = loaded.indices("dual_truth", n_labels, int(lengths.sum()))
        owners = loaded.indices("dual_sequence", n_sequences)
        bounds = loaded.pointers("dual_bounds", owners.size)
        places = loaded.indices("dual_position", MOST_TOKENS, int(bounds[-1]))
        labels = loaded.indices("dual_label", n_labels, places.size)
        alpha = loaded.positive("dual_alpha", owners.size)
        fits = bool((np.diff(examples) > 0).all() and (np.diff(owners) >= 0).all())
        require(
            fits and np.array_equal(np.unique(owners), examples), "dual_sequence and dual_example do not fit together"
        )
        longest = np.repeat(lengths[np.searchsorted(examples, owners)], np.diff(bounds))
        require(bool((places < longest).all()), "dual_position is outside of its sequence")
        return {
            "sequence": owners, "alpha": alpha, "bounds": bounds, "position": places, "label": labels,
            "example": examples, "truth": truth, "length": lengths,
        }  # fmt: skip


def _log10_constraints(lengths: np.ndarray, n_labels: int) -> float | None:
    """The logarithm of Σ_i (S^l_i - 1): how many wrong labellings there are; None if there are none."""
    if n_labels == 1:
        return None
    powers = lengths * np.log(n_labels)
    return float(np.logaddexp.reduce(powers + np.log1p(-np.exp(-powers))) / np.log(10.0))
