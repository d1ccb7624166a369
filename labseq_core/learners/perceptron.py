"""The hidden Markov perceptron: T Algorithm 1, averaged."""

from __future__ import annotations

import numpy as np

from labseq_core.chain import path_scores, refuse_forbidden
from labseq_core.chain.constraints import constraints_for
from labseq_core.features import EncodedSequences
from labseq_core.learners.base import EncodedPair
from labseq_core.learners.bases.linear_learner import LinearLearner
from labseq_core.learners.cost import epochs_cost
from labseq_core.learners.options import CONSTRAINTS, SEED, START_STOP, Option
from labseq_core.progress import Recorder
from labseq_core.scoring.linear import LinearWeights
from labseq_core.solvers.perceptron.averaged_updates import blocks_of, perceptron_block

BLOCK_TOKENS = 20_000  # between two looks at the callback

EPOCHS = Option(
    "epochs", "int", 10, "Passes over the training sequences.", low=1, high=10_000, where="T Alg. 1",
    tuning=(1, 2, 5, 10, 20, 40),
)  # fmt: skip
AVERAGED = Option("averaged", "bool", True, "Use the average of the weights over all steps, not the last ones.")
SHUFFLE = Option("shuffle", "bool", True, "Visit the sequences in a new random order in each pass.", advanced=True)


class StructuredPerceptron(LinearLearner):
    """Decodes each sequence with the current weights and moves them towards the truth where it is missed.

    Examples
    --------
    >>> from labseq_core import StructuredPerceptron
    >>> X = [["the", "dog", "barks"], ["a", "dog", "sleeps"], ["the", "cat", "sleeps"]]
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]]
    >>> model = StructuredPerceptron(seed=0).fit(X, y)
    >>> model.predict([["a", "cat", "barks"]])
    [['D', 'N', 'V']]
    >>> int(model.history_.objective.iloc[-1])  # wrong labels in the last pass
    0
    """

    method_id = "perceptron"
    title = "Averaged perceptron"
    summary = "Decode, compare with the truth, correct the weights; the average over all steps is the model."
    where = "thesis Algorithm 1"
    cost = epochs_cost(1e-9)
    options = (
        EPOCHS,
        AVERAGED,
        SHUFFLE,
        CONSTRAINTS,
        SEED,
        START_STOP,
    )

    def __init__(
        self,
        epochs: int = 10,
        averaged: bool = True,
        shuffle: bool = True,
        constraints: str | None = None,
        seed: int = 0,
        start_stop: bool = False,
    ):
        self.epochs = epochs
        self.averaged = averaged
        self.shuffle = shuffle
        self.constraints = constraints
        self.seed = seed
        self.start_stop = start_stop

    def _learn(
        self, encoded: EncodedSequences, labels: np.ndarray, dev: EncodedPair | None, recorder: Recorder
    ) -> None:
        n_sequences, shape = len(encoded), (encoded.n_attributes, len(self.classes_), self.start_stop)
        weights, sums = self._start(), LinearWeights.zeros(*shape)
        self._forbid(weights, encoded, labels)
        lengths = np.diff(encoded.offsets)
        random = np.random.default_rng(self.seed)
        steps = 0
        recorder.present = lambda encoded: self._scored(self._averaged(weights, sums, steps, shape), encoded)
        for epoch in range(1, self.epochs + 1):
            order = random.permutation(n_sequences) if self.shuffle else np.arange(n_sequences)
            wrong_labels = wrong_sequences = seen = 0
            for block in blocks_of(order, lengths, BLOCK_TOKENS):
                steps, labels_missed, sequences_missed = perceptron_block(
                    block, encoded.indptr, encoded.indices, encoded.values, encoded.offsets, labels,
                    weights.node, weights.edge, weights.start, weights.stop, self.start_stop,
                    sums.node, sums.edge, sums.start, sums.stop, steps,
                )  # fmt: skip
                wrong_labels, wrong_sequences = wrong_labels + labels_missed, wrong_sequences + sequences_missed
                seen += len(block)
                if not recorder.tell(epoch, wrong_labels, (epoch - 1 + seen / n_sequences) / self.epochs):
                    break
            self.model_ = self._model_of(self._averaged(weights, sums, steps, shape))
            more = {} if dev is None else {"dev_accuracy": self._dev_accuracy(dev, self.weights_)}
            recorder.record(epoch, wrong_labels, epoch / self.epochs, wrong_sequences=wrong_sequences, **more)
            if recorder.stopped or wrong_sequences == 0:
                break

    def _averaged(
        self, weights: LinearWeights, sums: LinearWeights, steps: int, shape: tuple[int, int, bool]
    ) -> LinearWeights:
        flat = weights.flat - sums.flat / steps if self.averaged else weights.flat.copy()
        flat[flat == -np.inf] = 0.0  # what is forbidden is so by the constraints, not by a weight
        return LinearWeights.of(flat, *shape)

    def _forbid(self, weights: LinearWeights, encoded: EncodedSequences, labels: np.ndarray) -> None:
        """-inf for forbidden transitions: they are never decoded, and never corrected since the truth has none."""
        constraints = constraints_for(self.constraints, self.classes_)
        if constraints is not None:
            refuse_forbidden(path_scores(self._scoring(encoded).potentials(weights), labels))
            weights.forbid(constraints)
