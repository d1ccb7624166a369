"""What is no text and what is no number that can be summed is refused where it enters, with what, where and what to do."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from labseq_core import CRF, FeatureTemplate, LabSeqError
from labseq_core.data.alphabet import Alphabet
from labseq_core.data.sequences import Sequences
from labseq_core.features import EncodedSequences, encode_attributes
from labseq_core.features.encoded import LARGEST_VALUE
from labseq_core.kernels import Gram, Observations, Polynomial
from labseq_core.kernels.blocks import LARGEST_KERNEL
from labseq_core.learners.registry import METHODS, make_learner

HALF = "a\ud800"
TEXTS = {None: "is None of type NoneType; give a string", 3: "is 3 of type int; give a string",
         HALF: r"'a\ud800' has half a surrogate pair (\ud800 to \udfff); write the character itself"}  # fmt: skip
X, Y = [["a", "b"], ["c"]], [["O", "P"], ["O"]]
AT = "sequence 0, token 1: "


def refused(call, message: str) -> None:
    with pytest.raises(LabSeqError, match=f"^{re.escape(message)}"):
        call()


@pytest.mark.parametrize("odd", TEXTS)
class TestTexts:
    def test_labels(self, odd):
        labels = [["O", odd], ["O"]]
        refused(lambda: CRF().fit(X, labels), f"y: {AT}the label {TEXTS[odd]}")
        refused(lambda: Sequences.from_lists(X, labels), f"{AT}the label {TEXTS[odd]}")
        fitted = CRF(max_iter=2).fit(X, Y)
        refused(lambda: fitted.score(X, labels), f"y: {AT}the label {TEXTS[odd]}")
        refused(lambda: CRF().fit(X, Y, dev=(X, labels)), f"y: {AT}the label {TEXTS[odd]}")

    def test_tokens(self, odd):
        tokens = [["a", odd], ["c"]]
        message = f"{AT}the token {TEXTS[odd]}"
        refused(lambda: Sequences.from_lists(tokens), message)
        refused(lambda: Sequences(["a", odd, "c"], np.array([0, 2, 3])), message)
        refused(lambda: FeatureTemplate("S3").encode(tokens), message)
        refused(lambda: FeatureTemplate("S3").attributes(["a", odd]), message)
        fitted = CRF(max_iter=2).fit(FeatureTemplate("S2").encode(X), Y)
        refused(lambda: fitted.predict(tokens), message)

    def test_attributes(self, odd):
        message = f"X: {AT}the name of an attribute {TEXTS[odd]}"
        refused(lambda: CRF().fit([[{"a": 1.0}, {odd: 1.0}], [{}]], Y), message)
        if isinstance(odd, str):
            refused(lambda: CRF().fit([[["a"], [odd]], [["b"]]], Y), message)
            refused(lambda: CRF().fit([[{}, {"w": odd}], [{}]], Y), message.replace("'a", "'w=a"))

    def test_columns(self, odd):
        refused(lambda: Sequences.from_lists(X, None, {odd: [["x", "y"], ["z"]]}), f"the name of a column {TEXTS[odd]}")
        if odd == HALF:
            columns = {"pos": [["x", odd], ["z"]]}
            refused(lambda: Sequences.from_lists(X, None, columns), f"{AT}the value in column 'pos' {TEXTS[odd]}")


def test_half_of_a_pair_in_each_of_two_tokens_is_no_character():
    refused(lambda: Sequences.from_lists([["\ud83d", "\ude00"]]), "sequence 0, token 0: the token '\\ud83d' has half")


@pytest.mark.parametrize("value", [1e201, -1e308, math.inf, math.nan, None])
def test_values_of_attributes_are_finite_numbers_that_can_be_summed(value):
    message = f"X: {AT}attribute 'n' has the value {value!r}; give a finite number between -1e+200 and 1e+200"
    refused(lambda: encode_attributes([[{"n": 1.0}, {"n": value}]]), message)
    refused(lambda: CRF().fit([[{"n": 1.0}, {"n": value}]], [["O", "P"]]), message)


@pytest.mark.parametrize("bins", [0, 3])
def test_numbers_in_columns_too(bins):
    data = Sequences.from_lists([["a", "b", "c"]], [["O", "P", "O"]], {"n": [[1.0, -1e308, 1e308]]})
    message = "the column 'n' has the number -1e+308 (token 1 of the data, counted from 0); scale it to between"
    refused(lambda: FeatureTemplate("custom", columns=["n"], bins=bins).encode(data), message)


@pytest.mark.parametrize("value", [1.1 * LARGEST_VALUE, math.nan, -1e308])
def test_arrays_of_a_caller_too(value):
    """Arrays made elsewhere, by whatever means."""
    bare = np.array([0, 1, 2]), np.array([0, 0], dtype=np.int32), np.array([1.0, value]), np.array([0, 2])
    encoded = EncodedSequences(*bare, Alphabet(["n"]))
    fitted = CRF(max_iter=2).fit([[{"n": 1.0}, {"n": 2.0}]], [["O", "P"]])
    message = (
        f"X: {AT}attribute 'n' has the value {value:g}; such values are too large for numbers; scale the attributes"
    )
    for call in (fitted.predict, fitted.marginals, fitted.potentials, lambda X: CRF().fit(X, [["O", "P"]])):
        refused(lambda call=call: call(encoded), message)


@pytest.mark.parametrize("size", [1e10, 0.1 * LARGEST_VALUE])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_learns_from_the_largest_values_or_says_what_to_do(method, size):
    """Without a warning, which would be an error here; and no probability is above 1."""
    rng = np.random.default_rng(0)
    data = [
        [{"word": "ab"[int(value > 0)], "n": float(value) * size} for value in rng.normal(size=3)] for _ in range(5)
    ]
    labels = [["OP"[int(token["n"] > 0)] for token in sequence] for sequence in data]
    few = {name: 4 for name in ("max_iter", "rounds", "epochs") if name in make_learner(method).get_params()}
    learner = make_learner(method, **few)
    try:
        learner.fit(data, labels)
        assert {label for row in learner.predict(data) for label in row} <= {"O", "P"}
        rows = np.concatenate(learner.marginals(data)) if learner.probabilistic else np.full((1, 2), 0.5)
    except LabSeqError as problem:
        assert re.search("scale (the )?attribute", str(problem))  # noqa: PT017
        return
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=0.0, atol=1e-6)
    assert rows.min() >= 0.0


def test_kernel_values_are_numbers_whose_products_can_be_summed():
    """k(x, x) = x^4 is the largest: against the formula, just below the bound and above it."""
    x = (0.9 * LARGEST_KERNEL) ** 0.25
    below = Observations.of(encode_attributes([[{"n": x}, {"n": 1.0}, {"n": -x}]]))
    inner = np.outer([x, 1.0, -x], [x, 1.0, -x])
    np.testing.assert_allclose(Gram(Polynomial(2, 0.0), below).rows(np.arange(3)), inner**2, rtol=1e-12)
    above = Observations.of(encode_attributes([[{"n": 1.1 * x}]]))
    refused(
        lambda: Gram(Polynomial(2, 0.0), above),
        "values of Polynomial(degree=2, constant=0.0) are too large for numbers",
    )
