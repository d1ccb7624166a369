from __future__ import annotations

import gzip
import inspect
import io

import pytest

from labseq_core.checks import LabSeqError
from labseq_core.data.formats.conll import read_conll
from labseq_core.data.formats.registry import FORMATS, DataError, Format, choose_format, read_file, writer_of
from labseq_core.data.formats.source import read_bytes
from labseq_core.data.formats.writers import write_conll
from labseq_core.data.sequences import Sequences

CONLLU_LINE = b"1\ta\t_\tX\t_\t_\t0\t_\t_\t_\n"
CONTENTS = {
    "conll": b"a X\n",
    "conllu": b"# text = a\n" + CONLLU_LINE,
    "table": b"token,label\na,X\n",
    "jsonl": b'{"tokens": ["a"], "labels": ["X"]}\n',
}


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.conll", "conll"),
        ("a.TXT", "conll"),
        ("a.iob", "conll"),
        ("a.bio.gz", "conll"),
        ("esp.train", "conll"),
        ("noextension", "conll"),
        ("a.conllu", "conllu"),
        ("a.txt", "conllu"),
        ("a.conll", "conllu"),
        ("train", "conllu"),
        ("a.csv", "table"),
        ("a.csv.gz", "table"),
        ("a.jsonl", "jsonl"),
        ("a.json", "jsonl"),
        ("a.txt", "jsonl"),
    ],
)
def test_format_is_chosen_by_name_and_contents(tmp_path, name, format):
    data = CONTENTS[format]
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    assert choose_format(name, data) == format
    for source, given_name in [(path, None), (str(path), None), (path.read_bytes(), name), (path.open("rb"), None)]:
        read = read_file(source, name=given_name)
        assert (read.tokens, read.labels) == ([["a"]], [["X"]])
        if isinstance(source, io.BufferedReader):
            source.close()


def test_format_and_options_are_passed_on():
    read = read_file(b"a;X\nb;Y\n", format="table", name="x.csv", delimiter=";", token="a", label="X")
    assert read.labels == [["Y"]]
    assert read_file("ñ X".encode("latin-1"), encoding="latin-1", name="x.txt").flat_tokens == ["ñ"]


def test_unknown_format_and_option():
    with pytest.raises(LabSeqError, match="there is no file format 'xml'; choose from conll, conllu, table, jsonl"):
        read_file(b"a X\n", format="xml")
    with pytest.raises(LabSeqError, match="jsonl has no option 'label_column'; it has encoding"):
        read_file(b"{}", format="jsonl", label_column=1)


def test_errors_name_the_uploaded_file_without_its_path():
    for name in ("C:\\data\\my.conll", "/secret/my.conll"):
        with pytest.raises(DataError, match=r"^my\.conll, line 2: ") as caught:
            read_file(b"a X\nb\nc X\n", name=name)
        assert "secret" not in str(caught.value)


def test_bytes_without_a_name_are_called_data():
    with pytest.raises(DataError, match=r"^data: "):
        read_file(b"")


@pytest.mark.parametrize("format", FORMATS.values(), ids=lambda format: format.name)
def test_options_are_those_of_the_reader(format):
    """The table that forms and help texts are made from must not drift from the signatures."""
    parameters = inspect.signature(format.reader).parameters
    declared = {option.name: option.default for option in format.options}
    assert declared == {name: parameters[name].default for name in parameters if name not in ("source", "name")}
    assert all(option.help for option in format.options)


def test_a_format_from_outside_is_recognised_by_name_and_contents(monkeypatch):
    def reader(source, *, name=None):
        return read_file(read_bytes(source).removeprefix(b"#!\n"), format="conll", name=name)

    marked = Format("marked", "marked columns", (".mark",), reader, recognises=lambda lines: lines[0] == b"#!")
    monkeypatch.setitem(FORMATS._things, "marked", marked)
    for name in ("a.mark", "a.txt", "noextension"):
        assert choose_format(name, b"#!\na X\n") == "marked"
        assert read_file(b"#!\na X\n", name=name).labels == [["X"]]
    assert choose_format("a.csv", b"#!\na X\n") == "table"
    assert writer_of("a.other") is writer_of("a.conll") is write_conll
    for name in ("a.mark", "a.jsonl", "a.conllu", "a.JSON.gz"):
        with pytest.raises(LabSeqError, match=r"no file that ends in \.\w+ is written; choose \.conll, .*\.tsv, \.csv"):
            writer_of(name)


@pytest.mark.parametrize("name", ["x.tsv", "x.tsv.gz", "x.CSV.GZ", "x.conll.gz", "x.txt"])
def test_what_is_written_under_a_name_is_read_under_it(name, tmp_path):
    data = Sequences.from_lists([["a", "b"], ["c"]], [["X", "Y"], ["X"]])
    writer_of(name)(data, tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(b"\x1f\x8b") == name.lower().endswith(".gz")
    assert read_file(tmp_path / name).labels == data.labels
    writer_of(name)(data, tmp_path / f"again.{name}")
    assert (tmp_path / f"again.{name}").read_bytes() == (tmp_path / name).read_bytes()


def test_lines_that_end_in_cr_only_are_told():
    with pytest.raises(DataError, match="the lines end in CR only; save the file with LF or CR LF"):
        read_file(b"a X\rb Y\r\rc Z\r", name="a.conll")


def test_comments_of_conllu_need_no_blank():
    line = b"1\tthe\tthe\tDET\t_\t_\t_\t_\t_\t_\n"
    assert choose_format("a.txt", b"#sent_id=1\n" + line) == "conllu"


def test_a_format_without_options_says_so(monkeypatch):
    monkeypatch.setitem(FORMATS._things, "bare", Format("bare", "without options", (".bare",), read_conll))
    with pytest.raises(LabSeqError, match="the format bare has no option 'encoding'; it has none"):
        read_file(b"a X\n", format="bare", encoding="utf-8")
