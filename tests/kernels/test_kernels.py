"""Kernels: what they are, their algebra, their texts; every one against its definition and positive semi-definite."""

import copy
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import labseq_core
from labseq_core import DualPerceptron, LabSeqError
from labseq_core.features import FeatureTemplate, encode_attributes
from labseq_core.kernels import (
    RBF,
    Gram,
    Linear,
    Normalized,
    Observations,
    Polynomial,
    TokenMatch,
    diagonal,
    kernel_from_dict,
    parse_kernel,
)
from labseq_core.kernels.registry import KERNELS
from tests.kernels.strategies import batches, kernels
from tests.reference import kernels as naive

# Sums of a few products of numbers up to 3, to the power of up to 5.
VALUES = {"rtol": 1e-10, "atol": 1e-12}
EIGENVALUE = 1e-9  # of the largest one
X = [["word=a", "cap"], ["word=b", "cap"], ["word=a"], []]


def gram(kernel, encoded) -> np.ndarray:
    whole = Gram(kernel, Observations.of(encoded))
    return whole.rows(np.arange(len(whole)))


def with_named_words(encoded, kernel):
    """TokenMatch("word[-1]") needs a batch that knows such an attribute."""
    return "word[-1]=la" in encoded.vocabulary or "word[-1]" not in repr(kernel)


@given(batches(), kernels)
def test_every_kernel_is_its_definition_and_positive_semi_definite(encoded, kernel):
    if not with_named_words(encoded, kernel):
        return
    observations = Observations.of(encoded)
    found = gram(kernel, encoded)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(diagonal(kernel, observations), np.diag(found), **VALUES)
    every = naive.observations(encoded)
    expected = naive.gram(kernel, every, every)
    np.testing.assert_allclose(found[observations.rows][:, observations.rows], expected, **VALUES)
    eigenvalues = np.linalg.eigvalsh(expected)
    assert eigenvalues[0] >= -EIGENVALUE * max(eigenvalues[-1], 1.0)


def test_every_basic_kernel_can_be_drawn():
    """A new kernel must come into the tests above."""
    assert set(KERNELS.values()) == {Linear, Polynomial, RBF, TokenMatch}


@pytest.mark.parametrize("attributes", [X, [{"a": 0.5, "b": -2.0}, {"b": 1.5}, {"c": 3.0}, {}]])
def test_limits(attributes):
    encoded = encode_attributes([attributes])
    inner = gram(Linear(), encoded)
    np.testing.assert_allclose(gram(Polynomial(1, 0.0), encoded), inner, **VALUES)
    # Very wide: all are alike, and what is left is 1 - |x - z|² / 2 width².
    width = 1e5
    wide = gram(RBF(width), encoded)
    np.testing.assert_allclose(wide, 1.0, atol=1e-8)
    squares = np.diag(inner)
    distance = squares[:, np.newaxis] + squares - 2 * inner
    np.testing.assert_allclose((1.0 - wide) * 2 * width**2, distance, rtol=1e-5, atol=1e-4)
    # Very narrow: only itself.
    np.testing.assert_array_equal(gram(RBF(1e-200), encoded), np.eye(len(squares)))
    np.testing.assert_allclose(np.diag(gram(Normalized(Polynomial(3)), encoded)), 1.0, rtol=1e-12)


def test_token_match_compares_current_words():
    words = [["la", "casa", "la"], ["casa"]]
    expected = np.eye(2)
    for encoded in (encode_attributes(words), FeatureTemplate("S3").encode(words), FeatureTemplate("S1").encode(words)):
        observations = Observations.of(encoded)
        found = gram(TokenMatch(), encoded)[observations.rows][:, observations.rows]
        np.testing.assert_array_equal(found, expected[[0, 1, 0, 1]][:, [0, 1, 0, 1]])
    around = FeatureTemplate("S1", window=3).encode(words)
    rows = Observations.of(around).rows
    before = gram(TokenMatch("word[-1]"), around)[rows][:, rows]
    # "la", "casa" and nothing stand before; nothing is like nothing.
    np.testing.assert_array_equal(before, [[0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]])
    columns = encode_attributes([[{"pos": "N", "word": "a"}, {"pos": "N", "word": "b"}]])
    np.testing.assert_array_equal(gram(TokenMatch("pos"), columns), np.ones((2, 2)))
    with pytest.raises(LabSeqError, match=r"X has no attribute 'tag='...; name another one in TokenMatch"):
        Gram(TokenMatch("tag"), Observations.of(columns))


@given(kernels, kernels)
def test_kernels_are_values(one, other):
    assert (one == other) == (repr(one) == repr(other))
    assert one == copy.deepcopy(one)
    assert hash(one) == hash(copy.deepcopy(one))
    assert eval(repr(one), vars(labseq_core.kernels)) == one
    assert parse_kernel(str(one)) == one
    assert kernel_from_dict(json.loads(json.dumps(one.to_dict()))) == one


@given(st.floats(1e-300, 1e300), st.floats(0, 1e300), st.text(min_size=1).filter(lambda name: "=" not in name))
def test_texts_keep_every_number_and_name(width, constant, name):
    made = width * (RBF(width) + Polynomial(3, constant)) + TokenMatch(name)
    assert kernel_from_dict(json.loads(json.dumps(made.to_dict()))) == made
    if len(str(made)) <= 300:
        assert parse_kernel(str(made)) == made


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("linear", Linear()),
        ("poly:2", Polynomial(2)),
        ("poly", Polynomial()),
        ("poly:3:0.5", Polynomial(3, 0.5)),
        ("rbf:0.5", RBF(0.5)),
        ("rbf:1e-3", RBF(1e-3)),
        ("token", TokenMatch()),
        ("token:word[-1]", TokenMatch("word[-1]")),
        ("token:part%20of%20speech", TokenMatch("part of speech")),
        (" 2 * poly:2 + linear ", 2.0 * Polynomial(2) + Linear()),
        ("normalized(poly:2+rbf:1)", Normalized(Polynomial(2) + RBF(1.0))),
        ("0.5*(linear+rbf:2)", 0.5 * (Linear() + RBF(2.0))),
        ("2*normalized(linear)", 2 * Normalized(Linear())),
    ],
)
def test_typed_kernels(text, kernel):
    assert parse_kernel(text) == kernel


@pytest.mark.parametrize(
    "text",
    [
        "", "pol:2", "poly:2:1:3", "poly:x", "poly:2.5", "poly:0", "poly:2:-1", "rbf:0", "rbf:wide", "linear+", "+linear",
        "linear linear", "2*", "0*linear", "2*3*linear", "normalized", "normalized(linear", "linear)", "1.2.3*linear",
        "token:a=b", "poly:2;linear", "(" * 290 + "linear", "((((((((linear))))))))", "linear" * 100, "rbf:inf", "rbf:nan",
    ],
)  # fmt: skip
def test_mistyped_kernels_are_told_how_to_write_one(text):
    with pytest.raises(LabSeqError, match=r"write|at most|above 0"):
        parse_kernel(text)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Polynomial(0), "degree is 0; give a whole number from 1 to 20"),
        (lambda: Polynomial(2.0), "degree is 2.0; give a whole number"),
        (lambda: Polynomial(True), "degree is True"),
        (lambda: Polynomial(2, -1.0), "constant is -1.0; give a number of at least 0"),
        (lambda: Polynomial(2, float("nan")), "constant is nan"),
        (lambda: RBF(0.0), "width is 0.0; give a number above 0"),
        (lambda: RBF("1"), "width is '1'"),
        (lambda: RBF(float("inf")), "width is inf"),
        (lambda: -1.0 * Linear(), "the factor of a kernel is -1.0; give a number above 0"),
        (lambda: 0 * Linear(), "the factor of a kernel is 0"),
        (lambda: Normalized(3), "Normalized is given a int; give a kernel"),
        (lambda: TokenMatch(""), "attribute is ''; give what stands before '='"),
        (lambda: kernel_from_dict({"kernel": "cosine"}), "is no kernel"),
        (lambda: kernel_from_dict({"degree": 2}), "is no kernel"),
        (lambda: kernel_from_dict({"kernel": "rbf", "degree": 2}), "is no kernel"),
        (lambda: kernel_from_dict({"kernel": "sum", "parts": []}), "has no parts"),
        (lambda: kernel_from_dict({"kernel": "poly", "degree": -2}), "degree is -2"),
        (lambda: kernel_from_dict("linear"), "is no kernel"),
    ],
)
def test_what_is_no_kernel_is_refused(make, message):
    with pytest.raises(LabSeqError, match=message):
        make()


def test_algebra():
    a, b, c = Linear(), RBF(0.5), Polynomial(2)
    assert (a + b) + c == a + (b + c)
    assert a + b != b + a
    assert 2 * (3.0 * a) == 6 * a == a * 6
    assert np.float64(2.0) * a == 2 * a
    assert np.float64(2.0) * a + b == a * np.int64(2) + b
    assert Polynomial(np.int64(2), np.float32(1)) == c
    assert json.dumps((np.float64(2.0) * Polynomial(np.int64(2))).to_dict())
    assert repr(2.0 * (a + b)) == "2.0 * (Linear() + RBF(width=0.5))"
    for nonsense in (lambda: a + 1, lambda: a * b, lambda: "2" * a):
        with pytest.raises(TypeError):
            nonsense()


def test_values_beyond_all_numbers_are_refused_before_they_spoil_scores():
    observations = Observations.of(encode_attributes([[{"x": 1e200}, {"x": 1.0}]]))
    with pytest.raises(LabSeqError, match=r"values of Polynomial\(degree=2, constant=1.0\) are too large"):
        Gram(Polynomial(2), observations)
    for route in ("gram", "explicit"):
        with pytest.raises(LabSeqError, match="are too large for numbers; scale the attributes"):
            DualPerceptron(Polynomial(2), route=route).fit([[{"x": 1e200}]], [["A"]])
    model = DualPerceptron(Polynomial(2), epochs=2).fit([[{"x": 1.0}, {"y": 0.5}]], [["B", "A"]])
    with pytest.raises(LabSeqError, match="are too large for numbers; scale the attributes"):
        model.predict([[{"x": 1e200}]])
