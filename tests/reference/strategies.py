"""Hypothesis strategies: small chains with the nasty cases in them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from labseq_core.chain import ChainPotentials

LARGE = [-1e4, 1e4, -300.0, 300.0, 0.0, 1.0]
# Chosen one by one, so that a failing example becomes simple; or all at once, which is quick and more often intricate.
SCORES = {
    "ordinary": st.floats(-5, 5, allow_nan=False),
    "tied": st.integers(-1, 1).map(float),
    "huge": st.sampled_from(LARGE),
}
RANDOM_SCORES = {
    "ordinary": lambda rng, size: rng.uniform(-5, 5, size),
    "tied": lambda rng, size: rng.integers(-1, 2, size).astype(float),
    "huge": lambda rng, size: rng.choice(LARGE, size),
}


@st.composite
def single_chains(draw, max_length: int = 5, max_labels: int = 3, forbid: bool = True) -> ChainPotentials:
    """One sequence; scores ordinary, tied or huge; some scores forbidden; edge shared or per position."""
    length, n_labels = draw(st.integers(1, max_length)), draw(st.integers(1, max_labels))
    kind, forbidden = draw(st.sampled_from(sorted(SCORES))), forbid and draw(st.booleans())
    if draw(st.booleans()):
        rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))

        def array(*shape: int) -> np.ndarray:
            values = RANDOM_SCORES[kind](rng, shape)
            return np.where(rng.random(shape) < 0.25, -np.inf, values) if forbidden else values
    else:
        each = SCORES[kind]
        values = st.one_of(each, each, each, st.just(-np.inf)) if forbidden else each

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
