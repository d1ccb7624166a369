"""`labseq bench gpsc` as a user calls it, on a small bundled corpus: that its numbers belong together."""

import io
import json
from contextlib import redirect_stdout

import pytest

from benchmarks import gpsc
from benchmarks.gpsc import FRACTION, GAP, show

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def report() -> dict:
    words = [
        "--dataset",
        "spanish-ner",
        "--sentences",
        "60",
        "--l2",
        "1",
        "3",
        "--crf-l2",
        "0.3",
        "--longest",
        "60",
        "--json",
    ]
    printed = io.StringIO()
    with redirect_stdout(printed):
        gpsc.main(words)
    return json.loads(printed.getvalue())


def test_dense_fits_close_the_gap_and_agree(report):
    dense, tuning = report["dense"], report["tuning"]
    assert 0.0 <= dense["relative_gap"] <= GAP
    assert dense["stored_as"] == "float32"
    assert dense["times_bare"] > 0.0
    assert tuning["l2"] == min(tuning["grid"], key=lambda row: row["dev_error"])["l2"] == dense["l2"]
    assert abs(dense["held_out_error"] - tuning["held_out_error"]) < 1.0


def test_sparse_is_as_sparse_as_it_says(report):
    sparse = report["sparse"]
    assert sparse["fraction"] == pytest.approx(FRACTION, abs=0.01)
    assert sparse["support"] < sparse["observations"]
    errors = sparse["errors"]
    assert errors["sparse, gram"] == errors["sparse, explicit"]  # routes agree
    assert errors["dense, gram"] == pytest.approx(errors["dense, explicit"], abs=0.5)
    assert sparse["objective"] > sparse["dense_objective"]


def test_the_choice_is_made_on_the_development_part(report):
    rows, chosen = report["large"]["rows"], report["large"]["chosen"]
    assert {row["method"] for row in rows} == {"crf", "gps"}
    assert chosen["gps"]["dev_error"] == min(row["dev_error"] for row in rows if row["method"] == "gps")


def test_the_table(report, capsys):
    show(report)
    text = capsys.readouterr().out
    assert f"{report['dense']['products']} products" in text
    assert f"{report['large']['chosen']['gps']['test_error']:.2f} % on test" in text
