"""Hypothesis strategies: small chains with the nasty cases in them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from labseq_core.chain import ChainPotentials

ORDINARY = st.floats(-5, 5, allow_nan=False)
TIED = st.integers(-1, 1).map(float)
HUGE = st.sampled_from([-1e4, 1e4, -300.0, 300.0, 0.0, 1.0])
SCORES = {"ordinary": ORDINARY, "tied": TIED, "huge": HUGE}


@st.composite
def single_chains(draw, max_length: int = 5, max_labels: int = 3, forbid: bool = True) -> ChainPotentials:
    """One sequence; scores ordinary, tied or huge; some scores forbidden; edge shared or per position."""
    length, n_labels = draw(st.integers(1, max_length)), draw(st.integers(1, max_labels))
    values = SCORES[draw(st.sampled_from(sorted(SCORES)))]
    if forbid and draw(st.booleans()):
        values = st.one_of(values, values, values, st.just(-np.inf))

    def array(*shape: int) -> np.ndarray:
        size = int(np.prod(shape))
        return np.array(draw(st.lists(values, min_size=size, max_size=size))).reshape(shape)

    per_position = draw(st.booleans())
    edge = array(length, n_labels, n_labels) if per_position else array(n_labels, n_labels)
    return ChainPotentials(array(n_labels), array(length, n_labels), edge, array(n_labels))


def join(chains: list[ChainPotentials]) -> ChainPotentials:
    """A batch of sequences that share start, edge and stop (those of the first)."""
    first = chains[0]
    offsets = np.cumsum([0, *(len(chain.node) for chain in chains)])
    return ChainPotentials(first.start, np.concatenate([c.node for c in chains]), first.edge, first.stop, offsets)
