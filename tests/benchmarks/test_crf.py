"""`labseq bench crf` as a user calls it, on a small bundled corpus: that all its parts are there, not how fast they are."""

import json
import math
import subprocess
import sys

import pytest

pytest.importorskip("pycrfsuite", reason="python-crfsuite is not installed; it comes with the test tools")

from benchmarks.crf import MEASURES, PEER, compare, show
from labseq_core.data.sequences import Sequences

SMALL = ("--dataset", "spanish-ner", "--sentences", "40")


@pytest.fixture(scope="module")
def done() -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "labseq_core.cli", "bench", "crf", *SMALL, "--json"]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture(scope="module")
def report(done) -> dict:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_each_program_has_all_measures_and_finite_ratios(report):
    ours = [name for name in report["programs"] if name.startswith("labseq")]
    assert ours[0] == "labseq 1 thread"
    for name in [PEER, *ours]:
        row = report["programs"][name]
        assert list(row) == list(MEASURES)
        assert [key for key, value in row.items() if value is None or not math.isfinite(value)] == []
    for name in ours:
        assert [key for key, value in report["ratios"][name].items() if not 0.0 < value < math.inf] == []
    assert 0.0 < report["start_seconds"]["import"] < report["start_seconds"]["all"] < math.inf


def test_the_programs_solve_the_same_problem(report):
    assert report["same_objective"]
    assert report["objectives_apart"] <= 1e-4  # relative
    assert report["tokens_labelled_differently"] == 0
    scores = {(row["accuracy"], row["span_f1"]) for row in report["programs"].values() if row["accuracy"] is not None}
    assert len(scores) == 1


def test_progress_is_told_while_it_runs(done):
    assert f"{PEER}: training" in done.stderr
    assert "labseq 1 thread: iteration 0, objective" in done.stderr


def test_the_table_shows_every_part(report, capsys):
    show(report)
    shown = capsys.readouterr().out
    missing = [what for what, _ in MEASURES.values() if what not in shown]
    assert missing == []
    for name in report["programs"]:
        assert name in shown
    assert f"x {report['ratios']['labseq 1 thread']['megabytes']:.3g}" in shown
    assert "fresh process" in shown
    assert "same objective: yes" in shown


def written(curve: list, predicted: list) -> dict:
    return {
        "curve": curve, "predicted": predicted, "set_up_seconds": 1.0, "megabytes_before": 10.0, "megabytes": 30.0,
        "tokens_per_second": {"raw": 100.0, "encoded": 1000.0},
    }  # fmt: skip


def test_different_objectives_are_said_loudly(report, capsys):
    test = Sequences.from_lists([["Ana", "duerme"]], [["B-PER", "O"]])
    theirs = written([(1.0, 200.0, 2), (2.0, 110.0, 4), (8.0, 100.0, 5)], [["B-PER", "O"]])
    ours = written([(0.5, 150.0, 2), (2.0, 101.0, 5)], [["O", "O"]])
    compared = compare({PEER: theirs, "labseq 1 thread": ours}, test)
    assert not compared["same_objective"]
    assert compared["objectives_apart"] == pytest.approx(0.01)
    assert compared["tokens_labelled_differently"] == 1
    reached, missed = compared["programs"][PEER], compared["programs"]["labseq 1 thread"]
    assert [reached[key] for key in ("seconds", "seconds_with_set_up", "iterations", "evaluations")] == [8.0, 9.0, 3, 5]
    assert [missed[key] for key in ("seconds", "seconds_with_set_up", "iterations", "evaluations")] == [None] * 4
    assert compared["ratios"]["labseq 1 thread"]["seconds"] is None
    assert compared["ratios"]["labseq 1 thread"]["seconds_per_evaluation"] == pytest.approx(0.5 / (7 / 3))
    show({**report, **compared})
    assert "THE OBJECTIVES DIFFER by 1 %" in capsys.readouterr().out
