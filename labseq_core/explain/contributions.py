"""Why a model prefers one labelling to another: parts that add up to the difference of their scores.

F(x, y) - F(x, y') = Σ_t (node_t(y_t) - node_t(y'_t)) + transitions, start and stop in which the two differ,      and

weights           node_t(s) = Σ_a x_t[a] W[a, s]                      a part for each attribute of the position
kernel            node_t(s) = Σ_j β[j, s] k(x_t, z_j)                 a part for each training observation z_j
counts            node_t(s) = Σ_columns log P(value | s) [+ log P(s)]   a part for each column that is there or missing

Positions at which both labellings have the same label contribute nothing.

That is why Viterbi decoding chose. Posterior decoding compares probabilities of labels at one position t, which are sums over
labellings; with y the best labelling that has s there, y' the best one that has r there,

log p(y_t = s) - log p(y_t = r) = F(x, y) - F(x, y') + what all other labellings with s and with r add to either sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from labseq_core.chain import ChainPotentials
from labseq_core.checks import require
from labseq_core.data.alphabet import Alphabet
from labseq_core.explain.sequence import Reading
from labseq_core.features import EncodedSequences
from labseq_core.kernels.observations import SparseRows
from labseq_core.learners.base import SequenceLearner
from labseq_core.scoring.kernel_expansion import KernelExpansion
from labseq_core.scoring.model import Model

COLUMNS = ("kind", "position", "name", "value", "chosen", "rival", "difference")
OBSERVATIONS = 20  # of a position that get a row each; all others are one row
OTHERS = "all other training observations"
OTHER_LABELLINGS = "all other labellings with either label"
LEFT_OVER = "left over, since the fit stopped near the optimum"
_OF_TRAINING = ("observation", "others")


@dataclass(frozen=True, eq=False)
class Contributions:
    """Each row: what it is (kind, position from 1 on, name, value), what it adds to either score, and the difference.

    kind: attribute, observation (of training, with its number in the model), others, left over, prior, transition, start, stop,
    other labellings.
    """

    chosen: list[str]
    rival: list[str]
    chosen_score: float  # of the labelling; of posterior decoding the log-sum over all labellings with its label
    rival_score: float
    rows: list[dict]  # those that decide most first

    @property
    def difference(self) -> float:
        return self.chosen_score - self.rival_score

    @property
    def positions(self) -> list[int]:
        """Where the two labellings differ, from 1 on."""
        return [t for t, (one, other) in enumerate(zip(self.chosen, self.rival), start=1) if one != other]

    def together(self, most: int) -> list[dict]:
        """The rows that decide most, with all training observations of a position in one, and a last row for the rest."""
        rows = [row for row in self.rows if row["kind"] not in _OF_TRAINING]
        for t in self.positions:
            here = [row for row in self.rows if row["kind"] in _OF_TRAINING and row["position"] == t]
            rows += [_sum("observations", t, "training observations", here)] if here else []
        rows.sort(key=_weight)
        rest = rows[most:]
        return rows[:most] + ([_sum("rest", None, f"{len(rest)} smaller parts", rest)] if rest else [])

    def observations_at(self, position: int, most: int = OBSERVATIONS) -> list[dict]:
        """The training observations that decide most at a position, from 1 on, and a last row for all others."""
        own = [row for row in self.rows if row["position"] == position]
        rows = [row for row in own if row["kind"] == "observation"]
        rest = rows[most:] + [row for row in own if row["kind"] == "others"]
        return rows[:most] + ([_sum("others", position, OTHERS, rest)] if rest else [])


def contributions(
    learner: SequenceLearner,
    X,
    chosen: Sequence[str],
    rival: Sequence[str],
    votes: KernelExpansion | None = None,
) -> Contributions:
    """Of two labellings of one sequence, both allowed.

    X: as a learner takes it, one sequence. votes: the model as `observation_votes`, to get observations in place of features;
    what they leave of a score is a row of kind "left over".
    """
    encoded = learner.encode(X)
    require(len(encoded) == 1, f"X has {len(encoded)} sequences; contributions are of one")
    (potentials,) = learner.potentials(encoded)
    pair = [
        _numbers(name, given, learner, len(potentials.node)) for name, given in (("chosen", chosen), ("rival", rival))
    ]
    scores = [_path_score(potentials, labels) for labels in pair]
    require(min(scores) > -np.inf, "one of the labellings uses a forbidden transition, so its score is no number")
    positions = np.flatnonzero(pair[0] != pair[1])
    rows = list(_node_rows(votes or learner.fitted_model(), encoded, positions, *pair))
    if votes is not None:
        rows += list(_left_over(rows, potentials.node, positions, *pair))
    rows += _transition_rows(learner.classes_, potentials, *pair)
    rows.sort(key=_weight)
    return Contributions(list(chosen), list(rival), *scores, rows)


def posterior_contributions(found: Contributions, reading: Reading, position: int) -> Contributions:
    """Why one label is more probable than another at a position (from 0 on): the parts of the best labellings with either, and
    a row for all other labellings; they add up to the logarithm of the odds of the two labels.
    """
    sums = [reading.log_sum_of(position, labels[position]) for labels in (found.chosen, found.rival)]
    beyond = sums[0] - found.chosen_score, sums[1] - found.rival_score
    rows = [*found.rows, {**_row("other labellings", position, OTHER_LABELLINGS, 1.0, *beyond), "position": None}]
    return Contributions(found.chosen, found.rival, *sums, sorted(rows, key=_weight))


def training_places(
    expansion: KernelExpansion, training: EncodedSequences, observations: Sequence[int], several: int = 3
) -> list[dict]:
    """Where observations of a model stand in what it was trained on: how many places each has (`count`), and the first of
    them as pairs (sequence, position), from 0 on (`places`).
    """
    wanted = expansion.support.vectors.take(np.asarray(observations, dtype=np.int64))
    rows = SparseRows.of(training.with_vocabulary(expansion.support.vocabulary))
    lengths, found = np.diff(rows.indptr), []
    for number in range(len(wanted)):
        own = slice(wanted.indptr[number], wanted.indptr[number + 1])
        alike = np.flatnonzero(lengths == own.stop - own.start)
        entries = rows.indptr[alike][:, np.newaxis] + np.arange(own.stop - own.start)
        same = (rows.indices[entries] == wanted.indices[own]).all(axis=1)
        if rows.values.size or wanted.values.size:
            same &= (_values(rows, entries) == _values(wanted, np.arange(own.start, own.stop))).all(axis=1)
        positions = alike[same]
        first = positions[:several]
        sequences = np.searchsorted(training.offsets, first, side="right") - 1
        places = list(zip(sequences.tolist(), (first - training.offsets[sequences]).tolist()))
        found.append({"count": int(positions.size), "places": places})
    return found


def _values(rows: SparseRows, entries: np.ndarray) -> np.ndarray:
    return rows.values[entries] if rows.values.size else np.ones(entries.shape)


def _numbers(name: str, labels: Sequence[str], learner: SequenceLearner, length: int) -> np.ndarray:
    require(len(labels) == length, f"{name} has {len(labels)} labels for {length} tokens; give one per token")
    unknown = sorted(set(labels) - set(learner.classes_))
    require(not unknown, f"{name} has the label {unknown[0] if unknown else ''!r}, which the model does not know")
    return Alphabet(learner.classes_).encode(list(labels))


def _path_score(potentials: ChainPotentials, labels: np.ndarray) -> float:
    """F(x, y), the sum of what y picks."""
    edges = potentials.with_edge_per_position().edge
    places = np.arange(1, len(labels))
    nodes = potentials.node[np.arange(len(labels)), labels]
    steps = edges[places, labels[:-1], labels[1:]]
    return float(potentials.start[labels[0]] + nodes.sum() + steps.sum() + potentials.stop[labels[-1]])


def _transition_rows(
    classes: Sequence[str], potentials: ChainPotentials, chosen: np.ndarray, rival: np.ndarray
) -> Iterator[dict]:
    """Transitions, start and stop that only one of the two labellings has."""
    edges, last = potentials.with_edge_per_position().edge, len(chosen) - 1
    ends = (("start", 0, potentials.start), ("stop", last, potentials.stop))
    for kind, t, scores in ends:
        one, other = float(scores[chosen[t]]), float(scores[rival[t]])
        if chosen[t] != rival[t] and (one or other):
            yield _row(kind, t, f"{classes[chosen[t]]} against {classes[rival[t]]}", 1.0, one, other)
    for t in range(1, last + 1):
        pairs = [(int(labels[t - 1]), int(labels[t])) for labels in (chosen, rival)]
        one, other = (float(edges[t][pair]) for pair in pairs)
        if pairs[0] != pairs[1] and (one or other):
            names = [f"{classes[before]} → {classes[after]}" for before, after in pairs]
            yield _row("transition", t, " against ".join(names), 1.0, one, other)


def _node_rows(
    model: Model, encoded: EncodedSequences, positions: np.ndarray, chosen: np.ndarray, rival: np.ndarray
) -> Iterator[dict]:
    """A row for each part; of many training observations the ones that decide most, and one row for all others."""
    for t in positions.tolist():
        for parts in model.parts(encoded, t):
            one, other = parts.scores[:, chosen[t]], parts.scores[:, rival[t]]
            order = np.arange(len(one))
            if model.by_observations:
                order = np.argsort(-np.abs(one - other), kind="stable")
            shown = order[:OBSERVATIONS] if model.by_observations else order
            for j in shown.tolist():
                row = _row(parts.kind, t, parts.names[j], float(parts.values[j]), float(one[j]), float(other[j]))
                yield {**row, "observation": j} if model.by_observations else row
            rest = order[len(shown) :]
            if rest.size:
                yield _row("others", t, OTHERS, float(rest.size), float(one[rest].sum()), float(other[rest].sum()))


def _left_over(
    rows: Sequence[dict], node: np.ndarray, positions: np.ndarray, chosen: np.ndarray, rival: np.ndarray
) -> Iterator[dict]:
    """What votes leave of the scores."""
    for t in positions.tolist():
        here = [row for row in rows if row["position"] == t + 1]
        one, other = (sum(row[side] for row in here) for side in ("chosen", "rival"))
        yield _row("left over", t, LEFT_OVER, 1.0, float(node[t, chosen[t]]) - one, float(node[t, rival[t]]) - other)


def _sum(kind: str, position: int | None, name: str, rows: Sequence[dict]) -> dict:
    """One row in place of several; its value is how many observations or attributes these are."""
    count = sum(row["value"] if row["kind"] == "others" else 1.0 for row in rows)
    sides = [float(sum(row[side] for row in rows)) for side in ("chosen", "rival", "difference")]
    return dict(zip(COLUMNS, (kind, position, name, count, *sides)))


def _weight(row: dict) -> float:
    return -abs(row["difference"])


def _row(kind: str, t: int, name: str, value: float, chosen: float, rival: float) -> dict:
    return dict(zip(COLUMNS, (kind, t + 1, name, value, chosen, rival, chosen - rival)))
