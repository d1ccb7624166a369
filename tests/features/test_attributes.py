"""Per-token attributes as users give them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labseq_core import LabSeqError
from labseq_core.data.alphabet import Alphabet
from labseq_core.features import encode_attributes

names = st.text(st.characters(codec="utf-8"), max_size=4)
values = st.one_of(
    st.booleans(),
    st.text(max_size=3),
    st.floats(-1e9, 1e9),
    st.integers(-5, 5),
    st.just(np.float32(0.5)),
    st.just(np.True_),
)


def expected(token) -> dict[str, float]:
    """What a token means, case by case; two ways to say the same attribute add up."""
    if isinstance(token, str):
        return {f"word={token}": 1.0}
    if isinstance(token, list):
        return dict.fromkeys(token, 1.0)
    meaning: dict[str, float] = {}
    for name, value in token.items():
        attribute, amount = (f"{name}={value}", 1.0) if isinstance(value, str) else (name, float(value))
        if amount:
            meaning[attribute] = meaning.get(attribute, 0.0) + amount
    return meaning


def total(encoded) -> list[list[dict[str, float]]]:
    """The sum of the values of each attribute at each position."""
    positions = []
    for begin, end in zip(encoded.indptr[:-1], encoded.indptr[1:]):
        sums: dict[str, float] = {}
        for k in range(begin, end):
            name = encoded.vocabulary.names[encoded.indices[k]]
            sums[name] = sums.get(name, 0.0) + (encoded.values[k] if encoded.values.size else 1.0)
        positions.append(sums)
    return [positions[begin:end] for begin, end in zip(encoded.offsets[:-1], encoded.offsets[1:])]


tokens = st.one_of(st.text(max_size=4), st.lists(names, max_size=4), st.dictionaries(names, values, max_size=4))
sequences = st.lists(st.lists(tokens, min_size=1, max_size=4), max_size=4)


@given(sequences)
def test_dicts_lists_and_words(X):
    encoded = encode_attributes(X)
    assert total(encoded) == [[expected(token) for token in x] for x in X]
    assert len(encoded) == len(X)
    assert encoded.indptr.dtype == encoded.offsets.dtype == np.int64
    assert encoded.indices.dtype == np.int32
    assert encoded.values.dtype == np.float64


@given(sequences, st.lists(names, unique=True, max_size=6))
def test_a_vocabulary_keeps_only_what_it_knows(X, known):
    vocabulary = Alphabet(known)
    encoded = encode_attributes(X, vocabulary)
    assert encoded.vocabulary is vocabulary
    kept = [[{n: v for n, v in expected(token).items() if n in vocabulary} for token in x] for x in X]
    assert total(encoded) == kept


def test_the_readme_of_a_token():
    X = [[{"word": "casa", "length": 4.0, "title": False, "last": True, "zero": 0}, ["word=de", "word=de"], "Ana"]]
    encoded = encode_attributes(X)
    assert encoded.attributes() == [
        [{"word=casa": 1.0, "length": 4.0, "last": 1.0}, {"word=de": 1.0}, {"word=Ana": 1.0}]
    ]
    # Without real values positions are plain lists.
    assert encode_attributes([["Ana"]]).attributes() == [[["word=Ana"]]]


@pytest.mark.parametrize(
    ("token", "message"),
    [
        ({"f": None}, "X: sequence 1, token 2: attribute 'f' has the value None; give a finite number"),
        ({"f": float("nan")}, "attribute 'f' has the value nan"),
        ({"f": float("inf")}, "attribute 'f' has the value inf"),
        ({"f": [1.0]}, r"attribute 'f' has the value \[1.0\]"),
        ({"f": 10**400}, "attribute 'f' has the value 1000"),
        (3, "X: sequence 1, token 2 is of type int; give a dict of attributes"),
        (None, "token 2 is of type NoneType"),
        (b"word", "token 2 is of type bytes"),
        ({"a"}, "token 2 is of type set"),
        (["a", 1], "token 2 is of type list; give a dict of attributes, a list of attribute names or a word"),
    ],
)
def test_bad_tokens_are_named(token, message):
    with pytest.raises(LabSeqError, match=message):
        encode_attributes([["fine"], ["fine", "fine", token]])


@pytest.mark.parametrize("sequence", ["word", {"word": "x"}, None, 3, iter("ab")])
def test_bad_sequences_are_named(sequence):
    with pytest.raises(LabSeqError, match=f"X: sequence 1 is of type {type(sequence).__name__}; give a list of tokens"):
        encode_attributes([["fine"], sequence])


def test_an_empty_sequence_is_named():
    with pytest.raises(LabSeqError, match="sequence 1 is empty; remove sequences without tokens"):
        encode_attributes([["fine"], []])
