"""Columns as attributes: strings, real values raw and in bins, missing ones, and the log-probabilities of words."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labseq_core import FeatureTemplate, LabSeqError
from labseq_core.data.sequences import Sequences
from labseq_core.features.columns import ColumnCoder
from labseq_core.features.word_probabilities import WORD_PROBABILITIES
from tests.reference.features import log_probability, token_attributes

LOG_PROBABILITY = {"rtol": 1e-12}
real_values = st.one_of(st.floats(-1e6, 1e6), st.sampled_from([0.0, 1.0, -1.0, math.nan]))


def one_column(values: list, name: str = "x") -> Sequences:
    """A sentence with one further column."""
    return Sequences.from_lists([["w"] * len(values)], columns={name: [values]})


def test_string_columns_are_named_and_windowed():
    data = Sequences.from_lists([["a", "b", "c"]], columns={"pos": [["D", "N=", "V"]], "chunk": [["B", "I", "O"]]})
    found = FeatureTemplate("custom", window=3, columns=["pos"]).encode(data).attributes()[0]
    assert [sorted(row) for row in found] == [
        ["pos=D", "pos[+1]=N="], ["pos=N=", "pos[+1]=V", "pos[-1]=D"], ["pos=V", "pos[-1]=N="],
    ]  # fmt: skip
    both = FeatureTemplate("custom", columns=["token", "chunk"]).encode(data).attributes()[0]
    assert [sorted(row) for row in both] == [["chunk=B", "word=a"], ["chunk=I", "word=b"], ["chunk=O", "word=c"]]
    # A column beside the attributes of words.
    more = FeatureTemplate("S2", columns=["pos"]).encode(data).attributes()[0]
    for t, tag in enumerate(["D", "N=", "V"]):
        assert sorted(more[t]) == sorted([*token_attributes(["a", "b", "c"], t, "S2", 1), f"pos={tag}"])


@given(st.lists(real_values, min_size=1, max_size=12), st.sampled_from([1, 3]))
def test_raw_values_are_kept_and_missing_ones_left_out(values, window):
    data = one_column(values)
    encoded = FeatureTemplate("custom", columns=["token", "x"], window=window).encode(data)
    for t, row in enumerate(encoded.attributes()[0]):
        expected = {}
        for offset in range(-(window // 2), window // 2 + 1):
            mark = f"[{offset:+d}]" if offset else ""
            if 0 <= t + offset < len(values):
                expected[f"word{mark}=w"] = 1.0
                value = values[t + offset]
                if value != 0.0 and not math.isnan(value):
                    expected[f"x{mark}"] = value
        names = row if isinstance(row, dict) else dict.fromkeys(row, 1.0)
        assert names == expected


def test_selection_and_vocabulary_keep_the_values():
    data = Sequences.from_lists([["a", "b"], ["c"], ["d"]], columns={"x": [[0.5, math.nan], [2.0], [-3.0]]})
    template = FeatureTemplate("S1", columns=["x"])
    encoded = template.encode(data)
    assert encoded.attributes() == [
        [{"word=a": 1.0, "x": 0.5}, {"word=b": 1.0}], [{"word=c": 1.0, "x": 2.0}], [{"word=d": 1.0, "x": -3.0}],
    ]  # fmt: skip
    assert encoded.select([2, 0]).attributes() == [encoded.attributes()[2], encoded.attributes()[0]]
    known = encoded.select([1]).vocabulary
    again = template.encode(data.select([2, 0]), known)
    np.testing.assert_array_equal(again.values, encoded.select([2, 0]).values)
    small = template.encode(data.select([1])).vocabulary
    assert template.encode(data, small).attributes()[0] == [{"x": 0.5}, {}]


def test_bins_are_equally_filled_and_ordered():
    values = np.random.default_rng(0).permutation(np.linspace(-3, 5, 250) ** 3)
    encoded = FeatureTemplate("custom", columns=["x"], bins=25).encode(one_column(values.tolist()))
    names = [row[0] for row in encoded.attributes()[0]]
    assert {names.count(name) for name in set(names)} == {10}
    assert len(set(names)) == 25
    in_order = [names[t] for t in np.argsort(values)]
    assert in_order == sorted(in_order)
    assert in_order[0] == "x=bin00"
    assert in_order[-1] == "x=bin24"


def test_bins_learned_on_train_are_reused():
    train, test = one_column([0.0, 1.0, 2.0, 3.0]), one_column([-100.0, 0.5, 1.5, 2.9, 100.0, math.nan, math.inf])
    template = FeatureTemplate("custom", columns=["x"], bins=2)
    template.encode(train)
    expected = [["x=bin0"], ["x=bin0"], ["x=bin1"], ["x=bin1"], ["x=bin1"], [], []]
    for _ in range(2):  # encoding more data must not move the edges
        assert template.encode(test).attributes()[0] == expected
    again = FeatureTemplate.from_dict(json.loads(json.dumps(template.to_dict())))
    assert again.encode(test).attributes()[0] == expected
    # Fitting says so explicitly, and only fitting starts anew.
    assert template.fit(one_column([10.0, 20.0])).encode(train).attributes()[0] == [["x=bin0"]] * 4


def test_bins_of_few_distinct_values():
    encoded = FeatureTemplate("custom", columns=["x"], bins=10).encode(one_column([1.0] * 5 + [2.0] * 5))
    names = [row[0] for row in encoded.attributes()[0]]
    assert len(set(names[:5])) == 1
    assert len(set(names[5:])) == 1
    assert names[0] < names[5]
    constant = FeatureTemplate("custom", columns=["x"], bins=10).encode(one_column([4.0] * 3))
    assert len({row[0] for row in constant.attributes()[0]}) == 1


def test_a_column_without_any_value_cannot_be_binned():
    with pytest.raises(LabSeqError, match="no values at all; leave it out"):
        FeatureTemplate("custom", columns=["x"], bins=4).encode(one_column([math.nan, math.nan]))


def test_a_missing_column_is_named():
    with pytest.raises(LabSeqError, match="the data have no column 'pos'; columns there: x"):
        FeatureTemplate("S1", columns=["pos"]).encode(one_column([1.0]))
    template = FeatureTemplate("S1", columns=["x"])
    template.encode(one_column([1.0]))
    with pytest.raises(LabSeqError, match="the data have no column 'x'; columns there: none"):
        template.encode([["plain", "words"]])


def test_text_stays_text_where_a_small_file_looks_like_numbers():
    train = one_column(["1", "2.5", "a", ""])
    template = FeatureTemplate("custom", columns=["x"])
    known = template.encode(train).vocabulary
    found = template.encode(one_column([2.5, 1.0, math.nan]), known).attributes()[0]
    assert found == [["x=2.5"], ["x=1"], ["x="]]


@pytest.mark.parametrize("bins", [0, 2])
def test_text_among_numbers_is_an_error_not_a_silent_loss(bins):
    template = FeatureTemplate("custom", columns=["x"], bins=bins)
    template.encode(one_column([1.0, 2.0, 3.0]))
    with pytest.raises(LabSeqError, match=r"column 'x' held numbers .* holds the text 'none' here"):
        template.encode(one_column(["2.0", "none"]))


words = st.sampled_from(["a", "b", "c", "d"])
lines = st.lists(st.lists(words, min_size=1, max_size=5), min_size=1, max_size=5)


@given(
    lines, st.lists(st.lists(st.sampled_from(["a", "b", "c", "new"]), min_size=1, max_size=4), min_size=1, max_size=3)
)
def test_log_probabilities_equal_counting_by_hand(train, test):
    template = FeatureTemplate("prosody", window=1, bins=0)
    template.fit(train)
    for data in (train, test):
        # With raw values an attribute's value is the log-probability itself; exactly 0 is left out.
        found = template.encode(data).attributes()
        for line, rows in zip(data, found):
            for t, row in enumerate(rows):
                assert row[f"word={line[t]}"] == 1.0
                got = [row.get(name, 0.0) for name in WORD_PROBABILITIES]
                expected = [log_probability(name, train, line, t) for name in WORD_PROBABILITIES]
                np.testing.assert_allclose(got, expected, **LOG_PROBABILITY)


@given(st.lists(st.lists(words, min_size=1, max_size=5), min_size=2, max_size=5))
def test_a_sentence_that_is_learned_from_is_left_out_of_its_own_counts(train):
    found = FeatureTemplate("prosody", window=1, bins=0).encode(train).attributes()
    for number, (line, rows) in enumerate(zip(train, found)):
        others = train[:number] + train[number + 1 :]
        for t, row in enumerate(rows):
            got = [row.get(name, 0.0) for name in WORD_PROBABILITIES]
            expected = [log_probability(name, others, line, t) for name in WORD_PROBABILITIES]
            np.testing.assert_allclose(got, expected, **LOG_PROBABILITY)


def test_one_sentence_alone_is_counted():
    (rows,) = FeatureTemplate("prosody", window=1, bins=0).encode([["a", "b", "a"]]).attributes()
    assert rows[1]["unigram"] == pytest.approx(math.log(1 / 3))


def test_prosody_uses_every_column_and_computes_what_is_not_there():
    data = Sequences.from_lists(
        [["so", "what"], ["so"]], columns={"pos": [["F", "N"], ["F"]], "Unigram": [[-1.0, -2.0], [-1.0]]}
    )
    template = FeatureTemplate("prosody", window=1, bins=2)
    keys = {name.partition("=")[0] for name in template.encode(data).vocabulary.names}
    assert keys == {"word", "pos", "Unigram", "bigram", "reverse_bigram", "joint", "reverse_joint"}
    assert FeatureTemplate("prosody").bins == 25
    assert FeatureTemplate("prosody").window == 5


def test_prosody_of_nothing_is_refused():
    with pytest.raises(LabSeqError, match="word probabilities are learned from data"):
        FeatureTemplate("prosody").encode([])


def test_what_a_coder_learned_survives_json():
    data = Sequences.from_lists([["a", "b"]], columns={"x": [[1.0, 2.0]], "pos": [["N", "V"]]})
    coder = ColumnCoder.learn(data, ("x", "pos"), 3, word_probabilities=True)
    again = ColumnCoder.from_dict(json.loads(json.dumps(coder.to_dict())))
    assert again.to_dict() == coder.to_dict()
    assert again.numeric == ("x", *WORD_PROBABILITIES)
