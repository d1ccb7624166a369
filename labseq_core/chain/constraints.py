"""Forbidden transitions: T B.2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labseq_core.checks import LabSeqError, require


@dataclass(frozen=True)
class Constraints:
    """What may not be: forbidden pairs of neighbouring labels, forbidden first labels."""

    edge: np.ndarray  # (S, S) bool: edge[from, to]
    start: np.ndarray  # (S,) bool

    def apply(self, start: np.ndarray, edge: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The scores with -inf where something is forbidden."""
        return np.where(self.start, -np.inf, start), np.where(self.edge, -np.inf, edge)


def bio_constraints(classes: Sequence[str]) -> Constraints:
    """I-X may stand only after B-X or I-X, never first."""
    inside = [label.partition("-") for label in classes]
    odd = [
        label for label, (tag, _, kind) in zip(classes, inside) if not (label == "O" or (tag in ("B", "I") and kind))
    ]
    require(not odd, f"the label {odd[0] if odd else ''!r} is not a BIO label (O, B-X, I-X); use constraints=None")
    size = len(classes)
    edge, start = np.zeros((size, size), dtype=np.bool_), np.zeros(size, dtype=np.bool_)
    for to, (tag, _, kind) in enumerate(inside):
        if tag == "I":
            start[to] = True
            edge[:, to] = [before == "O" or before_kind != kind for before, _, before_kind in inside]
    return Constraints(edge, start)


def constraints_for(name: str | None, classes: Sequence[str]) -> Constraints | None:
    """The constraints that an option names."""
    if name is None:
        return None
    if name == "bio":
        return bio_constraints(classes)
    raise LabSeqError(f"constraints is {name!r}; choose None or 'bio'")
