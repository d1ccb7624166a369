"""Small random corpora in which labels depend on words and on their neighbours, but not always."""

from __future__ import annotations

import numpy as np

WORDS = ["uno", "dos", "Tres", "4", "cinco-6", "Sr.", "ocho"]


def corpus(
    seed: int = 0, n_sequences: int = 20, labels: str = "ABC", max_length: int = 5
) -> tuple[list[list[str]], list[list[str]]]:
    """Words and labels; every label occurs in the first sequences, so that any half of them knows all labels."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for number in range(n_sequences):
        length = int(rng.integers(1, max_length + 1))
        y = [labels[number % len(labels)]]
        while len(y) < length:
            y.append(y[-1] if rng.random() < 0.5 else str(rng.choice(list(labels))))
        X.append([WORDS[_word_of(label, labels, rng)] for label in y])
        Y.append(y)
    return X, Y


def _word_of(label: str, labels: str, rng: np.random.Generator) -> int:
    if rng.random() < 0.3:
        return int(rng.integers(len(WORDS)))
    return (2 * labels.index(label) + int(rng.integers(2))) % len(WORDS)
