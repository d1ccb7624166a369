"""How probable a word is by itself and beside its neighbours, by frequency: columns that a template computes. T Table B.1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from labseq_core.data.sequences import Sequences

# T Table B.1: variable -> the neighbour it pairs with (0: none) and whether it is conditional on that neighbour.
WORD_PROBABILITIES = {
    "unigram": (0, False),
    "bigram": (-1, True),
    "reverse_bigram": (1, True),
    "joint": (-1, False),
    "reverse_joint": (1, False),
}
BOUNDARY = "\n"  # stands for the neighbour that a first or last word does not have; cannot be a word
UNSEEN = 0.5  # the count of what was never seen


def count_words(sequences: Sequences) -> tuple[dict[str, int], dict[str, int]]:
    """Of words, and of pairs of them, "first\\nsecond"."""
    words, pairs = Counter(sequences.flat_tokens), Counter()
    for sentence in sequences.tokens:
        pairs.update(_pairs_of(sentence))
    return dict(words), dict(pairs)


def log_probabilities(
    name: str, word_counts: Mapping[str, int], pair_counts: Mapping[str, int], sequences: Sequences, own: bool
) -> np.ndarray:
    """Natural logs of relative frequencies of each word, one of `WORD_PROBABILITIES`.

    Beside a neighbour that was never seen itself, nothing is known but the word: its own frequency stands in.
    own: a sentence that was counted itself is left out of the counts for it, so that a method learns from values such as
    new sentences have. Otherwise a rare pair is certain in training and unheard of afterwards.
    """
    neighbour, conditional = WORD_PROBABILITIES[name]
    total = sum(word_counts.values())
    n_sentences = sum(count for pair, count in pair_counts.items() if pair.startswith(BOUNDARY))
    own = own and n_sentences > 1
    result = np.empty(len(sequences.flat_tokens))
    place = 0
    for sentence in sequences.tokens:
        less_words, less_pairs = (Counter(sentence), Counter(_pairs_of(sentence))) if own else (Counter(), Counter())
        n_words, n_others = (total - len(sentence), n_sentences - 1) if own else (total, n_sentences)
        around = [BOUNDARY, *sentence, BOUNDARY]
        for t, word in enumerate(sentence, start=1):
            count, base = word_counts.get(word, 0) - less_words[word], n_words
            other = around[t + neighbour]
            given = n_others if other == BOUNDARY else word_counts.get(other, 0) - less_words[other]
            if neighbour != 0 and (given or not conditional):
                pair = f"{other}{BOUNDARY}{word}" if neighbour < 0 else f"{word}{BOUNDARY}{other}"
                count, base = pair_counts.get(pair, 0) - less_pairs[pair], given if conditional else n_words
            result[place] = np.log((count or UNSEEN) / base)
            place += 1
    return result


def _pairs_of(sentence: list[str]) -> list[str]:
    return [f"{a}{BOUNDARY}{b}" for a, b in zip([BOUNDARY, *sentence], [*sentence, BOUNDARY])]
