"""Which coordinates of a kernel expansion to take next: T Algorithm 8, lines 3-7, and T 5.3.3."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from labseq_core.chain import ChainPotentials, k_best, viterbi
from labseq_core.scoring.kernel_expansion import potentials_of_scores
from labseq_core.solvers.gaussian.greedy_basis import Expansion, Path

NO_PAIR = -1  # the last position of a sequence has no pair of labels
Key = tuple[int, ...]


class Basis(ABC):
    """Coordinates of some kind, and which of them have been taken."""

    def __init__(self, expansion: Expansion):
        self._expansion = expansion
        self.seen: set[Key] = set()

    @property
    def n_positions(self) -> int:
        """What the number of coordinates is measured against."""
        return len(self._expansion.scoring.rows)

    def choose(self, sequences: list[int], count: int, only_new: bool) -> tuple[dict[Key, Path], float]:
        """The steepest coordinates of one of these sequences, the steepest, and the slope of the first."""
        scoring = self._expansion.scoring
        rows = [scoring.rows[scoring.offsets[i] : scoring.offsets[i + 1]] for i in sequences]
        slopes = self._expansion.node_slopes(np.concatenate(rows))
        parts = np.split(slopes, np.cumsum([len(own) for own in rows])[:-1])
        choices = (self._chosen(i, own, part, count, only_new) for i, own, part in zip(sequences, rows, parts))
        return max(choices, key=lambda one: one[1])

    @abstractmethod
    def _chosen(
        self, sequence: int, rows: np.ndarray, node: np.ndarray, count: int, only_new: bool
    ) -> tuple[dict[Key, Path], float]:
        """The same of one sequence; rows: its observations, node: their slopes, (l, S)."""


class ObservationBasis(Basis):
    """γ_(i,t,σ,τ): a label of an observation, together with a pair of labels. Equal observations share coordinates.

    Keys are (observation, σ, τ).
    """

    def __init__(self, expansion: Expansion):
        super().__init__(expansion)
        constraints = expansion.scoring.constraints
        n_labels = expansion.scoring.n_labels
        self._forbidden = np.zeros((n_labels, n_labels), dtype=np.bool_) if constraints is None else constraints.edge

    @property
    def pairs_seen(self) -> int:
        return len(self.seen)

    def n_coordinates(self) -> int:
        """How many distinct ones there are."""
        scoring = self._expansion.scoring
        last = np.zeros(len(scoring.rows), dtype=np.bool_)
        last[scoring.offsets[1:] - 1] = True
        alone, inside = len(np.unique(scoring.rows[last])), len(np.unique(scoring.rows[~last]))
        return alone * scoring.n_labels + inside * int((~self._forbidden).sum())

    def steepest_sequence(self) -> int:
        scoring = self._expansion.scoring
        slopes = self._best_pair(scoring.gram.product(self._expansion.r_beta)[scoring.rows], scoring.offsets)[0]
        return int(np.searchsorted(scoring.offsets, np.argmax(np.abs(slopes).max(axis=1)), side="right")) - 1

    def _chosen(self, sequence, rows, node, count, only_new):
        """Of each position and label only the pair that adds most to the slope: others would repeat it."""
        scoring = self._expansion.scoring
        there = [(t, key) for t, row in enumerate(rows) for key in self._keys_of(int(row))] if only_new else []
        slopes, partners = self._best_pair(node, np.array([0, len(rows)]), there)
        order = np.argsort(-np.abs(slopes), axis=None, kind="stable")
        keys: dict[Key, float] = {}
        for place in order:
            t, s = divmod(int(place), scoring.n_labels)
            if len(keys) == count or not np.isfinite(slopes[t, s]) or slopes[t, s] == 0.0:
                break
            keys.setdefault((int(rows[t]), s, int(partners[t, s])), abs(float(slopes[t, s])))
        paths = {
            (o, s, u): (np.array([o]), np.array([s]), np.array([[s, u]][: int(u != NO_PAIR)]).reshape(-1, 2))
            for o, s, u in keys
        }
        return paths, max(keys.values(), default=0.0)

    def _keys_of(self, row: int) -> list[Key]:
        n_labels = self._expansion.scoring.n_labels
        every = ((row, s, u) for s in range(n_labels) for u in range(NO_PAIR, n_labels))
        return [key for key in every if key in self.seen]

    def _best_pair(self, node: np.ndarray, offsets: np.ndarray, blocked=()) -> tuple[np.ndarray, np.ndarray]:
        """For each position and label the largest slope by size over τ, and that τ; 0 where there is none."""
        edge = self._expansion.edge_slopes()
        last = np.zeros(len(node), dtype=np.bool_)
        last[offsets[1:] - 1] = True
        highest, lowest = np.where(self._forbidden, -np.inf, edge), np.where(self._forbidden, np.inf, edge)
        if not blocked:
            # |node + edge| is largest at the highest or at the lowest edge
            top, bottom = node + highest.max(axis=1), node + lowest.min(axis=1)
            upwards = np.where(np.isfinite(top), np.abs(top), -1.0) >= np.where(
                np.isfinite(bottom), np.abs(bottom), -1.0
            )
            slopes = np.where(upwards, top, bottom)
            partners = np.where(upwards, highest.argmax(axis=1), lowest.argmin(axis=1))
            slopes[last], partners[last] = node[last], NO_PAIR
            return np.where(np.isfinite(slopes), slopes, 0.0), partners
        every = node[:, :, np.newaxis] + np.where(self._forbidden, np.nan, edge)  # (l, S, S)
        alone = node.copy()
        for t, (_, s, u) in blocked:
            if u == NO_PAIR:
                alone[t, s] = 0.0
            else:
                every[t, s, u] = 0.0
        sizes = np.nan_to_num(np.abs(every), nan=0.0)
        partners = sizes.argmax(axis=2)
        slopes = np.nan_to_num(np.take_along_axis(every, partners[:, :, np.newaxis], axis=2)[:, :, 0], nan=0.0)
        slopes[last], partners[last] = alone[last], NO_PAIR
        return slopes, partners


class SequenceBasis(Basis):
    """α_(j,ȳ): a training sequence with any labelling. The steepest are found by decoding the slopes, up and down.

    Keys are (sequence, labels ...).
    """

    @property
    def pairs_seen(self) -> int:
        scoring = self._expansion.scoring
        lengths = np.diff(scoring.offsets)
        return sum(int(lengths[key[0]]) for key in self.seen)

    def n_coordinates(self) -> int:
        lengths = np.diff(self._expansion.scoring.offsets).tolist()
        return sum(self._expansion.scoring.n_labels**length for length in lengths)

    def _chains(self, node: np.ndarray, offsets: np.ndarray) -> tuple[ChainPotentials, ChainPotentials]:
        """Slopes as scores, and those with the sign turned."""
        edge, constraints = self._expansion.edge_slopes(), self._expansion.scoring.constraints
        return tuple(potentials_of_scores(sign * node, sign * edge, constraints, offsets) for sign in (1.0, -1.0))

    def steepest_sequence(self) -> int:
        scoring = self._expansion.scoring
        chains = self._chains(scoring.gram.product(self._expansion.r_beta)[scoring.rows], scoring.offsets)
        return int(np.argmax(np.maximum(*(viterbi(chain).scores for chain in chains))))

    def _chosen(self, sequence, rows, node, count, only_new):
        # Those that are taken already may be among the best: as many more are asked for.
        known = sum(key[0] == sequence for key in self.seen) if only_new else 0
        chains = self._chains(node, np.array([0, len(rows)]))
        candidates = [one for chain in chains for one in k_best(chain, count + known)[0]]
        keys: dict[Key, float] = {}
        for labels, slope in sorted(candidates, key=lambda one: -one[1]):
            key = (sequence, *labels.tolist())
            if len(keys) == count or slope <= 0.0:
                break
            if not (only_new and key in self.seen):
                keys.setdefault(key, slope)
        paths = {key: (rows, np.array(key[1:]), np.array([key[1:-1], key[2:]]).T) for key in keys}
        return paths, max(keys.values(), default=0.0)


BASES = {"observation": ObservationBasis, "sequence": SequenceBasis}
