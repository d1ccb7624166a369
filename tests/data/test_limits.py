"""What is too much is refused with what, where and what to do, in every format; what is just enough is read."""

from __future__ import annotations

import json

import pytest

from labseq_core.data import limits
from labseq_core.data.formats import lines
from labseq_core.data.formats.registry import DataError, read_file
from labseq_core.data.uploads import read_upload

FILES = {
    "conll": lambda rows: "\n".join(" ".join(row) for row in rows),
    "table": lambda rows: "\n".join(
        ",".join(row) for row in [["token", *(f"c{place}" for place in range(len(rows[0]) - 2)), "label"], *rows]
    ),
    "jsonl": lambda rows: "\n".join(
        json.dumps({"tokens": [row[0]], "labels": [row[-1]]} | {f"c{place}": [cell] for place, cell in enumerate(row[1:-1])})
        for row in rows
    ),
}  # fmt: skip


def refused(format: str, rows: list[list[str]], **options) -> DataError:
    with pytest.raises(DataError) as caught:
        read_file(FILES[format](rows).encode(), format=format, name="x", **options)
    return caught.value


@pytest.mark.parametrize("format", FILES)
def test_columns(format, monkeypatch):
    monkeypatch.setattr("labseq_core.data.formats.cells.MAX_COLUMNS", 5)
    read_file(FILES[format]([["a"] * 5]).encode(), format=format)
    problem = refused(format, [["a"] * 6])
    assert (problem.line, problem.cause, problem.fix) == (1, "6 columns, more than 5", "leave columns out")


@pytest.mark.parametrize("format", FILES)
def test_labels(format, monkeypatch):
    monkeypatch.setattr("labseq_core.data.formats.cells.MAX_LABELS", 3)
    header = format == "table"
    rows = [["a", label] for label in ("A", "B", "A", "C")]
    read_file(FILES[format](rows).encode(), format=format)
    problem = refused(format, [*rows, ["a", "B"], ["a", "D"], ["a", "E"]])
    assert problem.line == 6 + header
    assert problem.cause == "5 distinct labels in the file, number 4 of them here"
    assert problem.fix == "choose a label column with at most 3, or None for no labels"


@pytest.mark.parametrize("format", FILES)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_cells(format, place):
    rows = [["a", "b", "c"] for _ in range(3)]
    rows[1][place] = "w" * limits.MAX_CELL_CHARACTERS
    read_file(FILES[format](rows).encode(), format=format)
    rows[1][place] += "w"
    problem = refused(format, rows)
    assert problem.line == 2 + (format == "table")
    assert problem.cause == "a cell has 100,001 characters, more than 100,000"


@pytest.mark.parametrize("before", [0, 1, 5000, 40_000])
def test_lines(before):
    """Wherever in a block the line begins."""
    longest = 2 * lines._BLOCK
    short = "a O\n" * before
    for characters in (longest, longest + 1):
        text = f"{short}{'a ' * ((characters - 1) // 2)}".ljust(len(short) + characters, "a")
        found = lines.blocks("x", f"{text}\na O\n", longest)
        if characters == longest:
            assert "\n".join(block for _, block in found).rstrip("\n") == f"{text}\na O"
            continue
        with pytest.raises(DataError, match=f"the line has {characters:,} characters, more than {longest:,}") as caught:
            list(found)
        assert caught.value.line == before + 1


def test_blocks_are_the_lines_of_the_text_with_their_numbers(monkeypatch):
    monkeypatch.setattr(lines, "_BLOCK", 7)
    for text in ("a", "a\n", "\n\n", "abcdefg\nh", "a\nbb\nccc\n\n\ndddddddddddd\ne\n" * 5):
        numbered = {
            number + place: line
            for number, block in lines.blocks("x", text)
            for place, line in enumerate(block.split("\n"))
        }
        expected = dict(enumerate(text.split("\n"), start=1))
        assert numbered == {number: line for number, line in expected.items() if line or number in numbered}
        assert list(numbered) == list(range(1, len(numbered) + 1))


@pytest.mark.parametrize(
    ("name", "contents"),
    [("a.conll", "x%d O\n\n"), ("a.conllu", "1\tx%d\t_\tO\t_\t_\t_\t_\t_\t_\n\n"), ("a.csv", "x%d,1.5,O\n,,\n"),
     ("a.jsonl", '{"tokens": ["x%d", "y"], "labels": ["O", "P"], "n": [1, 2.5]}\n')],
)  # fmt: skip
@pytest.mark.parametrize("block", [1, 50, 1 << 20])
def test_blocks_change_nothing(name, contents, block, monkeypatch):
    header = "token,n,label\n" if name == "a.csv" else ""
    text = header + "".join(contents % number for number in range(30))
    expected = read_file(text.encode(), name=name)
    monkeypatch.setattr(lines, "_BLOCK", block)
    shares: list[float] = []
    with lines.hearing(shares.append):
        found = read_file(text.encode(), name=name)
    assert found.tokens == expected.tokens
    assert found.labels == expected.labels
    assert repr(found.columns) == repr(expected.columns)
    assert shares == sorted(shares)
    assert 0.0 <= shares[0] <= shares[-1] < 1.0
    assert len(shares) >= (30 if block == 1 else 1)


def test_tokens_of_an_upload(monkeypatch):
    monkeypatch.setattr("labseq_core.data.uploads.MAX_UPLOAD_TOKENS", 4)
    read_upload(b"a O\n\nb O\n\nc O\nd O\n", "a.conll")
    with pytest.raises(DataError, match=r"^a\.conll: 5 tokens, more than 4; split it into smaller files$"):
        read_upload(b"a O\n\nb O\n\nc O\nd O\ne O\n", "a.conll")


@pytest.mark.parametrize("odd", ["\\n", "\\r", "\\u0000"])
@pytest.mark.parametrize("place", ["tokens", "labels", "pos"])
def test_json_has_no_characters_that_end_lines(odd, place):
    record = {"tokens": ["a"], "labels": ["O"], "pos": ["N"]} | {place: ["x%"]}
    data = json.dumps(record).replace("%", odd).encode()
    with pytest.raises(DataError, match=f"line 1: '{place}' has the character .*; write a blank in its place"):
        read_file(data, format="jsonl", name="x")
