"""Explicit features: their inner products are the kernel, on training data and on new data."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labseq_core import LabSeqError
from labseq_core.features import EncodedSequences, encode_attributes
from labseq_core.kernels import (
    RBF,
    Linear,
    Normalized,
    Polynomial,
    TokenMatch,
    explicit_map,
    explicit_size,
)
from labseq_core.kernels.conjunctions import Conjunctions, FeatureTable, Polynomials
from tests.kernels.strategies import BINARY, REAL, WORDS, batches
from tests.reference import kernels as naive
from tests.reference.features import dense

# Sums of up to some hundred products with square roots of integers.
VALUES = {"rtol": 1e-10, "atol": 1e-9}

constants = st.sampled_from([0.0, 0.5, 1.0, 2.0])


def kernels_up_to(degree: int):
    basic = st.one_of(
        st.just(Linear()), st.just(TokenMatch()), st.builds(Polynomial, st.integers(1, degree), constants)
    )
    return st.recursive(
        basic,
        lambda inner: st.one_of(
            st.builds(lambda a, b: a + b, inner, inner), inner.map(lambda k: 2.5 * k), inner.map(Normalized)
        ),
        max_leaves=3,
    )


def check(kernel, train: EncodedSequences, new: EncodedSequences) -> None:
    new = new.with_vocabulary(train.vocabulary)
    known, queries = naive.observations(train), naive.observations(new)
    mapping, mapped = explicit_map(kernel, train)
    phi, psi_new = dense(mapped), dense(mapping.apply(new))
    np.testing.assert_allclose(phi @ phi.T, naive.gram(kernel, known, known), **VALUES)
    np.testing.assert_allclose(psi_new @ phi.T, naive.gram(kernel, queries, known), **VALUES)
    np.testing.assert_array_equal(dense(mapping.apply(train)), phi)
    # The same without square roots.
    mapping, mapped = explicit_map(kernel, train, scaled=False)
    psi = dense(mapped) * (mapping.scale if mapping.scale.size else 1.0)
    np.testing.assert_allclose(dense(mapping.apply(new, scaled=False)) @ psi.T, psi_new @ phi.T, **VALUES)
    size = explicit_size(kernel, train)
    assert size.entries == mapped.indices.size
    assert size.features == pytest.approx(mapped.n_attributes, rel=0.02, abs=2)


@given(batches(BINARY, WORDS), batches(), kernels_up_to(3))
def test_inner_products_are_the_kernel_for_0_1_attributes(train, new, kernel):
    if train.values.size == 0:
        check(kernel, train, new)


@given(batches(REAL), batches(), kernels_up_to(2))
def test_inner_products_are_the_kernel_for_real_values(train, new, kernel):
    check(kernel, train, new)


@pytest.mark.parametrize(
    "kernel", [Polynomial(2), Polynomial(3, 0.5), Normalized(Polynomial(3)), Polynomial(1)], ids=str
)
def test_new_data_with_values_against_training_data_without(kernel):
    """Powers of an attribute were merged because training never told them apart; new values still do."""
    train = encode_attributes([[["a", "b", "c"], ["a"], ["b", "c"], []]])
    new = encode_attributes([[{"a": 2.0, "b": -1.5, "c": 0.5}, {"c": 0.5}, {"b": 3.0, "new": 2.0}]])
    check(kernel, train, new)


def test_linear_is_the_data_themselves():
    encoded = encode_attributes([["a", "b"]])
    mapping, mapped = explicit_map(Linear(), encoded)
    assert mapped is encoded
    assert mapping.apply(encoded) is encoded
    assert mapping.scale.size == 0


def test_0_1_attributes_need_no_values_and_merge_linear_and_square_terms():
    encoded = encode_attributes([[["a", "b", "c"], ["a"]]])
    mapping, mapped = explicit_map(Polynomial(2), encoded, scaled=False)
    assert mapped.values.size == 0
    names = list(mapped.vocabulary.names)
    assert names == ["(constant)", "a", "a & b", "a & c", "b", "b & c", "c"]
    assert dict(zip(names, mapping.scale)) == {
        "(constant)": 1.0, "a": 3.0, "b": 3.0, "c": 3.0, "a & b": 2.0, "a & c": 2.0, "b & c": 2.0,
    }  # fmt: skip
    assert mapped.attributes()[0][1] == ["(constant)", "a"]
    real, _ = explicit_map(Polynomial(2, 0.5), encode_attributes([[{"a": 2.0, "b": 1.0}]]))
    assert dict(zip(real.vocabulary.names, real.scale)) == {
        "(constant)": 0.25, "a": 1.0, "a & a": 1.0, "a & b": 2.0, "b": 1.0, "b & b": 1.0,
    }  # fmt: skip


def test_names_are_made_on_demand():
    encoded = encode_attributes([[["a", "b"], ["b", "c"]]])
    mapping, _ = explicit_map(Polynomial(2, 0.0) + Linear(), encoded)
    vocabulary = mapping.vocabulary
    assert isinstance(vocabulary, Conjunctions)
    assert len(vocabulary) == len(vocabulary.names) == 8
    assert vocabulary.names[1] == "a & b"
    assert vocabulary.names[-1] == vocabulary.names[7] == "c (2)"
    assert vocabulary.names[3:5] == list(vocabulary.names)[3:5]
    assert vocabulary.index("b & c") == list(vocabulary.names).index("b & c")
    assert "a & c" not in vocabulary
    assert len(set(vocabulary.names)) == 8
    with pytest.raises(IndexError, match="feature 8 of 8"):
        vocabulary.names[8]


@pytest.mark.parametrize(
    ("kernel", "attributes"),
    [
        (RBF(1.0), [["a"]]),
        (Polynomial(4), [["a"]]),
        (Polynomial(3), [{"a": 0.5}]),
        (Linear() + RBF(1.0), [["a"]]),
        (Normalized(RBF(1.0)), [["a"]]),
    ],
)
def test_kernels_without_explicit_features_say_so(kernel, attributes):
    encoded = encode_attributes([attributes])
    assert explicit_size(kernel, encoded) is None
    with pytest.raises(LabSeqError, match="has no explicit features for these data; they exist for Linear"):
        explicit_map(kernel, encoded)


def test_too_many_attributes_for_a_key():
    with pytest.raises(LabSeqError, match="degree 3 over 2000000 attributes is too much; use a lower degree"):
        FeatureTable(Polynomials(3, 1.0, False), 2_000_000)


def test_the_number_of_features_is_estimated_well_in_little_memory():
    rng = np.random.default_rng(0)
    tokens = [[f"a{a}" for a in rng.choice(3000, size=12, replace=False)] for _ in range(4000)]
    encoded = encode_attributes([tokens])
    explicit_size(Polynomial(2), encoded)
    tracemalloc.start()
    size = explicit_size(Polynomial(2), encoded)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    _, mapped = explicit_map(Polynomial(2), encoded)
    assert size.entries == mapped.indices.size == 4000 * 79
    assert size.features == pytest.approx(mapped.n_attributes, rel=0.01)
    assert peak < 3 * encoded.indices.size * 16


def test_a_kernel_made_from_the_linear_one_has_its_own_features():
    """One that looks at a single kind of attribute, from outside the tree."""

    class Words(Linear):
        attribute = "word"

    tokens = encode_attributes(
        [[{"word": "a", "shape": "x"}, {"word": "b", "shape": "x"}, {"word": "a", "shape": "y"}]]
    )
    _, mapped = explicit_map(Words(), tokens)
    features = dense(mapped)
    np.testing.assert_allclose(features @ features.T, [[1, 0, 1], [0, 1, 0], [1, 0, 1]], **VALUES)
    assert Linear().is_linear
    assert not Words().is_linear
