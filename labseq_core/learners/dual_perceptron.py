"""The hidden Markov perceptron with kernels: T Algorithm 6, optionally averaged."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from labseq_core.chain import path_scores, refuse_forbidden, viterbi
from labseq_core.features import EncodedSequences
from labseq_core.kernels import Gram, Kernel, Observations, explicit_map
from labseq_core.kernels.route import perceptron_costs, route_of_updates
from labseq_core.learners.bases.kernel_learner import KernelLearner
from labseq_core.learners.cost import kernel_cost, one_pass
from labseq_core.learners.options import CONSTRAINTS, ETA, KERNEL, MEMORY, ROUTE, SEED
from labseq_core.learners.perceptron import AVERAGED, EPOCHS, SHUFFLE
from labseq_core.progress import Recorder
from labseq_core.scoring.kernel_expansion import KernelExpansion, potentials_of_scores
from labseq_core.scoring.kernel_training import RunningKernelScores
from labseq_core.solvers.perceptron.averaged_updates import blocks_of
from labseq_core.solvers.perceptron.dual_updates import DualCounters, ExplicitUpdates, GramUpdates

BLOCK_TOKENS = {"explicit": 20_000, "gram": 2_000}  # between two looks at the callback


class DualPerceptron(KernelLearner):
    """The perceptron as an expansion in kernels: counters say how often each observation was given or denied a label.

    With the linear kernel it is `StructuredPerceptron`, update for update. `expansion_` holds the observations that have
    coefficients, and the coefficients. memory is in GiB; float32 kernel values (see `Gram`) may decide a near tie otherwise.

    Attributes
    ----------
    route_ : str
        How training computed scores: "gram" or "explicit".
    n_updates_ : int
        Sequences that were decoded wrongly and corrected.
    n_observations_ : int
        Distinct observations in the training data.
    n_support_ : int
        Observations with a coefficient.

    Examples
    --------
    >>> from labseq_core import DualPerceptron, Polynomial
    >>> X = [["the", "dog", "barks"], ["a", "dog", "sleeps"], ["the", "cat", "sleeps"]]
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]]
    >>> model = DualPerceptron(kernel=Polynomial(2)).fit(X, y)
    >>> model.predict([["a", "cat", "barks"]])
    [['D', 'N', 'V']]
    >>> model.n_support_ <= model.n_observations_
    True
    """

    method_id = "dual-perceptron"
    title = "Dual perceptron"
    summary = "The perceptron with kernels: what it got wrong in training votes, by likeness, for and against labels."
    where = "thesis Algorithm 6; lecture slides"
    cost = kernel_cost(
        explicit=lambda options, size, entries: 1e-9 * options["epochs"] * one_pass(size, entries),
        gram=lambda options, size: 3.5e-9 * options["epochs"] * size.tokens * (1000 + size.observations / 10),
        times_entries=190,
    )
    options = (
        KERNEL,
        ETA,
        replace(EPOCHS, where="T Alg. 6"),
        replace(AVERAGED, help="Use the average of the coefficients over all steps, not the last ones."),
        SHUFFLE,
        CONSTRAINTS,
        SEED,
        ROUTE,
        MEMORY,
    )
    # The route that training took, sequences corrected, distinct observations in training and those with coefficients.
    facts: ClassVar[dict[str, type]] = {"route_": str, "n_updates_": int, "n_observations_": int, "n_support_": int}

    def __init__(
        self,
        kernel: Kernel = KERNEL.default,
        eta: float = 1.0,
        epochs: int = 10,
        averaged: bool = True,
        shuffle: bool = True,
        constraints: str | None = None,
        seed: int = 0,
        route: str = "auto",
        memory: float = 2.0,
    ):
        self.kernel = kernel
        self.eta = eta
        self.epochs = epochs
        self.averaged = averaged
        self.shuffle = shuffle
        self.constraints = constraints
        self.seed = seed
        self.route = route
        self.memory = memory

    def _learn(self, encoded: EncodedSequences, labels: np.ndarray, dev, recorder: Recorder) -> None:
        observations = Observations.of(encoded)
        self.n_observations_ = len(observations)
        counters = self._counters(observations, encoded, labels)
        self.route_ = route_of_updates(
            self.kernel, encoded, self.route, self.memory, len(self.classes_), lambda size: perceptron_costs(
                size, encoded.n_positions, len(observations), len(self.classes_), self.epochs
            ),
        )  # fmt: skip
        updates = self._updates(observations, encoded, labels, counters)
        n_sequences, lengths = len(encoded), np.diff(encoded.offsets)
        random = np.random.default_rng(self.seed)
        recorder.present = lambda encoded: self._expansion_now(observations, counters).potentials(encoded)
        for epoch in range(1, self.epochs + 1):
            order = random.permutation(n_sequences) if self.shuffle else np.arange(n_sequences)
            wrong_labels = wrong_sequences = seen = 0
            for block in blocks_of(order, lengths, BLOCK_TOKENS[self.route_]):
                labels_missed, sequences_missed = updates.visit(block)
                wrong_labels, wrong_sequences = wrong_labels + labels_missed, wrong_sequences + sequences_missed
                seen += len(block)
                if not recorder.tell(epoch, wrong_labels, (epoch - 1 + seen / n_sequences) / self.epochs):
                    break
            more = {"wrong_sequences": wrong_sequences, "support": int(counters.beta.any(axis=1).sum())}
            if dev is not None:
                self._set_expansion(observations, counters)
                more["dev_accuracy"] = float(np.mean(viterbi(self._potentials_of(dev[0])).labels == dev[1]))
            recorder.record(epoch, wrong_labels, epoch / self.epochs, **more)
            if recorder.stopped or wrong_sequences == 0:
                break
        self._set_expansion(observations, counters)
        self.n_updates_ = counters.updates

    def _counters(self, observations: Observations, encoded: EncodedSequences, labels: np.ndarray) -> DualCounters:
        n_labels, constraints = len(self.classes_), self._constraints()
        node, edge = np.zeros((encoded.n_positions, n_labels)), np.zeros((n_labels, n_labels))
        potentials = potentials_of_scores(node, edge, constraints, encoded.offsets)
        if constraints is not None:
            refuse_forbidden(path_scores(potentials, labels))
        return DualCounters(np.zeros((len(observations), n_labels)), potentials.edge, potentials.start, self.eta)

    def _updates(
        self, observations: Observations, encoded: EncodedSequences, labels: np.ndarray, counters: DualCounters
    ) -> ExplicitUpdates | GramUpdates:
        if self.route_ == "explicit":
            mapping, mapped = explicit_map(self.kernel, encoded, scaled=False)
            return ExplicitUpdates(mapped, mapping.scale, observations.rows, labels, counters)
        gram = Gram(self.kernel, observations, self._bytes)
        scores = RunningKernelScores(gram, encoded.offsets, len(self.classes_))
        return GramUpdates(scores, labels, counters)

    def _expansion_now(self, observations: Observations, counters: DualCounters) -> KernelExpansion:
        beta, delta = counters.averages() if self.averaged else (counters.beta, counters.delta.copy())
        return self._expansion_of(observations, beta, delta)

    def _set_expansion(self, observations: Observations, counters: DualCounters) -> None:
        self.model_ = self._expansion_now(observations, counters)
        self.n_support_ = len(self.model_.support)
