"""The mistakes of the perceptron against Novikoff's bound: T 2.3.1, lecture slides.

If some weights of length 1 separate all true labellings by γ, and no correction Ψ(x, y*) - Ψ(x, y) is longer than R, then the
perceptron corrects itself at most (R / γ)² times, in whatever order it sees the sequences. The widest γ is that of the hard
margin: the shortest w with all margins at least 1 has γ = 1 / ‖w‖.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labseq_core.chain import path_statistics, viterbi
from labseq_core.data.alphabet import Alphabet
from labseq_core.features import EncodedSequences
from labseq_core.learners.hmsvm import HMSVM
from labseq_core.scoring.linear import LinearScoring

MOST_EPOCHS = 1000


@dataclass(frozen=True)
class MistakeBound:
    sentences: int
    mistakes: int  # corrections until all are right
    epochs: int
    longest: float  # R, of the corrections that were made
    margin: float  # γ, or a little less: the dual bounds it from below
    bound: float  # (R / γ)²


def mistake_bound(encoded: EncodedSequences, labels: list[list[str]]) -> MistakeBound:
    """Run the perceptron on separable data until it makes no mistake, and find the widest margin for the bound."""
    mistakes, epochs, longest = count_mistakes(encoded, labels)
    widest = HMSVM(slack="none", tol=1e-2).fit(encoded, labels)
    # The primal objective ½‖w‖² is that of weights with all margins open, so γ is at least this.
    margin = 1.0 / np.sqrt(2.0 * widest.primal_objective_)
    return MistakeBound(len(labels), mistakes, epochs, longest, float(margin), float((longest / margin) ** 2))


def count_mistakes(encoded: EncodedSequences, labels: list[list[str]]) -> tuple[int, int, float]:
    """Corrections and passes until there is none, and the length of the longest correction."""
    classes = sorted({label for sequence in labels for label in sequence})
    truth = [Alphabet(classes).encode(sequence) for sequence in labels]
    scorings = [LinearScoring(encoded.select([place]), len(classes)) for place in range(len(labels))]
    weights = scorings[0].weights()
    mistakes, epochs, longest, before = 0, 0, 0.0, -1
    while mistakes > before and epochs < MOST_EPOCHS:
        epochs, before = epochs + 1, mistakes
        for scoring, right in zip(scorings, truth):
            potentials = scoring.potentials(weights)
            guess = viterbi(potentials).labels
            if (guess != right).any():
                step = scoring.gradient(path_statistics(potentials, right)) - scoring.gradient(
                    path_statistics(potentials, guess)
                )
                weights.flat[:] += step
                mistakes, longest = mistakes + 1, max(longest, float(np.linalg.norm(step)))
    return mistakes, epochs, longest
