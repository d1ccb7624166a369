"""CSV that we write: no text in it is a formula to a spreadsheet, every text comes back, and numbers stay numbers."""

from __future__ import annotations

import csv
import io
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labseq_core import CRF
from labseq_core.csv_text import csv_text, plain_cell, table_csv
from labseq_core.experiments.results.predictions import Predictions, predictions_csv
from labseq_core.explain import weights_csv
from tests.conftest import REPOSITORY

FORMULA = re.compile(r"[=+\-@\t\r].", re.DOTALL)
texts = st.one_of(st.text(st.sampled_from("'=+-@\t\r\n\",; a1"), max_size=6), st.text(max_size=6))


def read(text: str, delimiter: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))


@given(st.lists(texts, min_size=2, max_size=4, unique=True), st.data(), st.sampled_from(",;\t"))
def test_every_text_comes_back_and_none_is_a_formula(header, data, delimiter):
    rows = data.draw(st.lists(st.lists(texts, min_size=len(header), max_size=len(header)), max_size=4))
    written = read(csv_text(header, rows, delimiter), delimiter)
    assert not [cell for row in written for cell in row if FORMULA.match(cell)]
    assert [list(map(plain_cell, row)) for row in written] == [header, *rows]


@given(st.floats(), st.integers())
def test_numbers_stay_numbers(real, whole):
    for value in (real, whole, np.float64(real)):
        (row,) = read(csv_text([], [[value, ""]]))[1:]
        assert row[0] == str(value)
        assert float(row[0]) == float(value) or math.isnan(value)


@pytest.mark.parametrize(
    ("text", "cell"),
    [("=1+2", "'=1+2"), ("-5", "'-5"), ("+", "+"), ("@", "@"), ("-", "-"), ("'=", "''="), ("'a", "'a"), ("a=b", "a=b"),
     ("\tx", "'\tx"), ("--", "'--")],
)  # fmt: skip
def test_what_is_written_and_what_a_foreign_file_may_have(text, cell):
    assert csv_text([], [[text, 1]]).splitlines()[1] == f"{cell},1"
    assert plain_cell(cell) == text
    assert plain_cell("'=") == "'=", "too short to be a guarded formula: left as it is"


def test_a_carriage_return_begins_no_row():
    assert csv_text(["a"], [["x\r=1+2"]]) == 'a\n"x\r=1+2"\n'


def test_rows_by_name_have_all_names():
    assert table_csv([{"a": None, "b": True}, {"b": "=x", "=c": -0.5}]) == "a,b,'=c\n,True,\n,'=x,-0.5\n"
    assert table_csv([]) == ""


def test_labels_and_attributes_of_a_corpus_are_guarded_in_every_table():
    labels = [["=A", "-B"]] * 3
    model = CRF(max_iter=3).fit([[{"=x": 1.0}, {"+y": 2.0}]] * 3, labels)
    cells = [cell for row in read(weights_csv(model, run_id="r")) for cell in row]
    assert {"'=x", "'+y", "'=A", "'-B"} <= set(cells)
    said = Predictions.of(0, labels, labels, [np.array([-1.5, 2.5])] * 3, probability=False)
    cells = [cell for row in read(predictions_csv({"-m": said}, seed=-1)) for cell in row]
    assert {"'=A", "'-B", "'-m", "-1.5", "-1"} <= set(cells)


def test_one_place_writes_csv():
    writes = re.compile(r"csv\.(writer|DictWriter)|\.to_csv\(")
    sources = [
        path for folder in ("labseq_core", "pages", "benchmarks") for path in (REPOSITORY / folder).rglob("*.py")
    ]
    found = {path.relative_to(REPOSITORY).as_posix() for path in sources if writes.search(path.read_text("utf-8"))}
    assert found == {"labseq_core/csv_text.py"}
