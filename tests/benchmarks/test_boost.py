"""`labseq bench boost` as a user calls it, on a small bundled corpus: that its numbers belong together."""

import io
import json
import math
from contextlib import redirect_stdout

import pytest

from benchmarks import boost
from benchmarks.boost import BOUNDS, rounds_until, show


@pytest.fixture(scope="module")
def report() -> dict:
    words = ["--dataset", "spanish-ner", "--sentences", "60", "--rounds", "30", "--json"]
    printed = io.StringIO()
    with redirect_stdout(printed):
        boost.main(words)
    return json.loads(printed.getvalue())


def test_cost_of_rounds(report):
    for bound in BOUNDS:
        row = report["bounds"][bound]
        assert row["rounds"] == len(row["log_losses"]) == 30
        assert row["log_losses"] == sorted(row["log_losses"], reverse=True)
        assert math.isclose(row["ratio"], row["seconds"] / row["reference_seconds"])
        assert 0.0 < row["share_looked_at"] <= 1.0
        assert (row["evaluations"] > 0.0) == (bound == "exact")
    # One pass for the update of each round; an exact step needs more.
    tight = report["bounds"]["tight"]
    assert math.isclose(tight["reference_seconds"], 30 * tight["share_touched"] * tight["full_pass_seconds"])
    assert report["rounds_to_the_last_loss_of_loose"]["loose"] == 30


def test_rounds_until():
    assert rounds_until([3.0, 2.0, 1.0], 2.0) == 2
    assert rounds_until([3.0, 2.0], 1.0) is None


def test_the_table(report, capsys):
    show(report)
    text = capsys.readouterr().out
    assert f"{report['bounds']['tight']['ratio']:.2f}" in text
    assert f"different features in the first 100 rounds: loose {report['distinct']['loose']}" in text
