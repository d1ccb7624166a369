from __future__ import annotations

import io
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labseq_core.checks import LabSeqError
from labseq_core.data.formats.cells import as_column
from labseq_core.data.formats.registry import read_conll, read_table
from labseq_core.data.formats.writers import write_conll, write_csv
from labseq_core.data.sequences import Sequences

TROUBLE = " \t\n\r\0\"',;\\#-_\ufeff\u00a0\u0085\u2028\x1cé水=+@"
SPECIAL = ["=1+2", "'=1", "-5", "@a", "-DOCSTART-", "\ufeff", "ï»¿", "NA", "1", "ÿþ", "\x1f\x8b", "", '"', " "]
numbers = st.one_of(st.floats(allow_infinity=False), st.just(math.nan))


@st.composite
def batches(draw) -> Sequences:
    """Mostly tame text with one or two odd characters and one odd cell per batch: most can be written."""
    odd = draw(st.lists(st.one_of(st.sampled_from(TROUBLE), st.characters()), max_size=2))
    tame = st.text(st.sampled_from(["a", "b", "O", *odd]), min_size=1, max_size=4)
    cells = st.one_of(tame, tame, tame, st.just(draw(st.one_of(tame, st.sampled_from(SPECIAL)))))
    lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    total = sum(lengths)

    def flat(values):
        return draw(st.lists(values, min_size=total, max_size=total))

    labels = flat(cells) if draw(st.booleans()) else None
    columns = {"pos": flat(cells)} if draw(st.booleans()) else {}
    columns |= {"weight": np.array(flat(numbers))} if draw(st.booleans()) else {}
    return Sequences(flat(cells), np.cumsum([0, *lengths]), labels, columns)


def assert_same(read: Sequences, written: Sequences) -> None:
    assert read.tokens == written.tokens
    assert read.flat_labels == written.flat_labels
    assert read.flat_columns.keys() == written.flat_columns.keys()
    for name, column in written.flat_columns.items():
        # A file does not say whether "1" is text: readers decide it by the column.
        expected = column if isinstance(column, np.ndarray) else as_column(column)
        np.testing.assert_array_equal(read.flat_columns[name], expected)
        assert type(read.flat_columns[name]) is type(expected)


@given(batches(), st.sampled_from([" ", "\t"]), st.sampled_from(["utf-8", "latin-1"]))
def test_conll_comes_back_or_is_refused(sequences, separator, encoding):
    file = io.BytesIO()
    try:
        write_conll(sequences, file, separator=separator, encoding=encoding)
    except LabSeqError:
        assert file.getvalue() == b""
        return
    label_column = None if sequences.flat_labels is None else -1
    names = list(sequences.flat_columns)
    back_separator = None if separator == " " else separator
    options = {"columns": names, "separator": back_separator, "encoding": encoding, "label_column": label_column}
    assert_same(read_conll(file.getvalue(), **options), sequences)


@given(batches(), st.sampled_from([",", "\t", ";"]), st.sampled_from(["utf-8", "latin-1"]))
def test_csv_comes_back_or_is_refused(sequences, delimiter, encoding):
    file = io.BytesIO()
    try:
        write_csv(sequences, file, delimiter=delimiter, encoding=encoding)
    except LabSeqError:
        assert file.getvalue() == b""
        return
    label = None if sequences.flat_labels is None else "label"
    assert_same(read_table(file.getvalue(), delimiter=delimiter, label=label, encoding=encoding), sequences)


plain = st.text(st.sampled_from("abcXYZé水\u2028.,-='"), min_size=1, max_size=5)


@given(st.lists(st.lists(st.tuples(plain, plain), min_size=1, max_size=4), min_size=1, max_size=4))
def test_ordinary_text_is_never_refused(pairs):
    tokens = [[token for token, _ in row] for row in pairs]
    labels = [[label for _, label in row] for row in pairs]
    sequences = Sequences.from_lists(tokens, labels)
    for write, read in ((write_conll, read_conll), (write_csv, read_table)):
        file = io.BytesIO()
        write(sequences, file)
        assert_same(read(file.getvalue()), sequences)


SMALL = Sequences.from_lists([["a", "b"], ["c"]], [["O", "B"], ["I"]], {"w": [[1.0, math.nan], [0.1]]})


def test_layout_of_conll_with_predicted_labels(tmp_path):
    write_conll(SMALL, tmp_path / "out.conll", labels=[["O", "O"], ["X"]])
    assert (tmp_path / "out.conll").read_bytes() == b"a 1.0 O O\nb NA B O\n\nc 0.1 I X\n\n"


def test_layout_of_csv_with_predicted_labels(tmp_path):
    write_csv(SMALL, str(tmp_path / "out.csv"), labels=[["O", "O"], ["X"]])
    expected = b"sequence,token,w,label,predicted\n1,a,1.0,O,O\n1,b,NA,B,O\n2,c,0.1,I,X\n"
    assert (tmp_path / "out.csv").read_bytes() == expected
    write_csv(SMALL, tmp_path / "out.TSV", labels=[["O", "O"], ["X"]])
    assert (tmp_path / "out.TSV").read_bytes() == expected.replace(b",", b"\t")


def test_no_token_is_a_formula_and_numbers_stay_numbers(tmp_path):
    sequences = Sequences.from_lists([["-5", "=1+2", "-"]], [["-B", "O", "O"]], {"w": [[-0.5, 2.0, math.nan]]})
    write_csv(sequences, tmp_path / "out.csv")
    expected = "sequence,token,w,label\n1,'-5,-0.5,'-B\n1,'=1+2,2.0,O\n1,-,NA,O\n"
    assert (tmp_path / "out.csv").read_text() == expected
    assert_same(read_table(tmp_path / "out.csv"), sequences)


@pytest.mark.parametrize("write", [write_conll, write_csv])
@pytest.mark.parametrize("labels", [[["O", "O"]], [["O"], ["X"]], [["O", "O"], ["X"], ["X"]]])
def test_predicted_labels_must_fit(write, labels):
    with pytest.raises(LabSeqError, match="one label per token"):
        write(SMALL, io.BytesIO(), labels=labels)


@pytest.mark.parametrize(
    ("write", "tokens", "message"),
    [
        (write_conll, ["a b"], r"token 'a b' \(number 1\) has the character ' '"),
        (write_conll, ["a", "b\nc"], r"number 2.*'\\n'"),
        (write_conll, ["-DOCSTART-"], "meaning of its own"),
        (write_conll, [""], "empty"),
        (write_csv, ["a\nb"], r"'\\n'"),
    ],
)
def test_refusals_say_what_and_where(write, tokens, message):
    with pytest.raises(LabSeqError, match=message):
        write(Sequences.from_lists([tokens]), io.BytesIO())


@pytest.mark.parametrize("write", [write_conll, write_csv])
def test_infinite_numbers_and_taken_names_are_refused(write):
    for columns, message in [({"w": [[math.inf]]}, "infinite"), ({"label": [["x"]]}, "rename")]:
        with pytest.raises(LabSeqError, match=message):
            write(Sequences.from_lists([["a"]], None, columns), io.BytesIO())


def test_bad_options_and_places(tmp_path):
    with pytest.raises(LabSeqError, match="separator"):
        write_conll(SMALL, io.BytesIO(), separator=";")
    with pytest.raises(LabSeqError, match="delimiter"):
        write_csv(SMALL, io.BytesIO(), delimiter="")
    with pytest.raises(LabSeqError, match="cannot be written") as caught:
        write_csv(SMALL, tmp_path / "no" / "out.csv")
    assert str(tmp_path) not in str(caught.value)
