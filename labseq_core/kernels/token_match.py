"""Equality of words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labseq_core.checks import require
from labseq_core.kernels.base import BasicKernel
from labseq_core.kernels.parameters import parameter

CURRENT_WORD = "word"  # as templates and plain word lists name it: "word=casa"


@dataclass(frozen=True)
class TokenMatch(BasicKernel):
    """1 where two observations have the same current word, else 0 (lecture slides, "Kernels on Tokens").

    attribute: which value must be the same. "word" looks at the attributes "word=..." that templates and plain word lists
    make; "word[-1]" at the word before, "pos" at a column of that name. An observation that has none, or one that training
    never saw, is like no other; if some have several at once, the number of those in common counts.
    """

    attribute: str = parameter(CURRENT_WORD, "Which value must be the same: word, word[-1] or a column.")
    name = "token"
    summary = "the same word or not"
    polynomial = 1, 0.0

    def __post_init__(self) -> None:
        fits = isinstance(self.attribute, str) and self.attribute != "" and "=" not in self.attribute
        require(fits, f"attribute is {self.attribute!r}; give what stands before '=', such as 'word' or 'word[-1]'")

    def formula(self, inner: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        """Inner products of what is there or not are the numbers in common."""

    def __str__(self) -> str:
        return self.name if self.attribute == CURRENT_WORD else super().__str__()
