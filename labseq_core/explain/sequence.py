"""What models make of one sentence: from a corpus, or typed; labels, how sure they are, further labellings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labseq_core.checks import require
from labseq_core.data.sequences import Column, Sequences
from labseq_core.explain.lattice import Lattice, forced
from labseq_core.learners.base import DECODINGS, SequenceLearner


@dataclass(frozen=True, eq=False)
class Reading:
    """What a model makes of one sentence."""

    classes: list[str]
    probabilistic: bool
    lattice: Lattice
    decoding: str  # viterbi: the best labelling is given; posterior: the most probable label of each token

    def __len__(self) -> int:
        return len(self.lattice)

    @cached_property
    def given(self) -> np.ndarray:
        """(positions,): numbers of the labels that the model gives."""
        return self.lattice.marginals.argmax(axis=1) if self.by_posterior else self.lattice.labels

    @cached_property
    def labels(self) -> list[str]:
        """The labels that the model gives."""
        return self.names(self.given)

    @property
    def by_posterior(self) -> bool:
        return self.decoding == "posterior"

    @cached_property
    def confidence(self) -> list[float]:
        """Of each label given: its probability; without probabilities the score gap, which is none."""
        if not self.probabilistic:
            return self.lattice.gaps.tolist()
        return self.lattice.marginals[np.arange(len(self)), self.given].tolist()

    @property
    def least_sure(self) -> int:
        """The position at which the model is least sure of its label."""
        return int(np.argmin(self.confidence))

    def names(self, labels: np.ndarray) -> list[str]:
        return [self.classes[label] for label in labels.tolist()]

    def rival_at(self, position: int) -> str | None:
        """The label that comes next there: of the best labelling with another label, or the next most probable; None: there
        is none.
        """
        if not self.by_posterior:
            label = self.lattice.rival_at(position)
            return None if label is None else self.classes[label]
        others = [label for label in self.possible_at(position) if label != self.labels[position]]
        return max(others, key=lambda label: self.probability_of(position, label), default=None)

    def probability_of(self, position: int, label: str) -> float:
        return float(self.lattice.marginals[position, self.classes.index(label)])

    def log_sum_of(self, position: int, label: str) -> float:
        """log Σ exp F of all labellings with this label there; less log Z it is the logarithm of its probability."""
        s = self.classes.index(label)
        return float(self.lattice.forward[position, s] + self.lattice.backward[position, s])

    def labels_through(self, position: int, label: str) -> list[str]:
        """The best labelling with this label there."""
        return self.names(self.lattice.labels_through(position, self.classes.index(label)))

    def possible_at(self, position: int) -> list[str]:
        """The labels that some allowed labelling has there."""
        return [label for label, score in zip(self.classes, self.lattice.through[position]) if score > -np.inf]

    def cost_of(self, position: int, label: str) -> dict[str, float | None]:
        """Of a label at a position: how far the best labelling that has it is `behind` the best, and its `probability`."""
        s = self.classes.index(label)
        probability = self.probability_of(position, label) if self.probabilistic else None
        return {"behind": float(self.lattice.behind[position, s]), "probability": probability}

    def k_best(self, k: int) -> list[dict]:
        """A row for each of the best labellings: rank, score, how far behind the best, probability (None: there is none)."""
        rows = []
        for rank, (labels, score) in enumerate(self.lattice.k_best(k), start=1):
            probability = float(np.exp(score - self.lattice.log_partition)) if self.probabilistic else None
            behind = self.lattice.best_score - score
            rows.append({"rank": rank, "score": score, "behind": behind, "probability": probability})
            rows[-1]["labels"] = self.names(labels)
        return rows

    def node_rows(self, tokens: Sequence[str]) -> list[dict]:
        """A row for each node of the trellis: all that the recursions say of it; positions from 1 on."""
        lattice, rows = self.lattice, []
        for t, s in np.ndindex(lattice.forward.shape):
            row = {"position": t + 1, "token": tokens[t], "label": self.classes[s]}
            row |= {"node": lattice.potentials.node[t, s], "forward": lattice.forward[t, s]}
            row |= {"backward": lattice.backward[t, s], "viterbi": lattice.best[t, s]}
            pointer = lattice.pointers[t, s]
            row["pointer"] = self.classes[pointer] if pointer >= 0 else None
            row["best_through"] = lattice.through[t, s]
            row["marginal"] = lattice.marginals[t, s] if self.probabilistic else None
            row |= {"in_best_labelling": bool(lattice.labels[t] == s), "given": bool(self.given[t] == s)}
            rows.append(row)
        return rows


def read_sequence(
    learner: SequenceLearner, X, force: Mapping[int, str] | None = None, decode: str | None = None
) -> Reading:
    """A model's reading of one sequence; force: position (from 0 on) -> label that it must have there; decode: as `predict`
    takes it.
    """
    batch = learner.potentials(X)
    require(len(batch) == 1, f"X has {len(batch)} sequences; give one")
    potentials = batch[0]
    if force:
        unknown = sorted(set(force.values()) - set(learner.classes_))
        known = ", ".join(learner.classes_[:10])
        require(not unknown, f"the model has no label {unknown[0] if unknown else ''!r}; it knows {known}")
        potentials = forced(potentials, {t: learner.classes_.index(label) for t, label in force.items()})
    decode = decode or learner.decoding
    possible = DECODINGS if learner.probabilistic else ("viterbi",)
    require(decode in possible, f"decode is {decode!r}; {type(learner).__name__} is decoded by {' or '.join(possible)}")
    return Reading(list(learner.classes_), learner.probabilistic, Lattice(potentials), decode)


def sentence_of(part: Sequences, number: int, words: Sequence[str] | None = None) -> Sequences:
    """One sentence of a part by its number, from 0 on; `words`: with these in place of its own.

    The words then keep the columns of the sentence, position by position; those beyond its end have none, as if their cells
    had been left empty. The labels of the sentence are not those of other words, and are left out.
    """
    require(0 <= number < len(part), f"there is no sentence {number + 1}; choose one from 1 to {len(part)}")
    one = part.select([number])
    if words is None or list(words) == one.flat_tokens:
        return one
    require(len(words) > 0, "the sentence has no words; type at least one")
    columns = {name: _stretched(column, len(words)) for name, column in one.flat_columns.items()}
    return Sequences(list(words), np.array([0, len(words)]), None, columns)


def columns_in_use(learner: SequenceLearner, part: Sequences) -> list[str]:
    """The columns of the data, beside the words, that a model looks at."""
    coder = None if learner.template_ is None else learner.template_.coder_
    return [] if coder is None else [name for name in coder.columns if name in part.flat_columns]


def _stretched(column: Column, length: int) -> Column:
    """The same cells, cut off or followed by empty ones."""
    beyond = max(0, length - len(column))
    if isinstance(column, np.ndarray):
        return np.concatenate([column[:length], np.full(beyond, np.nan)])
    return column[:length] + [""] * beyond
