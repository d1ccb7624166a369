"""Distinct observations against dicts."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from labseq_core.features import FeatureTemplate, encode_attributes
from labseq_core.kernels import Observations
from labseq_core.kernels.observations import SparseRows
from tests.kernels.strategies import batches
from tests.reference import kernels as naive

SUM = 1e-14  # a few squares


def rows_of(vectors: SparseRows, names) -> list[dict[str, float]]:
    found = []
    for begin, end in zip(vectors.indptr[:-1], vectors.indptr[1:]):
        assert (np.diff(vectors.indices[begin:end]) > 0).all()
        values = vectors.values[begin:end].tolist() if vectors.values.size else [1.0] * (end - begin)
        found.append(dict(zip([names[a] for a in vectors.indices[begin:end]], values)))
    return found


@given(batches())
def test_exact_duplicates_are_merged_in_order_of_appearance(encoded):
    observations = Observations.of(encoded)
    names = encoded.vocabulary.names
    expected = naive.observations(encoded)
    distinct = rows_of(observations.vectors, names)
    assert [distinct[row] for row in observations.rows] == expected
    assert len({tuple(sorted(one.items())) for one in distinct}) == len(distinct) == len(observations)
    _, firsts = np.unique(observations.rows, return_index=True)
    assert (np.diff(firsts) > 0).all()
    np.testing.assert_allclose(observations.vectors.squares, [naive.inner(x, x) for x in distinct], rtol=SUM)
    assert rows_of(observations.take(np.array([0])).vectors, names) == distinct[:1]


def test_what_stands_twice_counts_twice():
    encoded = encode_attributes([[{"a": "b", "a=b": True}, {"a": "b"}, {"x": 2.0, "y": 0.0}]])
    observations = Observations.of(encoded)
    assert rows_of(observations.vectors, encoded.vocabulary.names) == [{"a=b": 2.0}, {"a=b": 1.0}, {"x": 2.0}]


@given(st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=6), min_size=1, max_size=4))
def test_windows_of_words(words):
    encoded = FeatureTemplate("S3").encode(words)
    observations = Observations.of(encoded)
    assert observations.vectors.values.size == 0
    sets = [frozenset(one) for one in naive.observations(encoded)]
    assert len(set(sets)) == len(observations)
    assert [sets.index(one) for one in sets] == [
        int(np.flatnonzero(observations.rows == row)[0]) for row in observations.rows
    ]
