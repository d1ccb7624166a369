"""The variables of T B.1 that are functions of what is seen of an utterance: they restate it, and add no information."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from labseq_core.data.synthetic.corpus import VisibleValues
from labseq_core.data.synthetic.hidden_chain import TOKEN, HiddenChain

YES, NO = "yes", "no"


@dataclass(frozen=True)
class WordProbabilities:
    """Expected counts of words and pairs per utterance. Utterance start and end count as the neighbour of the end words."""

    numbers: dict[str, int]
    words: np.ndarray  # (V,)
    pairs: np.ndarray  # (V, V): [left, right]
    first: np.ndarray  # (V,)
    last: np.ndarray  # (V,)

    @classmethod
    def of(cls, chain: HiddenChain) -> WordProbabilities:
        """Exact values, summed over the hidden states."""
        emissions = chain.emissions[TOKEN]
        vocabulary = sorted({word for emission in emissions for word in emission.probabilities})
        of_state = np.array([[emission.probabilities.get(word, 0.0) for word in vocabulary] for emission in emissions])
        # visits = start + visits @ transition
        visits = np.linalg.solve(np.eye(len(chain.start)) - chain.transition.T, chain.start)
        return cls(
            {word: number for number, word in enumerate(vocabulary)},
            visits @ of_state,
            of_state.T @ (visits[:, None] * chain.transition) @ of_state,
            chain.start @ of_state,
            (visits * chain.stop) @ of_state,
        )

    def variables(self, tokens: list[str]) -> dict[str, np.ndarray]:
        """Table B.1 for each word of an utterance."""
        here = np.array([self.numbers[token] for token in tokens])
        n_words = self.words.sum()
        before = np.append(self.first[here[0]], self.pairs[here[:-1], here[1:]])
        after = np.append(self.pairs[here[:-1], here[1:]], self.last[here[-1]])
        return {
            "unigram": np.log(self.words[here] / n_words),
            "bigram": np.log(before / np.append(1.0, self.words[here[:-1]])),
            "reverse_bigram": np.log(after / np.append(self.words[here[1:]], 1.0)),
            "joint": np.log(before / (n_words + 1)),
            "reverse_joint": np.log(after / (n_words + 1)),
        }


def derived_variables(
    visible: VisibleValues, probabilities: WordProbabilities, pronunciations: Mapping[str, tuple[int, int]]
) -> VisibleValues:
    """All columns of an utterance that follow from its words, durations, boundaries and pauses."""
    tokens = visible[TOKEN]
    syllables, phones = np.array([pronunciations[token] for token in tokens], dtype=np.float64).T
    seconds = np.exp(visible["log_duration"]) * phones / 1000
    spoken_in_one = _stretches(visible["pause_after"])
    rate = np.bincount(spoken_in_one, syllables) / np.bincount(spoken_in_one, seconds)
    phrase = _stretches(visible["ip_boundary_after"])
    numbers = probabilities.variables(tokens) | {
        "syllables": syllables,
        "phones": phones,
        "log_speech_rate": np.log(rate)[spoken_in_one],
        "ip_length": np.bincount(phrase)[phrase],
    }
    return {name: [round(float(value), 3) + 0.0 for value in values] for name, values in numbers.items()} | {
        "ip_boundary_before": [YES, *visible["ip_boundary_after"][:-1]],
        "pause_before": [YES, *visible["pause_after"][:-1]],
        "filled_pause_before": [NO, *visible["filled_pause_after"][:-1]],
    }


def _stretches(ends_after: list[str]) -> np.ndarray:
    """Number of the stretch that each word is in, where a "yes" ends one."""
    return np.append(0, np.cumsum([value == YES for value in ends_after[:-1]], dtype=np.int64))
