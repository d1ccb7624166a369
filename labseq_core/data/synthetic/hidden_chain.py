"""A hidden Markov chain whose states carry labels: drawing labelled sentences, and the exact posterior of the labels."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from random import Random

import numpy as np

from labseq_core.checks import LabSeqError, require
from labseq_core.data.sequences import Sequences
from labseq_core.data.synthetic.emissions import Emission, Value

TOKEN = "token"  # the name of the words among the visible values


@dataclass(frozen=True)
class HiddenChain:
    """States s with P(first), P(next | s), P(end | s) and independent visible values given s (and the token).

    Several states may carry one label, so that a label can depend on more than its neighbours.
    """

    state_labels: list[str]  # (S,)
    start: np.ndarray  # (S,) probabilities, sum 1
    transition: np.ndarray  # (S, S), [from, to]; each row sums to 1 together with its `stop`
    stop: np.ndarray  # (S,)
    emissions: Mapping[str, list[Emission]]  # "token" first, then the visible columns; one emission per state

    @cached_property
    def labels(self) -> list[str]:
        return sorted(set(self.state_labels))

    @cached_property
    def _cumulative_moves(self) -> list[list[float]]:
        """Per state the running sums over [next states, end]; the last list is for the first state of a sentence."""
        moves = np.column_stack([self.transition, self.stop])
        first = np.append(self.start, 0.0)
        return np.cumsum(np.vstack([moves, first]), axis=1).tolist()

    def draw(self, random: Random) -> tuple[list[int], dict[str, list[Value]]]:
        """One sentence: its hidden states and its visible values."""
        end = len(self.state_labels)
        states: list[int] = []
        visible: dict[str, list[Value]] = {name: [] for name in self.emissions}
        state = self._move(random, -1)
        while state != end:
            states.append(state)
            token = self.emissions[TOKEN][state].draw(random)
            for name, emissions in self.emissions.items():
                visible[name].append(token if name == TOKEN else emissions[state].draw(random, token))
            state = self._move(random, state)
        return states, visible

    def _move(self, random: Random, state: int) -> int:
        cumulative = self._cumulative_moves[state]
        # The sums end at 1 up to rounding: scaling by the last one never runs past it.
        return bisect(cumulative, random.random() * cumulative[-1])

    def log_likelihoods(self, sequences: Sequences) -> np.ndarray:
        """(positions, S): log P(visible values of the position | state)."""
        total = np.zeros((sequences.n_tokens, len(self.state_labels)))
        for name, emissions in self.emissions.items():
            total += _log_probs(emissions, _visible(sequences, name), sequences.flat_tokens)
        impossible = np.flatnonzero(~np.isfinite(total).any(axis=1))
        if impossible.size:
            token = sequences.flat_tokens[impossible[0]]
            raise LabSeqError(
                f"the token {token!r} with its columns (position {impossible[0]}) has probability 0; "
                "the true posterior is known for text of this generator only"
            )
        return total

    def posterior(self, sequences: Sequences) -> list[np.ndarray]:
        """P(label | all visible values) as one (l, labels) array per sentence, labels sorted."""
        # Imported here: the chain layer stands above the containers of this package, and only the truth needs it.
        from labseq_core.chain import ChainPotentials, forward_backward

        with np.errstate(divide="ignore"):
            start, edge, stop = np.log(self.start), np.log(self.transition), np.log(self.stop)
        potentials = ChainPotentials(start, self.log_likelihoods(sequences), edge, stop, sequences.offsets)
        of_labels = forward_backward(potentials).node_marginals @ self._carries
        return np.split(of_labels, sequences.offsets[1:-1])

    @cached_property
    def _carries(self) -> np.ndarray:
        """[state, label]: 1 where the state carries the label."""
        return np.array([[label == own for label in self.labels] for own in self.state_labels], dtype=np.float64)

    def best_labellings(self, sequences: Sequences) -> list[list[str]]:
        """The most probable labelling of each sentence given all visible values: what Viterbi decoding looks for."""
        likelihoods = np.split(self.log_likelihoods(sequences), sequences.offsets[1:-1])
        return [[self.labels[label] for label in self._best_labelling(rows)] for rows in likelihoods]

    def _best_labelling(self, log_likelihoods: np.ndarray) -> tuple[int, ...]:
        """Of one sentence, by a search that always goes on with the most probable beginning.

        Several states may carry one label: the probability of a labelling is a sum over paths of states, so no recursion over
        labels finds the largest. But a labelling is never more probable than its beginning: the first whole one that is the
        most probable of all is the best, after at most 1 / P(best) beginnings of each length.
        """
        node = np.exp(log_likelihoods - log_likelihoods.max(axis=1, keepdims=True))  # up to a factor per position
        # Up to a factor, last position first: [s], all that follows from a position on, and from the next on after state s.
        ahead, onward = [node[-1] * self.stop], []
        for own in node[-2::-1]:
            onward.append(self.transition @ ahead[-1])
            ahead.append(own * onward[-1] / onward[-1].max())
        ahead, onward = ahead[::-1], onward[::-1]
        first = self.start * ahead[0]
        beginnings = self._by_label((), first / first.sum())
        while True:
            _, labels, mass = heappop(beginnings)
            if len(labels) == len(node):
                return labels
            # P(next state | state here, all that is visible) = transition * ahead / onward
            here = onward[len(labels) - 1]
            share = np.divide(mass, here, out=np.zeros_like(mass), where=here > 0)
            for longer in self._by_label(labels, share @ self.transition * ahead[len(labels)]):
                heappush(beginnings, longer)

    def _by_label(self, labels: tuple[int, ...], mass: np.ndarray) -> list[tuple[float, tuple[int, ...], np.ndarray]]:
        """Beginnings that are one label longer, as a heap takes them: minus P, labels, and [s]: P of those that end in s."""
        shares = mass @ self._carries
        found = [
            (-share, (*labels, label), mass * self._carries[:, label])
            for label, share in enumerate(shares.tolist())
            if share
        ]
        return sorted(found, key=lambda each: each[:2])


def _visible(sequences: Sequences, name: str) -> list[Value]:
    if name == TOKEN:
        return sequences.flat_tokens
    require(
        name in sequences.flat_columns, f"column {name!r} is missing; the true posterior of this corpus depends on it"
    )
    return list(sequences.flat_columns[name])


def _log_probs(emissions: list[Emission], values: list[Value], tokens: list[str]) -> np.ndarray:
    """(positions, S), computed once per distinct (value, token) and distinct emission."""
    distinct_pairs = dict.fromkeys(zip(values, tokens))
    distinct_emissions = list(dict.fromkeys(emissions))
    rows = {pair: row for row, pair in enumerate(distinct_pairs)}
    columns = {emission: column for column, emission in enumerate(distinct_emissions)}
    table = np.array([[emission.log_prob(*pair) for emission in distinct_emissions] for pair in distinct_pairs])
    return table[np.array([rows[pair] for pair in zip(values, tokens)])][
        :, [columns[emission] for emission in emissions]
    ]
