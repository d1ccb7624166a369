"""The distinct words of a batch as types, with the attributes that each type brings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from labseq_core.data.alphabet import distinct_rows
from labseq_core.data.sequences import Sequences
from labseq_core.features.encoded import gather
from labseq_core.features.spelling import look_attributes, looks_of

OfWord = Callable[[str], tuple[str, ...]] | None  # names of attributes that follow from a word (`Template.names_of`)


@dataclass(frozen=True)
class WordTypes:
    """A type is a word, or the same word at the start of a sentence: it brings the word, and what it shares with others.

    Attributes are numbered as they come up, type by type: the word itself, then those that it shares.
    """

    rows: np.ndarray  # int64, (positions,): the type of each position
    table: tuple[np.ndarray, np.ndarray]  # (indptr, indices): the attributes of each type
    words: list[str]  # distinct, in order of appearance
    word_numbers: np.ndarray  # int64: the number of the attribute "word=..." of each word
    shared: list[str]  # names of the other attributes, in order of appearance
    shared_numbers: np.ndarray  # int64

    @classmethod
    def of(cls, sequences: Sequences, spelling: bool, of_word: OfWord, joint: bool) -> WordTypes:
        words, rows = distinct_rows(sequences.flat_tokens)
        # Row 2w is the word, row 2w + 1 the same word at the start of a sentence.
        rows *= 2
        if spelling:
            rows[sequences.offsets[:-1]] += 1
        needed = np.bincount(rows, minlength=2 * len(words)) > 0
        type_rows = np.flatnonzero(needed)
        looks, first_types, look_of_type = _looks(words, type_rows, spelling, of_word, joint)

        type_words = type_rows >> 1
        numbers: dict[str, int] = {}
        look_ends, look_numbers, newcomers = [0], [], np.zeros(len(words), dtype=np.int64)
        for names, word in zip(looks, type_words[first_types].tolist()):
            known = len(numbers)
            for name in names:
                # The words up to this one, and the shared attributes so far, have the numbers before it.
                look_numbers.append(numbers.setdefault(name, word + 1 + len(numbers)))
            look_ends.append(len(look_numbers))
            newcomers[word] += len(numbers) - known
        word_numbers = np.arange(len(words)) + np.cumsum(newcomers) - newcomers

        shared_entries, shared_indptr = gather(np.array(look_ends, dtype=np.int64), look_of_type)
        indptr = shared_indptr + np.arange(shared_indptr.size)
        indices = np.empty(indptr[-1], dtype=np.int64)
        is_shared = np.ones(indices.size, dtype=np.bool_)
        is_shared[indptr[:-1]] = False
        indices[indptr[:-1]] = word_numbers[type_words]
        indices[is_shared] = np.array(look_numbers, dtype=np.int64)[shared_entries]
        shared_numbers = np.fromiter(numbers.values(), np.int64, len(numbers))
        rows = (np.cumsum(needed) - 1)[rows]
        return cls(rows, (indptr, indices), words, word_numbers, list(numbers), shared_numbers)

    @property
    def n_attributes(self) -> int:
        return len(self.words) + len(self.shared)

    def names(self) -> list[str]:
        """Of all attributes, by number."""
        names = np.empty(self.n_attributes, dtype=object)
        names[self.word_numbers] = [f"word={word}" for word in self.words]
        names[self.shared_numbers] = self.shared
        return names.tolist()


def _looks(words: list[str], type_rows: np.ndarray, spelling: bool, of_word: OfWord, joint: bool):
    """The distinct looks of types in order of appearance: names of their attributes, and the first type of each; then the
    look of each type.
    """
    codes = looks_of(words) if spelling else np.zeros(len(words), dtype=np.int64)
    suffixes, suffix_of_word = distinct_rows([()] * len(words) if of_word is None else list(map(of_word, words)))
    codes = codes * max(len(suffixes), 1) + suffix_of_word
    codes, firsts, look_of_type = np.unique(
        codes[type_rows >> 1] * 2 + (type_rows & 1), return_index=True, return_inverse=True
    )
    order = np.argsort(firsts)
    places = np.empty(order.size, dtype=np.int64)
    places[order] = np.arange(order.size)
    looks = []
    for code in codes[order].tolist():
        look, suffix = divmod(code >> 1, len(suffixes))
        looks.append((look_attributes(look, bool(code & 1), joint) if spelling else ()) + suffixes[suffix])
    return looks, firsts[order], places[look_of_type]
