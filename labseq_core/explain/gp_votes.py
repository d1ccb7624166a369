"""A Gaussian process that was fitted through explicit features, seen as votes of its training observations.

At the minimum of Σ_i -log p(y^i | x^i) + (l2/2) ‖f‖² the derivative vanishes, which says what f is (T 5.3.1):

f(·, s) = Σ_t k(·, x_t) (1[y_t = s] - p(y_t = s | x)) / l2      over all training positions t

An observation votes for its label as far as the model still doubts it. A fit stops close to the minimum, so a little of each
score is left over beside this sum.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from labseq_core.checks import require
from labseq_core.data.alphabet import Alphabet
from labseq_core.explain.lattice import Lattice
from labseq_core.features import EncodedSequences
from labseq_core.kernels import Observations
from labseq_core.learners.base import SequenceLearner
from labseq_core.learners.gpsc import GPSC
from labseq_core.scoring.kernel_expansion import KernelExpansion


def needs_training_data_to_vote(learner: SequenceLearner) -> bool:
    """Whether a model keeps weights of features only, so that its observations speak through `observation_votes`."""
    return isinstance(learner, GPSC) and learner.route_ == "explicit"


def observation_votes(
    learner: SequenceLearner, training: EncodedSequences, labels: Sequence[Sequence[str]]
) -> KernelExpansion:
    """The expansion above, from what the model was trained on."""
    name = type(learner).__name__
    require(needs_training_data_to_vote(learner), f"{name} has coefficients of observations itself, or none at all")
    encoded = training.with_vocabulary(learner.vocabulary_)
    truth = Alphabet(learner.classes_).encode([label for row in labels for label in row])
    require(len(truth) == encoded.n_positions, f"{len(truth)} labels for {encoded.n_positions} training positions")
    doubts = -np.concatenate([Lattice(potentials).marginals for potentials in learner.potentials(encoded)])
    doubts[np.arange(len(truth)), truth] += 1.0
    observations = Observations.of(encoded)
    beta = np.zeros((len(observations), len(learner.classes_)))
    np.add.at(beta, observations.rows, doubts / learner.l2)
    own = learner.expansion_
    return KernelExpansion.of(own.kernel, observations, beta, own.delta, own.eta, route="gram")
