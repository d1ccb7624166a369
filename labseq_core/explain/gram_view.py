"""Kernel values of a Gaussian process at work: training observations that decide on a token, and what a Gram matrix is like.

node[t, s] = Σ_j β[j, s] k(x_t, z_j)      z_j the distinct training observations      (T 5.2, 5.19)
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from labseq_core.checks import require
from labseq_core.explain.gp_votes import needs_training_data_to_vote, observation_votes
from labseq_core.explain.sparse_gp import is_gp
from labseq_core.features import EncodedSequences
from labseq_core.kernels import Kernel, Observations
from labseq_core.kernels.blocks import KernelSide, small_block
from labseq_core.learners.gpsc import GPSC
from labseq_core.learners.sparse_gpsc import SparseGPSC

INFLUENCE_COLUMNS = (
    "word", "label", "sequence", "position", "times", "kernel", "usual", "beta", "contribution", "difference",
)  # fmt: skip
AVERAGED = 200  # training positions that stand for the average word
_NEARLY_ALL = 0.99  # of the sum of eigenvalues


class TrainingView:
    """The distinct observations of training data: where each was seen first, how often, and with which label mostly."""

    def __init__(self, encoded: EncodedSequences, labels: list[list[str]], words: list[list[str]]):
        self.observations = Observations.of(encoded)
        self.encoded = encoded
        self.labels = labels
        flat_labels = [label for sequence in labels for label in sequence]
        self.words = [word for sequence in words for word in sequence]
        fits = len(flat_labels) == len(self.words) == encoded.n_positions
        require(fits, "observations, labels and words are not of the same sequences; give those of one training part")
        rows = self.observations.rows
        self.firsts = np.unique(rows, return_index=True)[1]  # position of each observation where it was seen first
        self.times = np.bincount(rows, minlength=len(self.observations))
        counts: list[Counter] = [Counter() for _ in range(len(self.observations))]
        for row, label in zip(rows.tolist(), flat_labels):
            counts[row][label] += 1
        self.usual = [min(count, key=lambda label: (-count[label], label)) for count in counts]

    def __len__(self) -> int:
        return len(self.observations)

    def about(self, number: int) -> dict:
        """Word, usual label, sequence and position (from 1 on) of the first time, and how often an observation was seen."""
        position = int(self.firsts[number])
        sequence = int(np.searchsorted(self.encoded.offsets, position, side="right")) - 1
        return {
            "word": self.words[position],
            "label": self.usual[number],
            "sequence": sequence + 1,
            "position": position - int(self.encoded.offsets[sequence]) + 1,
            "times": int(self.times[number]),
        }

    def numbers_of(self, others: Observations) -> list[int]:
        """Which of the observations here the others are."""
        places = {key: number for number, key in enumerate(_keys(self.observations))}
        numbers = [places.get(key, -1) for key in _keys(others)]
        require(-1 not in numbers, "the model was trained on other observations; give its own training data")
        return numbers


def _keys(observations: Observations) -> list[tuple[bytes, bytes]]:
    vectors = observations.vectors
    bounds = list(zip(vectors.indptr[:-1].tolist(), vectors.indptr[1:].tolist()))
    # Without values all are 1: then the second key is the same for all.
    return [(vectors.indices[i:j].tobytes(), vectors.values[i:j].tobytes()) for i, j in bounds]


@dataclass(frozen=True)
class Coefficients:
    """β of a Gaussian process: a row for each training observation that has any."""

    observations: Observations
    numbers: list[int]  # in the training view
    beta: np.ndarray  # (observations, S)
    usual: np.ndarray  # (observations,): k̄_j, the mean of k(x, z_j) over training positions x


def coefficients(learner: GPSC | SparseGPSC, view: TrainingView) -> Coefficients:
    """The coefficients that a model has or, if it was fitted by explicit features, those of `observation_votes`."""
    name = type(learner).__name__
    require(is_gp(type(learner)), f"{name} is no Gaussian process; choose GPSC or SparseGPSC")
    learner.fitted_model()
    expansion = learner.expansion_
    if needs_training_data_to_vote(learner):
        expansion = observation_votes(learner, view.encoded, view.labels)
    support = expansion.support
    return Coefficients(support, view.numbers_of(support), expansion.beta, _usual(learner.kernel, view, support))


def _usual(kernel: Kernel, view: TrainingView, others: Observations) -> np.ndarray:
    """How alike the others are to a training position on average, over some that are spread evenly."""
    rows = view.observations.rows
    places = np.linspace(0, len(rows) - 1, min(len(rows), AVERAGED)).round().astype(int)
    return _between(kernel, view.observations, rows[places], others).mean(axis=0)


@dataclass(frozen=True)
class Influence:
    """What training observations say for a label at one position.

    contribution: β[j, s] k(x, z_j).   difference: β[j, s] (k(x, z_j) - k̄_j), how much more than of an average word: where all
    are rather alike, contributions are large and cancel, and these say what is special about this one.
    """

    label: str
    score: float  # node score of the label, as the model has it
    rows: list[dict]  # INFLUENCE_COLUMNS of all observations

    def largest(self, by: str) -> list[dict]:
        """The rows by size, of either sign, of the contribution or of the difference."""
        return sorted(self.rows, key=lambda row: -abs(row[by]))

    @property
    def explained(self) -> float:
        """The sum of the contributions: the score, up to the tolerance of a fit by explicit features."""
        return sum(row["contribution"] for row in self.rows)

    @property
    def average(self) -> float:
        """The score of an average word: what the differences start from."""
        return sum(row["contribution"] - row["difference"] for row in self.rows)


def influences(
    learner: GPSC | SparseGPSC,
    view: TrainingView,
    coefficients: Coefficients,
    sentence: EncodedSequences,
    position: int,
    label: str | None = None,
) -> Influence:
    """β[j, s] k(x, z_j) of all observations for a label at a position (from 0 on) of one sentence; None: the predicted one."""
    require(len(sentence) == 1, f"give one sentence, not {len(sentence)}")
    require(0 <= position < sentence.n_positions, f"position is {position}; the sentence has {sentence.n_positions}")
    known = learner.classes_
    label = learner.predict(sentence)[0][position] if label is None else label
    require(label in known, f"the model has no label {label!r}; it knows {', '.join(known[:10])}")
    column = known.index(label)
    score = float(learner.potentials(sentence)[0].node[position, column])
    here = Observations.of_positions(sentence.with_vocabulary(learner.vocabulary_))
    values = _between(learner.kernel, here, np.array([position]), coefficients.observations)[0]
    beta = coefficients.beta[:, column]
    rows = []
    for number, k, usual, own in zip(coefficients.numbers, values.tolist(), coefficients.usual.tolist(), beta.tolist()):
        sizes = (k, usual, own, own * k, own * (k - usual))
        rows.append(view.about(number) | dict(zip(INFLUENCE_COLUMNS[-5:], sizes)))
    return Influence(label, score, rows)


def _between(kernel: Kernel, left: Observations, rows: np.ndarray, right: Observations) -> np.ndarray:
    if len(right) == 0:
        return np.zeros((len(rows), 0))
    return small_block(KernelSide(kernel, left), rows, KernelSide(kernel, right), np.arange(len(right)))


@dataclass(frozen=True)
class GramSample:
    """Kernel values between some training observations, which are in order of their labels."""

    values: np.ndarray  # (n, n)
    rows: list[dict]  # as `TrainingView.about`

    def cosines(self) -> GramSample:
        """k(x, z) / √(k(x, x) k(z, z)): the same of observations made equally long."""
        lengths = np.sqrt(np.diag(self.values))
        lengths[lengths == 0.0] = 1.0
        return GramSample(self.values / np.outer(lengths, lengths), self.rows)

    def likeness(self) -> tuple[float | None, float | None]:
        """The mean value between different observations of one label, and of two; None if there are none."""
        labels = np.array([row["label"] for row in self.rows])
        same = labels[:, np.newaxis] == labels
        apart = ~np.eye(len(labels), dtype=bool)
        return tuple(float(self.values[where].mean()) if where.any() else None for where in (same & apart, ~same))


def gram_sample(kernel: Kernel, view: TrainingView, size: int) -> GramSample:
    """At most so many observations, as evenly over the labels as there are, and spread evenly over each label's."""
    require(size >= 2, f"size is {size}; a Gram matrix to look at needs at least 2 observations")
    by_label: dict[str, list[int]] = {label: [] for label in sorted(set(view.usual))}
    for number, label in enumerate(view.usual):
        by_label[label].append(number)
    shares = _even_shares([len(numbers) for numbers in by_label.values()], size)
    chosen = []
    for numbers, share in zip(by_label.values(), shares):
        places = np.linspace(0, len(numbers) - 1, share).round().astype(int) if share else []
        chosen += [numbers[place] for place in places]
    taken = view.observations.take(np.array(chosen))
    return GramSample(_between(kernel, taken, np.arange(len(chosen)), taken), [view.about(n) for n in chosen])


def _even_shares(there: list[int], wanted: int) -> list[int]:
    """So many in all, one to each in turn as long as it has more."""
    shares = [0] * len(there)
    while sum(shares) < min(wanted, sum(there)):
        for place, most in enumerate(there):
            if shares[place] < most and sum(shares) < wanted:
                shares[place] += 1
    return shares


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues of a Gram matrix: along how many directions its observations really differ."""

    eigenvalues: np.ndarray  # largest first; what rounding made negative is 0
    effective_rank: float  # exp of the entropy of the shares λ_i / Σ λ: n if all are equal, 1 if there is one
    nearly_all: int  # how many of the largest make 99 % of the sum


def spectrum(values: np.ndarray) -> Spectrum:
    eigenvalues = np.maximum(np.linalg.eigvalsh(values)[::-1], 0.0)
    total = float(eigenvalues.sum())
    if total == 0.0:
        return Spectrum(eigenvalues, 0.0, 0)
    shares = eigenvalues / total
    positive = shares[shares > 0.0]
    rank = float(np.exp(-np.sum(positive * np.log(positive))))
    nearly_all = int(np.searchsorted(np.cumsum(shares), _NEARLY_ALL)) + 1
    return Spectrum(eigenvalues, rank, min(nearly_all, len(eigenvalues)))
