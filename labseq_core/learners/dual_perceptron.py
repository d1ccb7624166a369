"""The hidden Markov perceptron with kernels: T Algorithm 6, optionally averaged."""

from __future__ import annotations

import numpy as np

from labseq_core._checks import require
from labseq_core.chain import ChainPotentials, path_scores, refuse_forbidden, viterbi
from labseq_core.chain.constraints import constraints_for
from labseq_core.features import EncodedSequences
from labseq_core.kernels import Gram, Kernel, Linear, Observations, explicit_map, explicit_size
from labseq_core.kernels.blocks import shown_bytes
from labseq_core.learners.base import SequenceLearner
from labseq_core.learners.kernel_options import ETA, GIB, KERNEL, MEMORY, ROUTE
from labseq_core.learners.options import CONSTRAINTS, SEED, Option
from labseq_core.scoring.kernel_expansion import KernelExpansion, RunningScores
from labseq_core.solvers.averaged_updates import blocks_of
from labseq_core.solvers.dual_updates import DualCounters, ExplicitUpdates, GramUpdates
from labseq_core.solvers.history import Recorder

BLOCK_TOKENS = {"explicit": 20_000, "gram": 2_000}  # between two looks at the callback
# For the choice of a route, in nanoseconds: a feature made, and scored with all labels; a kernel value made, and added.
_MAKE_FEATURE, _SCORE_FEATURE, _MAKE_VALUE, _ADD_VALUE = 40.0, 20.0, 8.0, 1.0
_EVER_WRONG, _WRONG_A_PASS = 0.12, 0.03  # shares of positions, a guess


class DualPerceptron(SequenceLearner):
    """The perceptron as an expansion in kernels: counters say how often each observation was given or denied a label.

    With the linear kernel it is `StructuredPerceptron`, update for update. `expansion_` holds the observations that have
    coefficients, and the coefficients. memory is in GiB; float32 kernel values (see `Gram`) may decide a near tie otherwise.
    """

    method_id = "dual-perceptron"
    title = "Dual perceptron"
    summary = "The perceptron with kernels: what it got wrong in training votes, by likeness, for and against labels."
    where = "thesis Algorithm 6; lecture slides"
    options = (
        KERNEL,
        ETA,
        Option("epochs", "int", 10, "Passes over the training sequences.", low=1, high=10_000, where="T Alg. 6"),
        Option("averaged", "bool", True, "Use the average of the coefficients over all steps, not the last ones."),
        Option("shuffle", "bool", True, "Visit the sequences in a new random order in each pass.", advanced=True),
        CONSTRAINTS,
        SEED,
        ROUTE,
        MEMORY,
    )
    # The route that training took, sequences corrected, distinct observations in training and those with coefficients.
    facts = ("route_", "n_updates_", "n_observations_", "n_support_")

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
        counters = self._counters(observations, encoded, labels)
        self.n_observations_ = len(observations)
        self.route_ = self._choose_route(encoded, len(observations))
        updates = self._updates(observations, encoded, labels, counters)
        n_sequences, lengths = len(encoded), np.diff(encoded.offsets)
        random = np.random.default_rng(self.seed)
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
        n_labels = len(self.classes_)
        start, edge = np.zeros(n_labels), np.zeros((n_labels, n_labels))
        constraints = constraints_for(self.constraints, self.classes_)
        if constraints is not None:
            start, edge = constraints.apply(start, edge)
            nothing = np.zeros((encoded.n_positions, n_labels))
            allowed = ChainPotentials.trusted(start, nothing, edge, np.zeros(n_labels), encoded.offsets)
            refuse_forbidden(path_scores(allowed, labels))
        return DualCounters(np.zeros((len(observations), n_labels)), edge, start, self.eta)

    def _choose_route(self, encoded: EncodedSequences, n_observations: int) -> str:
        """What is estimated to be faster, of what exists and fits into memory."""
        if self.route == "gram" or self.kernel == Linear():
            return "gram" if self.route == "gram" else "explicit"
        n_labels, size = len(self.classes_), explicit_size(self.kernel, encoded)
        if self.route == "explicit":
            needed = 0 if size is None else size.n_bytes(n_labels)
            require(
                needed <= self.memory * GIB,
                f"memory is {self.memory} GiB, but {size and size.features} explicit features need about "
                f"{shown_bytes(needed)}; raise memory, or use route='gram'",
            )
            return "explicit"
        if size is None or size.n_bytes(n_labels) > self.memory * GIB:
            return "gram"
        explicit = size.entries * (_MAKE_FEATURE + self.epochs * (_SCORE_FEATURE + n_labels))
        values = _EVER_WRONG * _MAKE_VALUE + self.epochs * _WRONG_A_PASS * _ADD_VALUE
        return "explicit" if explicit <= encoded.n_positions * n_observations * values else "gram"

    def _updates(
        self, observations: Observations, encoded: EncodedSequences, labels: np.ndarray, counters: DualCounters
    ) -> ExplicitUpdates | GramUpdates:
        if self.route_ == "explicit":
            mapping, mapped = explicit_map(self.kernel, encoded, scaled=False)
            return ExplicitUpdates(mapped, mapping.scale, observations.rows, labels, counters)
        scores = RunningScores(Gram(self.kernel, observations, int(self.memory * GIB)), len(self.classes_))
        return GramUpdates(scores, observations.rows, encoded.offsets, labels, counters)

    def _set_expansion(self, observations: Observations, counters: DualCounters) -> None:
        beta, delta = counters.averages() if self.averaged else (counters.beta, counters.delta.copy())
        self.expansion_ = KernelExpansion.of(self.kernel, observations, beta, delta, self.eta, **self._how())
        self.n_support_ = len(self.expansion_.support)

    def _how(self) -> dict:
        constraints = constraints_for(self.constraints, self.classes_)
        return {"constraints": constraints, "memory": int(self.memory * GIB), "route": self.route}

    @property
    def n_parameters_(self) -> int:
        """Coefficients of observations and of pairs of labels."""
        expansion = self._fitted("expansion_")
        return expansion.beta.size + expansion.delta.size

    def _potentials_of(self, encoded: EncodedSequences) -> ChainPotentials:
        return self.expansion_.potentials(encoded)

    def _arrays(self) -> dict[str, np.ndarray]:
        return self.expansion_.arrays()

    def _restore(self, arrays: dict[str, np.ndarray]) -> None:
        self.expansion_ = KernelExpansion.restore(arrays, self.kernel, self.vocabulary_, self.eta, **self._how())
