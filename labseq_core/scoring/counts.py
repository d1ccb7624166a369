"""Models of counts: log probabilities of labels and of what they emit. Naive Bayes and the hidden Markov model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from labseq_core.archives import LoadedArrays
from labseq_core.chain import ChainPotentials
from labseq_core.checks import require
from labseq_core.features.encoded import EncodedSequences
from labseq_core.scoring.column_counts import ColumnModel
from labseq_core.scoring.model import Model, Parts, Table

EMITTED = "word="  # the attribute that a word emission is
UNKNOWN_WORD = "(unknown word)"
PRIOR = "how frequent the label is"


@dataclass(frozen=True, eq=False)
class WordEmissions:
    """log p(word | label) of the current word; words that training never saw share the last row."""

    log_prob: np.ndarray  # (words + 1, S)
    rows: np.ndarray  # (attributes,): the row of each attribute that is a current word, else -1
    ARRAY: ClassVar[str] = "emission_log_prob"  # its name in a file

    @classmethod
    def learn(cls, encoded: EncodedSequences, labels: np.ndarray, n_labels: int, k: float) -> tuple[Self, float]:
        """Relative frequencies with k added to each count; and the log probability of the training words by them."""
        rows = _word_rows(encoded.vocabulary.names)
        n_words = int(rows.max(initial=-1)) + 1
        fix = "use features S1, S2, S3, POS or prosody, or emissions='attributes'"
        require(n_words > 0, f"the HMM needs the current word as an attribute; {fix}")
        counts = np.zeros((n_words + 1, n_labels))
        np.add.at(counts, (_words(encoded, rows), labels), 1.0)
        smoothed = counts + k
        log_prob = np.log(smoothed / smoothed.sum(axis=0))
        return cls(log_prob, rows), float(np.sum(log_prob * counts))

    def scores(self, encoded: EncodedSequences) -> np.ndarray:
        """(positions, S)."""
        return self.log_prob[_words(encoded, self.rows)]

    def parts(self, encoded: EncodedSequences, position: int) -> Parts:
        row = int(_words(encoded, self.rows)[position])
        known = row < len(self.log_prob) - 1
        name = encoded.vocabulary.names[int(np.argmax(self.rows == row))] if known else UNKNOWN_WORD
        return Parts("attribute", [name], np.ones(1), self.log_prob[row][np.newaxis])

    def tables(self, attributes: Sequence[str]) -> list[Table]:
        words = [name for name, row in zip(attributes, self.rows.tolist()) if row >= 0]
        return [Table("attribute", [*words, UNKNOWN_WORD], self.log_prob)]

    def arrays(self) -> dict[str, np.ndarray]:
        return {self.ARRAY: self.log_prob}

    @classmethod
    def restore(cls, loaded: LoadedArrays, names: Sequence[str], n_labels: int) -> WordEmissions:
        rows = _word_rows(names)
        return cls(loaded.floats(cls.ARRAY, int(rows.max(initial=-1)) + 2, n_labels), rows)


def _word_rows(names: Sequence[str]) -> np.ndarray:
    is_word = np.array([name.startswith(EMITTED) for name in names], dtype=np.bool_)
    return np.where(is_word, np.cumsum(is_word) - 1, -1)


def _words(encoded: EncodedSequences, word_rows: np.ndarray) -> np.ndarray:
    """The emission row of each position: of several words the last; without a known word the last row, the unknown bucket."""
    positions = np.repeat(np.arange(encoded.n_positions), np.diff(encoded.indptr))
    rows = word_rows[encoded.indices]
    words = np.full(encoded.n_positions, int(word_rows.max(initial=-1)) + 1)
    words[positions[rows >= 0]] = rows[rows >= 0]
    return words


@dataclass(frozen=True, eq=False)
class TokenCounts(Model):
    """log p(x_t, y_t) = log p(y_t) + log p(x_t | y_t): single tokens, neighbours play no part."""

    prior: np.ndarray  # (S,)
    emissions: ColumnModel

    has_log_probabilities: ClassVar[bool] = True
    used_of: ClassVar[str] = "parameters"
    used_share: ClassVar[float] = 1.0  # no probability is left out

    def potentials(self, encoded: EncodedSequences) -> ChainPotentials:
        node, nothing = self.emissions.scores(encoded), np.zeros(len(self.prior))
        node += self.prior
        return ChainPotentials.trusted(nothing, node, np.zeros((len(nothing), len(nothing))), nothing, encoded.offsets)

    def arrays(self) -> dict[str, np.ndarray]:
        return {"prior_log_prob": self.prior, **self.emissions.arrays()}

    @classmethod
    def restore(cls, loaded: LoadedArrays, names: Sequence[str], n_labels: int) -> Self:
        """From `arrays` and the names of the attributes."""
        return cls(loaded.floats("prior_log_prob", n_labels), ColumnModel.restore(loaded, names, n_labels))

    def parts(self, encoded: EncodedSequences, position: int) -> list[Parts]:
        return [Parts("prior", [PRIOR], np.ones(1), self.prior[np.newaxis]), self.emissions.parts(encoded, position)]

    def tables(self, attributes: Sequence[str], labels: Sequence[str]) -> list[Table]:
        return self.emissions.tables(attributes)


@dataclass(frozen=True, eq=False)
class ChainCounts(Model):
    """log p(x, y) = log p(y_1) + Σ_{t>1} log p(y_t | y_{t-1}) + Σ_t log p(x_t | y_t)."""

    start: np.ndarray  # (S,)
    transition: np.ndarray  # (S, S): [from, to]
    emissions: WordEmissions | ColumnModel

    has_log_probabilities: ClassVar[bool] = True
    used_of: ClassVar[str] = "parameters"
    used_share: ClassVar[float] = 1.0  # no probability is left out
    why_no_attributes: ClassVar[str] = "an HMM with emissions='attributes' has no table of words, only transitions"

    def potentials(self, encoded: EncodedSequences) -> ChainPotentials:
        stop = np.zeros(len(self.start))
        return ChainPotentials.trusted(
            self.start, self.emissions.scores(encoded), self.transition, stop, encoded.offsets
        )

    def arrays(self) -> dict[str, np.ndarray]:
        return {"start_log_prob": self.start, "transition_log_prob": self.transition, **self.emissions.arrays()}

    @classmethod
    def restore(cls, loaded: LoadedArrays, names: Sequence[str], n_labels: int) -> Self:
        """From `arrays` and the names of the attributes. The arrays say what is emitted: the option may have changed since."""
        start, transition = (
            loaded.floats("start_log_prob", n_labels),
            loaded.floats("transition_log_prob", n_labels, n_labels),
        )
        emissions = WordEmissions if WordEmissions.ARRAY in loaded else ColumnModel
        return cls(start, transition, emissions.restore(loaded, names, n_labels))

    def parts(self, encoded: EncodedSequences, position: int) -> list[Parts]:
        return [self.emissions.parts(encoded, position)]

    def tables(self, attributes: Sequence[str], labels: Sequence[str]) -> list[Table]:
        chain = [Table("transition", labels, self.transition), Table("start", [""], self.start[np.newaxis])]
        return [*self.emissions.tables(attributes), *chain]
