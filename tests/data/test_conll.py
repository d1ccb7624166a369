from __future__ import annotations

import gzip
import io
import math
import pickle
import time

import numpy as np
import pytest

from labseq_core.checks import LabSeqError
from labseq_core.data.formats.registry import DataError, read_conll, read_conllu

THREE = b"Ana NP B-PER\nduerme V O\n\nLima NP B-LOC\n"


def error_of(call, *arguments, **options) -> DataError:
    with pytest.raises(DataError) as caught:
        call(*arguments, **options)
    return caught.value


def test_columns_labels_and_offsets(tmp_path):
    path = tmp_path / "small.conll"
    path.write_bytes(THREE)
    for source in (path, str(path), THREE, io.BytesIO(THREE)):
        read = read_conll(source)
        assert read.tokens == [["Ana", "duerme"], ["Lima"]]
        assert read.labels == [["B-PER", "O"], ["B-LOC"]]
        assert read.columns == {"column2": [["NP", "V"], ["NP"]]}


def test_any_column_can_be_token_or_label():
    read = read_conll(THREE, token_column=-1, label_column=1, columns=["word"])
    assert read.tokens == [["B-PER", "O"], ["B-LOC"]]
    assert read.labels == [["NP", "V"], ["NP"]]
    assert read.columns == {"word": [["Ana", "duerme"], ["Lima"]]}


def test_text_without_labels():
    read = read_conll(b"Ana\nduerme\n", label_column=None)
    assert read.tokens == [["Ana", "duerme"]]
    assert read.flat_labels is None


@pytest.mark.parametrize(
    "data",
    [
        b"a O\r\nb O\r\n\r\nc O\r\n",
        b"\n\n\na O\nb O\n\n\n\nc O\n\n",
        b"a O\nb O\n \t \nc O",
        b"\xef\xbb\xbfa O\nb O\n\nc O\n",
        b"-DOCSTART- -X-\n\na O\nb O\n-DOCSTART-\nc O\n",
        b"a\tO\nb  \t O \n\nc O\r",
        gzip.compress(b"a O\nb O\n\nc O\n", mtime=0),
    ],
    ids=["windows", "many blanks", "blanks with spaces", "mark", "documents", "mixed separators", "gzip"],
)
def test_harmless_oddities_read_right(data):
    read = read_conll(data)
    assert read.tokens == [["a", "b"], ["c"]]
    assert read.labels == [["O", "O"], ["O"]]


@pytest.mark.parametrize("separator", ["\u0085", "\u2028", "\u2029", "\u00a0", "\x0b", "\x0c", "\x1c", "\x1e"])
def test_unicode_separators_stay_inside_tokens(separator):
    token = f"x{separator}y"
    assert read_conll(f"{token} O\nz O\n".encode()).flat_tokens == [token, "z"]


def test_tab_keeps_spaces_and_empty_cells():
    read = read_conll(b"New York\t1.5\tB\n\t\t\nz\t\tO\n", separator="\t", columns=["weight"])
    assert read.tokens == [["New York"], ["z"]]
    assert read.flat_columns["weight"][0] == 1.5
    assert math.isnan(read.flat_columns["weight"][1])


def test_numeric_columns_become_floats():
    read = read_conll(b"a 1 x 0x1 1_0 1e999 O\nb NA 2 2 2 2 O\nc -2.5e1 3 3 3 3 O\n")
    np.testing.assert_array_equal(read.flat_columns["column2"], [1.0, np.nan, -25.0])
    assert read.flat_columns["column2"].dtype == np.float64
    for name in ("column3", "column4", "column5", "column6"):
        assert isinstance(read.flat_columns[name], list), name


def test_latin_1_on_request():
    data = "año O\n".encode("latin-1")
    assert read_conll(data, encoding="latin-1").flat_tokens == ["año"]
    error = error_of(read_conll, b"ok O\n" + data, name="es.conll")
    assert (error.file, error.line) == ("es.conll", 2)
    assert "latin-1" in error.fix
    assert "0xf1" in error.cause


def test_ragged_columns():
    error = error_of(read_conll, b"a X O\nb X O\n\nc O\nd X O\n", name="corpus.conll")
    message = "corpus.conll, line 4: 2 columns where 3 were expected; give every token line the same number of columns"
    assert str(error) == message
    assert (error.line, error.cause) == (4, "2 columns where 3 were expected")


@pytest.mark.parametrize(
    ("data", "options", "line", "part"),
    [
        (b"", {}, None, "empty"),
        (b"\n \n\t\r\n", {}, None, "empty"),
        (b"\xef\xbb\xbf", {}, None, "empty"),
        (b"-DOCSTART- O\n", {}, None, "no tokens"),
        (b"a O\nb\0 O\n", {}, 2, "NUL"),
        ("a O\n".encode("utf-16"), {}, 1, "UTF-16"),
        ("水火".encode("utf-16"), {}, 1, "UTF-16"),
        (b"\xef\xbb\xbfa O\n", {"encoding": "latin-1"}, 1, "UTF-8"),
        (b"\n\nword\n", {}, 3, "no label column"),
        (b"a O\n", {"label_column": 2}, 1, "label_column 2"),
        (b"a O\n", {"token_column": -3}, 1, "token_column -3"),
        (b"a O\n", {"label_column": 0}, 1, "one column"),
        (b"a\tO\n\tO\n", {"separator": "\t"}, 2, "token is empty"),
        (b"a\tO\nb\t\n", {"separator": "\t"}, 2, "label is empty"),
        (gzip.compress(b"a O\n" * 99, mtime=0)[:-9], {}, None, "damaged"),
    ],
)
def test_broken_files_say_where_and_what(data, options, line, part):
    error = error_of(read_conll, data, name="some/where/x.conll", **options)
    assert error.file == "x.conll"
    assert error.line == line
    assert part in str(error)
    assert "\n" not in str(error)
    assert error.fix


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"columns": ["a", "b"]}, "2 names"),
        ({"columns": "ab"}, "list of names"),
        ({"separator": ";"}, "separator"),
        ({"encoding": "utf-16"}, "utf-8 or latin-1"),
        ({"encoding": "nonsense"}, "utf-8 or latin-1"),
        ({"label_column": "last"}, "label_column"),
    ],
)
def test_bad_options_are_named(options, part):
    with pytest.raises(LabSeqError, match=part):
        read_conll(THREE, **options)


def test_missing_file_and_directory_show_no_path(tmp_path):
    for source, part in [(tmp_path / "gone.conll", "no such file"), (tmp_path, "directory"), ("a\0b", "not valid")]:
        error = error_of(read_conll, source)
        assert part in str(error)
        assert str(tmp_path) not in str(error)
        assert error.line is None


def test_text_file_object_is_refused():
    with pytest.raises(LabSeqError, match="binary mode"):
        read_conll(io.StringIO("a O\n"))


def test_errors_cross_process_borders():
    error = DataError("x.conll", 3, "cause", "fix")
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.file, copy.line, copy.cause, copy.fix) == (str(error), "x.conll", 3, "cause", "fix")


def test_one_token_sentences_and_a_very_long_one():
    read = read_conll(b"a O\n\nb O\n\n" + b"c X\n" * 100_000)
    assert read.lengths.tolist() == [1, 1, 100_000]


def test_a_quarter_of_a_million_tokens_in_a_second():
    data = b"".join(
        b"word%d NN%d B-X\n" % (number % 30_000, number % 40) + b"\n" * (number % 30 == 0) for number in range(264_715)
    )
    begin = time.process_time()
    read = read_conll(data)
    assert time.process_time() - begin < 1.0
    assert read.n_tokens == 264_715


CONLLU = """# sent_id = 1
# text = vámonos al mar
1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tvamos\tir\tVERB\tV\t_\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\tP\t_\t1\tobj\t_\t_
2.1\tvamos\tir\tVERB\tV\t_\t_\t_\t_\t_
3\t#mar\tmar\tNOUN\tN\t_\t1\tobl\t_\t_

# sent_id = 2

1\t_\t_\tPUNCT\tF\t_\t0\troot\t_\t_
"""


def test_conllu_keeps_words_only():
    read = read_conllu(CONLLU.encode())
    assert read.tokens == [["vamos", "nos", "#mar"], ["_"]]
    assert read.labels == [["VERB", "PRON", "NOUN"], ["PUNCT"]]
    assert read.columns == {}


def test_conllu_other_fields():
    read = read_conllu(CONLLU.encode(), label="xpos", columns=["lemma", "xpos"])
    assert read.flat_labels == ["V", "P", "N", "F"]
    assert read.flat_columns == {"lemma": ["ir", "nosotros", "mar", "_"], "xpos": ["V", "P", "N", "F"]}
    assert read_conllu(CONLLU.encode(), label=None).flat_labels is None


@pytest.mark.parametrize(
    ("data", "line", "part"),
    [
        (b"1\ta\tb\n", 1, "3 columns where 10"),
        (b"# c\nx\ta\t_\tX\t_\t_\t_\t_\t_\t_\n", 2, "not a number"),
        (b"1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n", 1, "no upos"),
        (b"1\t\t_\tX\t_\t_\t_\t_\t_\t_\n", 1, "token is empty"),
        (b"# only a comment\n", None, "no tokens"),
    ],
)
def test_broken_conllu(data, line, part):
    error = error_of(read_conllu, data, name="x.conllu")
    assert error.line == line
    assert part in str(error)


@pytest.mark.parametrize("options", [{"label": "pos"}, {"columns": ["id"]}, {"columns": "lemma"}])
def test_unknown_conllu_fields(options):
    with pytest.raises(LabSeqError, match=r"upos|list"):
        read_conllu(CONLLU.encode(), **options)
