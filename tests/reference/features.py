"""Attributes the usual way: one Python function per token, straight from Tables B.2 and B.3 of the thesis; as a matrix."""

from __future__ import annotations

import math

import numpy as np

from labseq_core.features import EncodedSequences

PAIRS = [
    ("cap_ini", "sent_ini"), ("cap_ini", "dot_end"), ("cap_ini", "contains_dot"), ("cap_ini", "contains_hyphen"),
    ("cap_ini", "contains_digit"), ("contains_dot", "contains_digit"), ("contains_dot", "contains_hyphen"),
    ("contains_digit", "contains_hyphen"),
]  # fmt: skip
ENDINGS = ["ing", "ed", "en", "ly", "er", "est", "th"]


def token_attributes(sentence: list[str], t: int, name: str, window: int, joint: bool = False) -> list[str]:
    """All attributes of the word at t in its window."""
    found = []
    for offset in range(-(window // 2), window // 2 + 1):
        if 0 <= t + offset < len(sentence):
            mark = f"[{offset:+d}]" if offset else ""
            for key, value in _one_word(sentence, t + offset, name, joint):
                found.append(f"{key}{mark}" if value is None else f"{key}{mark}={value}")
    return found


def _one_word(sentence: list[str], t: int, name: str, joint: bool) -> list[tuple[str, str | None]]:
    word = sentence[t]
    found: list[tuple[str, str | None]] = [("word", word)]
    if name in ("S2", "S3", "POS"):
        found.append(("first", _type_of_first_letter(word)))
        found.append(("last", word[-1] if word else ""))
        has = _properties(word, t)
        for key in ("sent_ini", "all_caps", "cap_ini", "contains_digit", "dot_end"):
            if has[key]:
                found.append((key, None))
        for a, b in PAIRS:
            if joint:
                found.append((f"{a}+{b}", ("1" if has[a] else "0") + ("1" if has[b] else "0")))
            elif has[a] and has[b]:
                found.append((f"{a}+{b}", None))
    if name == "POS":
        small = word.lower()
        for ending in ENDINGS:
            if small[max(0, len(small) - len(ending)) :] == ending:
                found.append(("ends_with", ending))
        if small[:2] == "wh":
            found.append(("begins_with", "wh"))
    return found


def _properties(word: str, t: int) -> dict[str, bool]:
    digits = [character for character in word if character.isdigit()]
    return {
        "sent_ini": t == 0,
        "all_caps": word.isupper(),
        "cap_ini": len(word) > 0 and word[0].isupper(),
        "contains_digit": len(digits) > 0,
        "contains_dot": word.count(".") > 0,
        "contains_hyphen": word.count("-") > 0,
        "dot_end": len(word) > 0 and word[-1] == ".",
    }


def _type_of_first_letter(word: str) -> str:
    if word and word[0].isupper():
        return "upper"
    if word and word[0].isalpha():
        return "lower"
    if word and word[0].isdigit():
        return "digit"
    return "other"


def log_probability(variable: str, train: list[list[str]], sentence: list[str], t: int) -> float:
    """Table B.1 by listing all words and all neighbours of the training sentences; None is the neighbour at a boundary.

    Half a count stands for what was never seen; beside a neighbour that was never seen the word's own frequency counts.
    """
    words = [word for line in train for word in line]
    pairs = [pair for line in train for pair in zip([None, *line], [*line, None])]
    padded = [None, *sentence, None]
    before, word, after = padded[t], padded[t + 1], padded[t + 2]
    neighbours = [None] * len(train) + words
    own = (words.count(word) or 0.5) / len(words)
    if variable == "unigram":
        return math.log(own)
    pair, neighbour = ((before, word), before) if variable in ("bigram", "joint") else ((word, after), after)
    count = pairs.count(pair) or 0.5
    if variable in ("joint", "reverse_joint"):
        return math.log(count / len(words))
    given = neighbours.count(neighbour)
    return math.log(count / given if given else own)


def dense(encoded: EncodedSequences) -> np.ndarray:
    """X as a (positions, attributes) matrix, entry by entry."""
    matrix = np.zeros((encoded.n_positions, encoded.n_attributes))
    for t in range(encoded.n_positions):
        for k in range(encoded.indptr[t], encoded.indptr[t + 1]):
            matrix[t, encoded.indices[k]] += encoded.values[k] if encoded.values.size else 1.0
    return matrix
