from __future__ import annotations

import gzip
import json
import time

import numpy as np
import pytest

from labseq_core.checks import LabSeqError
from labseq_core.data.formats.cells import as_column
from labseq_core.data.formats.registry import DataError, read_jsonl, read_table
from labseq_core.data.limits import MAX_COLUMNS


def test_blank_rows_end_sequences():
    read = read_table(b"token,pos,label\na,X,O\n,,\nb,Y,B\n\n\nc,Z,I\n", name="x.csv")
    assert read.tokens == [["a"], ["b"], ["c"]]
    assert read.labels == [["O"], ["B"], ["I"]]
    assert read.columns == {"pos": [["X"], ["Y"], ["Z"]]}


def test_change_of_a_column_ends_sequences_and_empty_repeats():
    read = read_table(b"id\tword\tlabel\n1\ta\tO\n\tb\tO\n2\tc\tO\n1\td\tO\n", name="x.tsv", sequence="id")
    assert read.tokens == [["a", "b"], ["c"], ["d"]]
    assert read.columns == {}


def test_a_column_named_sequence_needs_no_option():
    assert read_table(b"sequence,token,label\n1,a,O\n1,b,O\n2,c,O\n").tokens == [["a", "b"], ["c"]]


def test_quotes_numbers_and_windows_lines():
    data = 'form,label,f0\r\n",",O,1.5\r\n"say ""hi""",B,NA\r\nx\u2028y,O,2\r\n'.encode()
    read = read_table(data, name="x.csv")
    assert read.flat_tokens == [",", 'say "hi"', "x\u2028y"]
    np.testing.assert_array_equal(read.flat_columns["f0"], [1.5, np.nan, 2.0])


def test_plain_quotes_on_request():
    data = b'token\tlabel\n"\tO\na\tO\n"\tO\n'
    with pytest.raises(DataError, match="quoted=False") as caught:
        read_table(data, name="x.tsv")
    assert caught.value.line == 2
    assert read_table(data, name="x.tsv", quoted=False).flat_tokens == ['"', "a", '"']


@pytest.mark.parametrize(
    ("name", "delimiter"), [("x.tsv", "\t"), ("x.csv", ","), ("x.csv.gz", ","), ("x", "\t"), ("x", ",")]
)
def test_delimiter_by_name_or_header(name, delimiter):
    data = f"token{delimiter}label\na b{delimiter}O\n".encode()
    packed = gzip.compress(data) if name.endswith("gz") else data
    assert read_table(packed, name=name).flat_tokens == ["a b"]


def test_other_delimiter_and_no_labels():
    read = read_table(b"w;x\na;1\n", delimiter=";", token="w", label=None)
    assert read.flat_tokens == ["a"]
    assert read.flat_labels is None
    assert read.flat_columns["x"].tolist() == [1.0]


@pytest.mark.parametrize(
    ("data", "options", "line", "part"),
    [
        (b"word,tag\na,O\n", {}, 1, "'word', 'tag'"),
        (b"a,label\na,O\n", {}, 1, "no column 'token'"),
        (b"token,label\na,O\n", {"sequence": "id"}, 1, "no column 'id'"),
        (b"token,label\na,O\nb\n", {}, 3, "1 columns where the header has 2"),
        (b"token,label,label\na,O,O\n", {}, 1, "'label' twice"),
        (b"token,label\n,O\n", {}, 2, "token is empty"),
        (b"token,label\na,O\nb,\n", {}, 3, "label is empty"),
        (b"token,label\n", {}, None, "no rows"),
        (b"\n\n", {}, None, "empty"),
        (b'token,label\na,O\n"b,O\nc,O\n', {}, 3, "goes on over the end of the line"),
        (b'token,label\n"b"c,O\n', {}, 2, "cannot be split"),
        (b"token,label\na\rb,O\n", {}, 2, "cannot be split"),
        (
            b"token,label\na,O\n",
            {"token": "label"},
            1,
            "token and label are one column; choose another column as label",
        ),
    ],
)
def test_broken_tables(data, options, line, part):
    with pytest.raises(DataError) as caught:
        read_table(data, name="x.csv", **options)
    assert caught.value.line == line
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bad_delimiter():
    with pytest.raises(LabSeqError, match="delimiter"):
        read_table(b"token,label\na,O\n", delimiter="ab")


def lines(*records: object) -> bytes:
    return "\n".join(json.dumps(record) for record in records).encode()


def test_jsonl_lists_become_columns():
    read = read_jsonl(
        lines(
            {"tokens": ["a", "b"], "labels": ["O", "B"], "f0": [1, None], "pos": ["X", "Y"], "id": 7},
            {"pos": ["Z"], "tokens": ["c"], "labels": ["I"], "f0": [2.5], "source": "web"},
        )
        + b"\r\n\r\n"
    )
    assert read.tokens == [["a", "b"], ["c"]]
    assert read.labels == [["O", "B"], ["I"]]
    np.testing.assert_array_equal(read.flat_columns["f0"], [1.0, np.nan, 2.5])
    assert read.flat_columns["pos"] == ["X", "Y", "Z"]
    assert set(read.flat_columns) == {"f0", "pos"}


def test_jsonl_without_labels_and_mixed_values():
    read = read_jsonl(lines({"tokens": ["a", "b", "c"], "mixed": ["x", 1, None], "flag": [True, False, True]}))
    assert read.flat_labels is None
    assert read.flat_columns == {"mixed": ["x", "1", ""], "flag": ["True", "False", "True"]}


GOOD = {"tokens": ["a"], "labels": ["O"]}


@pytest.mark.parametrize(
    ("data", "line", "part"),
    [
        (lines(GOOD) + b'\n{"tokens": ["a"', 2, "not valid JSON"),
        (b"[" * 100_000, 1, "not valid JSON"),
        (b'{"tokens": ["a"], "x": [1' + b"0" * 5000 + b"]}", 1, "not valid JSON"),
        (lines([1, 2]), 1, "not a JSON object"),
        (lines({"words": ["a"]}), 1, 'no list "tokens"'),
        (lines({"tokens": "abc"}), 1, 'no list "tokens"'),
        (lines({"tokens": []}), 1, "empty"),
        (lines(GOOD, {"tokens": ["a", "b"], "labels": ["O"]}), 2, "'labels' has 1 values for 2 tokens"),
        (lines(GOOD, {"tokens": ["a"]}), 2, "'labels' is missing"),
        (lines({"tokens": ["a"]}, GOOD), 2, "'labels' is new"),
        (lines({"tokens": ["a", 1]}), 1, "not a string"),
        (lines({"tokens": ["a", ""]}), 1, "not a string or is empty"),
        (lines({"tokens": ["a"], "x": [[1]]}), 1, "lists inside"),
        (b'{"tokens": ["\\ud800"]}', 1, "surrogate"),
        (b"\n", None, "empty"),
    ],
)
def test_broken_jsonl(data, line, part):
    with pytest.raises(DataError) as caught:
        read_jsonl(data, name="x.jsonl")
    assert caught.value.line == line
    assert part in str(caught.value)


@pytest.mark.parametrize("value", [b"Infinity", b"-1e999", b"1" + b"0" * 400])
def test_infinite_numbers_in_jsonl(value):
    data = b'{"tokens": ["a", "b"], "x": [1, NaN]}\n\n{"tokens": ["a"], "x": [' + value + b"]}"
    with pytest.raises(DataError, match="'x' has an infinite number; give finite numbers or null") as caught:
        read_jsonl(data)
    assert caught.value.line == 3


def seconds(read, *arguments) -> float:
    begin = time.perf_counter()
    read(*arguments)
    return time.perf_counter() - begin


def test_a_cell_or_a_header_of_any_length_takes_time_in_proportion():
    """Each took seconds when it was quadratic."""
    assert seconds(as_column, ["1" * 20_000 + "x"]) < 0.5
    header = ",".join(["token", "label", *(f"c{number}" for number in range(MAX_COLUMNS - 3))])
    assert seconds(read_table, f"{header}\n{','.join('a' * (MAX_COLUMNS - 1))}\n".encode()) < 1.0
    doubled = f"{header},c7\n{','.join('a' * MAX_COLUMNS)}\n".encode()
    with pytest.raises(DataError, match="the header has 'c7' twice"):
        read_table(doubled)


def test_numbers_are_what_python_reads_as_finite_numbers():
    for cell in ("1", "+1.", "-.5", "1e5", "1.5E-3", "007"):
        assert as_column([cell])[0] == float(cell)
    for cell in ("1x", ".", "e5", "1e", "1_000", "inf", "1e999", "--1"):
        assert as_column([cell]) == [cell]
