"""Words by type: looks against Python's own string methods, the lookup in a vocabulary against names."""

import pickle
import sys
import tracemalloc
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labseq_core import FeatureTemplate
from labseq_core.checks import LabSeqError
from labseq_core.data.alphabet import Alphabet
from labseq_core.data.sequences import Sequences
from labseq_core.features import TEMPLATES, EncodedSequences, Template, templates
from labseq_core.features.spelling import ALL_CAPS, DIGIT, LAST_AT, LETTER_CLASSES, look_attributes, looks_of
from tests.features.test_templates import ODD_WORDS, WORD_TEMPLATES, assert_same_array, assert_same_arrays
from tests.outside import added
from tests.reference.features import token_attributes

any_letter = st.characters(codec=None, exclude_categories=())  # lone surrogates too
cased = st.sampled_from("aAßǅʰªÉéﬁⅣⓐⓐ9²٣.-_Σσς\u0301\u0345")
any_word = st.one_of(st.text(any_letter, max_size=5), st.text(cased, max_size=5), st.sampled_from(ODD_WORDS))
some_words = st.one_of(st.sampled_from(ODD_WORDS), st.text(max_size=4))
lines = st.lists(st.lists(some_words, min_size=1, max_size=6), min_size=1, max_size=5)
# Names that no template gives, and such that look like marks.
odd_names = st.lists(
    st.sampled_from(["word", "word[-1]", "word[0]=a", "word[+9]=a", "word[-1]=a", "word[[-1]=a", "[+1]", "", "=",
                     "[+1]=a", "cap_ini[+1]", "cap_ini=", "last=", "last[-1]=", "first[+1]=upper", "word=",
                     "word[+2]=", "word[-1][-1]=a"]),
    unique=True,
)  # fmt: skip


def assert_same(one: EncodedSequences, other: EncodedSequences) -> None:
    assert_same_arrays(one, other)
    assert (one.types is None) == (other.types is None)
    if one.types is not None:
        assert one.types.window == other.types.window
        for name in ("rows", "before", "after", "indptr", "indices"):
            assert_same_array(getattr(one.types, name), getattr(other.types, name), name)


def looked_up(template: FeatureTemplate, data, vocabulary: Alphabet) -> EncodedSequences:
    """Encoded the way that large batches are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(templates, "LOOKUP_FROM", 0)
        return template.encode(data, vocabulary)


@given(st.lists(any_word, max_size=6), st.booleans(), st.booleans())
def test_looks_say_what_string_methods_say(words, initial, joint):
    looks = looks_of(words)
    assert looks.dtype == np.int64
    for word, look in zip(words, looks.tolist(), strict=True):
        sentence = [word] if initial else ["x", word]
        expected = token_attributes(sentence, len(sentence) - 1, "S2", 1, joint)
        assert [f"word={word}", *look_attributes(look, initial, joint)] == expected


def test_every_code_point_in_a_word():
    points = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) not in ("Cn", "Co")]
    after_capital = [f"A{letter}" for letter in points]
    alone, behind = looks_of(points), looks_of(after_capital)
    for looks, words in ((alone, points), (behind, after_capital)):
        assert ((looks & ALL_CAPS) > 0).tolist() == [word.isupper() for word in words]
        assert ((looks & DIGIT) > 0).tolist() == [any(map(str.isdigit, word)) for word in words]
        assert (looks >> LAST_AT).tolist() == list(map(ord, points))
    upper = [LETTER_CLASSES[look & 3] == "upper" for look in alone.tolist()]
    assert upper == [letter.isupper() for letter in points]


def test_one_very_long_word_does_not_widen_the_others():
    long, n_words = 1_000_000, 1_000
    words = ["x" * long + ".", *map(str, range(n_words))]
    most_bytes = 64 * (long + 10 * n_words)
    tracemalloc.start()
    try:
        looks = looks_of(words)
        assert tracemalloc.get_traced_memory()[1] < most_bytes
    finally:
        tracemalloc.stop()
    assert look_attributes(int(looks[0]), False, False) == ("first=lower", "last=.", "dot_end")


@given(lines, lines, odd_names, st.sampled_from(WORD_TEMPLATES), st.sampled_from([1, 3, 5]), st.booleans())
def test_lookup_gives_what_names_give(train, test, odd, name, window, joint):
    template = FeatureTemplate(name, window=window, joint=joint)
    known = [shown for shown in template.encode(train).vocabulary.names if shown not in odd]
    vocabulary = Alphabet([*odd, *known])
    for data in (train, test, train + test):
        found = looked_up(template, data, vocabulary)
        assert found.vocabulary is vocabulary
        assert_same(found, template.encode(data).with_vocabulary(vocabulary))


@pytest.mark.parametrize("window", [1, 3, 5])
@pytest.mark.parametrize(
    "options",
    [
        {"name": "prosody"},
        {"name": "prosody", "bins": 0},
        {"name": "S3", "columns": ["pos"]},
        {"name": "custom", "columns": ["pos"]},
        {"name": "custom", "columns": ["token"]},
        {"name": "custom", "columns": ["token", "word", "x"]},
    ],
)
def test_columns_and_large_batches(options, window):
    def data(words: str, tags: str) -> Sequences:
        columns = {"pos": [list(tags)], "word": [list(tags)], "x": [[0.5 * t for t in range(len(tags))]]}
        return Sequences.from_lists([list(words)], columns=columns)

    template = FeatureTemplate(**options, window=window)
    vocabulary = template.encode(data("abcA.", "aNVPb")).vocabulary
    for test in (data("abcA.", "aNVPb"), data("cz.bQ", "NXabN")):
        assert_same(looked_up(template, test, vocabulary), template.encode(test).with_vocabulary(vocabulary))


@given(lines, st.sampled_from(WORD_TEMPLATES), st.booleans())
def test_attributes_are_numbered_as_they_come_up_word_by_word(data, name, joint):
    starts = {line[0] for line in data}
    later = {word for line in data for word in line[1:]}
    expected: dict[str, None] = {}
    for word in dict.fromkeys(word for line in data for word in line):
        if word in later:
            expected.update(dict.fromkeys(token_attributes(["x", word], 1, name, 1, joint)))
        if word in starts:
            expected.update(dict.fromkeys(token_attributes([word], 0, name, 1, joint)))
    assert FeatureTemplate(name, window=1, joint=joint).encode(data).vocabulary.names == tuple(expected)


def test_large_batches_are_looked_up_and_small_ones_are_not():
    template = FeatureTemplate("S3")
    vocabulary = template.encode([["a", "B"]]).vocabulary
    template.encode([["a"] * (templates.LOOKUP_FROM - 1)], vocabulary)
    assert template._lookup is None
    template.encode([["a"] * templates.LOOKUP_FROM], vocabulary)
    assert template._lookup.vocabulary is vocabulary


def test_a_lookup_follows_the_vocabulary_and_is_not_kept():
    template = FeatureTemplate("S2")
    one, other = (template.encode(words).vocabulary for words in ([["a", "B"]], [["B", "c", "a"]]))
    for vocabulary in (one, other, one):
        data = [["a", "B"], ["c"]]
        assert_same(looked_up(template, data, vocabulary), template.encode(data).with_vocabulary(vocabulary))
    again = pickle.loads(pickle.dumps(template))
    assert again._lookup is None
    assert template._lookup is not None
    assert_same(again.encode([["a"]], one), template.encode([["a"]], one))
    assert "lookup" not in str(template.to_dict())


def odd_template(of_word) -> Template:
    return Template("mine", "of my own", window=3, of_word=of_word)


@pytest.mark.parametrize(
    ("of_word", "said"),
    [
        (lambda word: "shape=X", "gives the str 'shape=X' for the word 'a'; return a tuple of names"),
        (lambda word: ("shape", 3), "gives the name 3 for the word 'a'; return a tuple of names, each a str"),
        (
            lambda word: [f"affix[0:2]={word}"],
            r"gives the name 'affix\[0:2\]=a' for the word 'a'; leave out the bracket",
        ),
        (lambda word: (f"word={word}",), "gives the name 'word=a' for the word 'a', which every token has already"),
        (lambda word: None, "gives the NoneType None for the word 'a'; return a tuple of names"),
    ],
)
def test_a_function_of_words_that_names_no_attributes_is_told(of_word, said):
    match = f"feature template mine: of_word {said}"
    with added(TEMPLATES, odd_template(of_word)) as name, pytest.raises(LabSeqError, match=match):
        FeatureTemplate(name).encode([["a", "b"]])


def test_attributes_from_outside_do_not_depend_on_the_size_of_a_batch():
    """Values may have brackets, and lists do as well as tuples."""
    with added(TEMPLATES, odd_template(lambda word: [f"affix={word[:1]}[+1]", "here"])) as name:
        template = FeatureTemplate(name)
        data = [["a", "bc"], ["b[", "a"]]
        known = template.encode(data)
        assert "affix[+1]=b[+1]" in known.vocabulary.names
        assert_same(template.encode(data, known.vocabulary), looked_up(template, data, known.vocabulary))


def test_a_template_that_cannot_be_used_is_refused_where_it_is_declared():
    with pytest.raises(LabSeqError, match="feature template mine: window is 2; choose an odd number from 1 to 21"):
        Template("mine", "of my own", window=2)
    with pytest.raises(LabSeqError, match="feature template mine: bins is 1; choose 2 to 1000, or 0"):
        Template("mine", "of my own", bins=1)
