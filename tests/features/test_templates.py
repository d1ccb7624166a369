"""Templates against the usual Python function per token."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labseq_core import FeatureTemplate, LabSeqError
from labseq_core.data.alphabet import Alphabet
from labseq_core.data.sequences import Sequences
from labseq_core.features import TEMPLATES, EncodedSequences
from tests.reference.features import token_attributes

ODD_WORDS = [
    "", " ", ".", "-", "=", "...", "a", "A", "É", "ñandú", "U.S.", "Sr.", "B-52", "3.14", "²", "٣", "x=1", "+1", "[-1]",
    "WHICH", "where", "wH", "th", "TH", "running", "BEST", "ed", "ǅ", "ß", "ª", "İstanbul", "ﬁn", "東京", "👍", "e\u0301",
    "a b", "word=a", "\u00a0", "McDonald", "co-op.", "1-2.3", ".5", ".NET", "-x", "x-", "9a", "a9",
]  # fmt: skip
words = st.one_of(st.sampled_from(ODD_WORDS), st.text(max_size=6))
sentences = st.lists(st.lists(words, min_size=1, max_size=7), min_size=1, max_size=5)
WORD_TEMPLATES = ["S1", "S2", "S3", "POS"]


def naive(lines: list[list[str]], template: FeatureTemplate) -> list[list[list[str]]]:
    arguments = (template.name, template.window, template.joint)
    return [[sorted(token_attributes(line, t, *arguments)) for t in range(len(line))] for line in lines]


def listed(encoded: EncodedSequences) -> list[list[list[str]]]:
    return [[sorted(names) for names in line] for line in encoded.attributes()]


def assert_same_arrays(one: EncodedSequences, other: EncodedSequences) -> None:
    assert one.vocabulary.names == other.vocabulary.names
    for name in ("indptr", "indices", "values", "offsets"):
        assert_same_array(getattr(one, name), getattr(other, name), name)


def assert_same_array(one: np.ndarray, other: np.ndarray, name: str) -> None:
    assert one.dtype == other.dtype, name
    np.testing.assert_array_equal(one, other, err_msg=name)


@given(sentences, st.sampled_from(WORD_TEMPLATES), st.sampled_from([1, 3, 5]), st.booleans())
def test_encoding_equals_a_function_per_token(lines, name, window, joint):
    template = FeatureTemplate(name, window=window, joint=joint)
    encoded = template.encode(lines)
    assert listed(encoded) == naive(lines, template)
    assert encoded.values.size == 0  # all attributes of words are there or not
    assert encoded.n_attributes == len(
        {attribute for line in naive(lines, template) for row in line for attribute in row}
    )
    assert [sorted(row) for row in template.attributes(lines[0])] == naive(lines[:1], template)[0]


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("name", WORD_TEMPLATES)
def test_every_odd_word_at_the_start_and_later(name, joint):
    template = FeatureTemplate(name, window=1, joint=joint)
    lines = [[word, word] for word in ODD_WORDS]
    assert listed(template.encode(lines)) == naive(lines, template)


@pytest.mark.parametrize("name", WORD_TEMPLATES)
def test_usual_windows(name):
    template = FeatureTemplate(name)
    assert template.window == {"S1": 1, "S2": 1, "S3": 3, "POS": 3}[name]
    lines = [["Ana", "dijo", "que", "sí", "."], ["Ayer", "."]]
    assert listed(template.encode(lines)) == naive(lines, template)


def test_a_line_read_by_eye():
    found = FeatureTemplate("S3").attributes(["El", "B-52", "."])
    assert sorted(found[1]) == sorted([
        "word[-1]=El", "first[-1]=upper", "last[-1]=l", "sent_ini[-1]", "cap_ini[-1]", "cap_ini+sent_ini[-1]",
        "word=B-52", "first=upper", "last=2", "all_caps", "cap_ini", "contains_digit", "cap_ini+contains_hyphen",
        "cap_ini+contains_digit", "contains_digit+contains_hyphen",
        "word[+1]=.", "first[+1]=other", "last[+1]=.", "dot_end[+1]",
    ])  # fmt: skip


@given(sentences, st.data())
def test_selecting_is_encoding_the_selection(lines, data):
    numbers = data.draw(st.lists(st.integers(0, len(lines) - 1), max_size=6))
    template = FeatureTemplate("S3")
    encoded = template.encode(lines)
    selected = encoded.select(numbers)
    assert_same_arrays(selected, template.encode([lines[i] for i in numbers], encoded.vocabulary))
    assert selected.attributes() == [encoded.attributes()[i] for i in numbers]


@given(sentences, sentences)
def test_attributes_that_a_vocabulary_lacks_are_dropped(train, test):
    template = FeatureTemplate("S3", window=5)
    known = template.encode(train).vocabulary
    encoded = template.encode(test, known)
    assert encoded.vocabulary is known
    everything = naive(test, template)
    assert listed(encoded) == [[[name for name in row if name in known] for row in line] for line in everything]
    assert_same_arrays(encoded, template.encode(test).with_vocabulary(known))


def test_a_vocabulary_without_any_of_the_attributes_leaves_empty_positions():
    encoded = FeatureTemplate("S1").encode([["a", "b"], ["c"]], Alphabet(["word=z"]))
    assert encoded.attributes() == [[[], []], [[]]]
    assert encoded.n_positions == 3
    assert encoded.indices.dtype == np.int32


def test_sequences_and_lists_encode_alike():
    lines = [["uno", "Dos"], ["tres"]]
    template = FeatureTemplate("POS")
    for given_lines in (Sequences.from_lists(lines), tuple(map(tuple, lines)), (line for line in lines)):
        assert_same_arrays(template.encode(lines), template.encode(given_lines))
    assert_same_arrays(template.encode(lines), template.encode([np.array(line) for line in lines]))


def test_a_sentence_of_100_000_tokens():
    rng = np.random.default_rng(0)
    line = rng.choice(np.array([word for word in ODD_WORDS if word]), size=100_000).tolist()
    encoded = FeatureTemplate("S3").encode([line, ["fin"]])
    assert encoded.offsets.tolist() == [0, 100_000, 100_001]
    names = encoded.vocabulary.names
    for t in [*range(500), *range(99_500, 100_000)]:
        row = [names[index] for index in encoded.indices[encoded.indptr[t] : encoded.indptr[t + 1]]]
        assert sorted(row) == sorted(token_attributes(line, t, "S3", 3))


def test_no_sentences_give_empty_arrays():
    encoded = FeatureTemplate("S3").encode([])
    assert (len(encoded), encoded.n_positions, encoded.n_attributes) == (0, 0, 0)
    assert encoded.attributes() == []


@pytest.mark.parametrize("name", [name for name in TEMPLATES if name != "custom"])
def test_round_trip_through_json(name):
    train = Sequences.from_lists(
        [["El", "B-52", "."], ["No", "el", "."]], columns={"pos": [["D", "N", "P"], ["R", "D", "P"]]}
    )
    for options in ({}, {"window": 5, "joint": True, "columns": ["pos"]}):
        template = FeatureTemplate(name, **options).fit(train)
        again = FeatureTemplate.from_dict(json.loads(json.dumps(template.to_dict())))
        assert again.get_params() == template.get_params()
        assert_same_arrays(again.encode(train), template.encode(train))
        assert FeatureTemplate.from_dict(json.loads(json.dumps(FeatureTemplate(name).to_dict()))).coder_ is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "S4"}, "features is 'S4'; choose one of S1, S2, S3, POS, prosody, custom"),
        ({"window": 2}, "window is 2; choose an odd number"),
        ({"window": 0}, "window is 0; choose an odd number"),
        ({"window": "3"}, "window is '3'; choose an odd number"),
        ({"bins": 1}, "bins is 1; choose 2 to 1000, or 0"),
        ({"name": "custom"}, "custom features need columns"),
        ({"columns": "pos"}, "columns is the string 'pos'; give a list of column names"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(LabSeqError, match=message):
        FeatureTemplate(**options)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["a sentence"], "sentence 0 is of type str; give a list of sentences, each a list of words"),
        ([["a"], None], "sentence 1 is of type NoneType"),
        ([["a"], ["b", 3]], "sequence 1, token 1: the token is 3 of type int; give a string"),
        (7, "sequences is of type int"),
        ([["a"], []], "sequence 1 is empty"),
    ],
)
def test_bad_sentences_are_named(lines, message):
    with pytest.raises(LabSeqError, match=message):
        FeatureTemplate("S3").encode(lines)


def test_one_sentence_as_a_string_is_refused():
    with pytest.raises(LabSeqError, match="is of type str"):
        FeatureTemplate("S3").attributes("la casa")
