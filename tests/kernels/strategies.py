"""Batches of observations with the nasty cases in them, and kernels of every kind."""

from __future__ import annotations

from hypothesis import strategies as st

from labseq_core.features import encode_attributes
from labseq_core.kernels import RBF, Linear, Normalized, Polynomial, TokenMatch

names = st.sampled_from(["word=casa", "word=la", "word[-1]=la", "cap", "last=a", "length", "x"])
BINARY = st.lists(names, max_size=6)
REAL = st.dictionaries(names, st.floats(-3, 3).map(lambda value: round(value, 3)), max_size=6)
WORDS = st.sampled_from(["casa", "la", "de"])


def batches(*tokens):
    """Encoded sequences: binary or real-valued, with repeated and empty observations; "word=..." is always there."""
    return st.one_of(
        *(
            st.lists(st.lists(token, min_size=1, max_size=4), min_size=1, max_size=5).map(
                lambda X: encode_attributes([[["word=casa"]], *X])
            )
            for token in tokens or (BINARY, REAL, WORDS)
        )
    )


basic_kernels = st.one_of(
    st.just(Linear()),
    st.builds(Polynomial, st.integers(1, 5), st.sampled_from([0.0, 0.5, 1.0, 2.0])),
    st.builds(RBF, st.sampled_from([0.3, 1.0, 4.0, 1e3])),
    st.sampled_from([TokenMatch(), TokenMatch("word[-1]")]),
)
kernels = st.recursive(
    basic_kernels,
    lambda inner: st.one_of(
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda factor, k: factor * k, st.sampled_from([0.25, 1.5, 3]), inner),
        inner.map(Normalized),
    ),
    max_leaves=4,
)
