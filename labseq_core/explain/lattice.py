"""The recursions of one label chain with every number kept: what a trellis shows, and a labelling forced through a node.

forward     α_t(s) = node_t(s) + log Σ_r exp(α_{t-1}(r) + edge_t(r, s)),            α_1(s) = start(s) + node_1(s)
backward    β_t(s) = log Σ_r exp(edge_{t+1}(s, r) + node_{t+1}(r) + β_{t+1}(r)),    β_l(s) = stop(s)
Viterbi     δ_t(s) = node_t(s) + max_r (δ_{t-1}(r) + edge_t(r, s)),                 δ_1(s) = start(s) + node_1(s)

log Z = log Σ_s exp(α_l(s) + stop(s)),      p(y_t = s) = exp(α_t(s) + β_t(s) - log Z)

In plain numpy: one sentence takes some milliseconds, and nothing is compiled before it can be shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labseq_core.chain import ChainPotentials
from labseq_core.checks import LabSeqError, require, require_labellings

RECURSIONS = ("forward", "backward", "viterbi")


@dataclass(frozen=True, eq=False)
class Step:
    """How one node of a trellis gets its value from the labels of the column beside it.

    forward, viterbi:  value = own + log Σ exp or max of terms,      terms[r] = reached[r] + edge[r]
    backward:          value = log Σ exp of terms,                   terms[r] = reached[r] + edge[r] + beside[r]

    At the end where a recursion begins there is no column beside it: value = own.
    """

    recursion: str
    position: int
    label: int
    value: float
    own: float  # the node's score; at the first position with start; backward: 0, at the last position stop
    reached: np.ndarray  # (S,) or empty: values of the column before (backward: after)
    edge: np.ndarray  # (S,) or empty: transitions between those labels and this one
    beside: np.ndarray  # (S,) or empty: backward: node scores of the column after; else zeros

    @property
    def terms(self) -> np.ndarray:
        return self.reached + self.edge + self.beside

    @property
    def shares(self) -> np.ndarray:
        """What part of the sum each term is; of Viterbi 1 for the label that is pointed at."""
        terms = self.terms
        if not terms.size or terms.max() == -np.inf:
            return np.zeros_like(terms)
        if self.recursion == "viterbi":
            return (np.arange(terms.size) == terms.argmax()).astype(np.float64)
        odds = np.exp(terms - terms.max())
        return odds / odds.sum()


class Lattice:
    """All recursions of one chain; arrays are (positions, S), -inf where nothing allowed gets."""

    def __init__(self, potentials: ChainPotentials):
        require(len(potentials) == 1, f"a lattice is of one sequence, here are {len(potentials)}; take them one by one")
        self.potentials = potentials
        edges = potentials.with_edge_per_position().edge
        node, length = potentials.node, len(potentials.node)
        self.forward, self.best = np.empty_like(node), np.empty_like(node)
        self.backward, self.best_after = np.empty_like(node), np.empty_like(node)
        self.pointers = np.full(node.shape, -1)  # [position, label]: the best label before
        self.pointers_after = np.full(node.shape, -1)  # and the best one after
        self.forward[0] = self.best[0] = potentials.start + node[0]
        for t in range(1, length):
            self.forward[t] = node[t] + _log_sum(self.forward[t - 1][:, np.newaxis] + edges[t])
            reached = self.best[t - 1][:, np.newaxis] + edges[t]
            self.pointers[t] = reached.argmax(axis=0)
            self.best[t] = node[t] + reached.max(axis=0)
        self.backward[-1] = self.best_after[-1] = potentials.stop
        for t in range(length - 2, -1, -1):
            onward = (edges[t + 1] + node[t + 1]).T
            self.backward[t] = _log_sum(onward + self.backward[t + 1][:, np.newaxis])
            reached = onward + self.best_after[t + 1][:, np.newaxis]
            self.pointers_after[t] = reached.argmax(axis=0)
            self.best_after[t] = reached.max(axis=0)
        self.best_score = float((self.best[-1] + potentials.stop).max())
        if self.best_score == -np.inf:
            raise LabSeqError(
                "no labelling is allowed: every one uses a forbidden transition; force another label, or train without "
                "constraints"
            )
        self.log_partition = float(_log_sum((self.forward[-1] + potentials.stop)[:, np.newaxis])[0])

    def __len__(self) -> int:
        return len(self.potentials.node)

    @cached_property
    def labels(self) -> np.ndarray:
        """(positions,): the best labelling; among equals the lowest label numbers, from the end."""
        return self._traced(len(self) - 1, int((self.best[-1] + self.potentials.stop).argmax()))

    @cached_property
    def marginals(self) -> np.ndarray:
        """p(y_t = s), if scores are log-odds."""
        return np.exp(self.forward + self.backward - self.log_partition)

    @cached_property
    def through(self) -> np.ndarray:
        """The score of the best labelling through each node."""
        return self.best + self.best_after

    @cached_property
    def behind(self) -> np.ndarray:
        """How far that is behind the best labelling of all: 0 on its way, never less by rounding."""
        return np.maximum(self.best_score - self.through, 0.0)

    @cached_property
    def gaps(self) -> np.ndarray:
        """(positions,): by how much the best labelling beats the best one with another label there; inf: there is none."""
        others = self.behind.copy()
        others[np.arange(len(self)), self.labels] = np.inf
        return others.min(axis=1)

    def values(self, recursion: str) -> np.ndarray:
        """What a recursion computes."""
        require(recursion in RECURSIONS, f"recursion is {recursion!r}; choose one of {', '.join(RECURSIONS)}")
        return {"forward": self.forward, "backward": self.backward, "viterbi": self.best}[recursion]

    def labels_through(self, position: int, label: int) -> np.ndarray:
        """(positions,): the best labelling that has this label at this position."""
        self._require_node(position, label)
        require(self.through[position, label] > -np.inf, "no allowed labelling has that label at that position")
        labels = self._traced(position, label, len(self))
        for t in range(position, len(self) - 1):
            labels[t + 1] = self.pointers_after[t, labels[t]]
        return labels

    def rival_at(self, position: int) -> int | None:
        """The label of the best labelling that has another one there than the best labelling; None: there is none."""
        self._require_node(position, 0)
        rivals = self.through[position].copy()
        rivals[self.labels[position]] = -np.inf
        return int(rivals.argmax()) if rivals.max() > -np.inf else None

    def path_to(self, position: int, label: int) -> np.ndarray:
        """(position + 1,): the best beginning of a labelling that ends in a node, by the pointers."""
        self._require_node(position, label)
        return self._traced(position, label)

    def step(self, recursion: str, position: int, label: int) -> Step:
        """How the value of a node came about."""
        values, potentials = self.values(recursion), self.potentials
        self._require_node(position, label)
        edges, node, nothing = potentials.with_edge_per_position().edge, potentials.node, np.empty(0)
        value = float(values[position, label])
        if recursion == "backward":
            if position == len(self) - 1:
                return Step(recursion, position, label, value, value, nothing, nothing, nothing)
            after = position + 1
            return Step(recursion, position, label, value, 0.0, values[after], edges[after, label], node[after])
        if position == 0:
            return Step(recursion, position, label, value, value, nothing, nothing, nothing)
        edge, own = edges[position, :, label], float(node[position, label])
        return Step(recursion, position, label, value, own, values[position - 1], edge, np.zeros_like(edge))

    def k_best(self, k: int) -> list[tuple[np.ndarray, float]]:
        """The k best labellings with their scores, best first; fewer where fewer are allowed."""
        require_labellings(k)
        potentials, n_labels = self.potentials, self.potentials.n_labels
        edges = potentials.with_edge_per_position().edge
        scores = self.best[:1].copy()  # (rank, S): the best, second best, ... beginnings that end in each label
        back = []  # per position: (rank, S), the flat place (rank, label) in the column before
        for t in range(1, len(self)):
            reached = (scores[:, :, np.newaxis] + edges[t]).reshape(-1, n_labels)
            places = np.argsort(-reached, axis=0, kind="stable")[:k]
            scores = np.take_along_axis(reached, places, axis=0) + potentials.node[t]
            back.append(places)
        total = (scores + potentials.stop).ravel()
        labellings = []
        for place in np.argsort(-total, kind="stable")[:k].tolist():
            if total[place] == -np.inf:
                break
            score, labels = float(total[place]), [place % n_labels]
            for places in reversed(back):
                place = int(places[place // n_labels, place % n_labels])
                labels.append(place % n_labels)
            labellings.append((np.array(labels[::-1]), score))
        return labellings

    def _traced(self, position: int, label: int, length: int | None = None) -> np.ndarray:
        labels = np.empty(length or position + 1, dtype=np.int64)
        labels[position] = label
        for t in range(position, 0, -1):
            labels[t - 1] = self.pointers[t, labels[t]]
        return labels

    def _require_node(self, position: int, label: int) -> None:
        n_labels = self.potentials.n_labels
        require(0 <= position < len(self), f"position is {position}; the sequence has {len(self)}, from 0 on")
        require(0 <= label < n_labels, f"label is {label}; there are {n_labels}, from 0 on")


def forced(potentials: ChainPotentials, labels: Mapping[int, int]) -> ChainPotentials:
    """The same chain with these labels forced: position -> label; all other labels are forbidden there."""
    node = potentials.node.copy()
    for position, label in labels.items():
        require(0 <= position < len(node), f"position is {position}; the sequence has {len(node)}, from 0 on")
        others = np.arange(potentials.n_labels) != label
        require(not others.all(), f"label is {label}; there are {potentials.n_labels}, from 0 on")
        node[position, others] = -np.inf
    return ChainPotentials(potentials.start, node, potentials.edge, potentials.stop, potentials.offsets)


def _log_sum(terms: np.ndarray) -> np.ndarray:
    """log Σ_r exp(terms[r]) of each column; -inf where all are."""
    highest = terms.max(axis=0)
    shift = np.where(highest > -np.inf, highest, 0.0)
    with np.errstate(divide="ignore"):  # log 0 is -inf, and meant so
        return shift + np.log(np.exp(terms - shift).sum(axis=0))
