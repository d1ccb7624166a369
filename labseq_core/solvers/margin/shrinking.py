"""Shrinking: training sequences that keep their margin comfortably are left out for some rounds. The word is that of
SVM-light, which so leaves out variables.
"""

from __future__ import annotations

import numpy as np

CALM = 0.5  # satisfied by so much more than the margin asks for
LONGEST_REST = 8  # rounds


class Shrinking:
    """Which sequences are looked at in a round. The longer one has been calm, the longer it rests: 1, 3, 7, 8, 8 ... rounds."""

    def __init__(self, n_sequences: int):
        self._rests_until, self._calm = (np.zeros(n_sequences, dtype=np.int64) for _ in range(2))

    def awake(self, number: int) -> np.ndarray:
        """Those to be looked at in the round of this number."""
        return np.flatnonzero(self._rests_until <= number)

    def at_rest(self, number: int) -> np.ndarray:
        return np.flatnonzero(self._rests_until > number)

    def note(self, number: int, sequences: np.ndarray, calm: np.ndarray) -> None:
        """What was seen of some sequences in a round."""
        self._calm[sequences] = np.where(calm, self._calm[sequences] + 1, 0)
        rest = np.minimum(LONGEST_REST, 2 ** np.minimum(self._calm[sequences], 10) - 1)
        self._rests_until[sequences] = np.where(calm, number + 1 + rest, 0)
