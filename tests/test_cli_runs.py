"""Runs on the command line: list, show, resume, export, import, delete, reproduce."""

import csv
import io
import json
import math
import os
import signal
import subprocess
import sys
import time

import pytest

from labseq_core.cli import main
from labseq_core.evaluation.registry import METRICS
from labseq_core.experiments import MethodChoice, list_runs, result, status
from labseq_core.experiments.results.run_results import IMPORTED
from labseq_core.experiments.store.run_store import run_store
from tests.experiments.runs import PATIENCE, quick, trained_here
from tests.test_cli import error_of


@pytest.fixture(autouse=True)
def own_store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))


@pytest.fixture
def run_id() -> str:
    return trained_here(quick())


def printed(capsys, *words: str) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().out


def test_list_show_pin_delete(run_id, capsys):
    assert run_id in printed(capsys, "runs", "list")
    (listed,) = json.loads(printed(capsys, "runs", "list", "--json", "--dataset", "spanish-ner", "--method", "hmm"))
    assert listed["run_id"] == run_id
    assert listed["state"] == "done"
    assert "no runs" in printed(capsys, "runs", "list", "--pinned")
    printed(capsys, "runs", "pin", run_id)
    assert f"*{run_id}" in printed(capsys, "runs", "list", "--pinned")
    printed(capsys, "runs", "pin", run_id, "--off")
    assert "no runs" in printed(capsys, "runs", "list", "--pinned")
    shown = printed(capsys, "runs", "show", run_id)
    mean = result(run_id).summary()[0]["accuracy_mean"]
    assert f"{100 * mean:.2f} ±" in shown
    usual = [metric.heading for metric in METRICS.values() if metric.shown == "always"]
    places = [shown.splitlines()[0].index(heading) for heading in usual]
    assert places == sorted(places), "in the order of the pages"
    assert json.loads(printed(capsys, "runs", "show", run_id, "--json"))["rows"] == result(run_id).rows
    metrics = run_store().get(run_id)["metrics"]
    run_store().mark(run_id, metrics={**metrics, "rows": [{**row, "log_loss": math.inf} for row in metrics["rows"]]})
    told = printed(capsys, "runs", "show", run_id, "--json")
    assert "Infinity" not in told
    assert {row["log_loss"] for row in json.loads(told)["rows"]} == {None}
    printed(capsys, "runs", "delete", run_id)
    assert list_runs() == []


def test_export_and_import(run_id, capsys, tmp_path, monkeypatch):
    table = result(run_id).csv()
    assert printed(capsys, "runs", "export", run_id, "--csv") == table
    printed(capsys, "runs", "export", run_id, "--csv", "scores.csv")
    assert (tmp_path / "scores.csv").read_text() == table
    assert printed(capsys, "runs", "export", "--csv") == table, "all runs: here one"
    assert f"wrote labseq-{run_id}.zip" in printed(capsys, "runs", "export", run_id)
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "other.sqlite"))
    assert run_id in printed(capsys, "runs", "import", f"labseq-{run_id}.zip")
    rows = csv_rows(printed(capsys, "runs", "export", run_id, "--csv"))
    assert {row.pop("imported") for row in rows} == {IMPORTED}
    assert rows == csv_rows(table)
    assert printed(capsys, "runs", "list").rstrip().endswith(f"({IMPORTED})")
    assert json.loads(printed(capsys, "runs", "list", "--json"))[0]["imported"]
    assert printed(capsys, "runs", "show", run_id).splitlines()[-1] == f"run {run_id}, {IMPORTED}"
    assert json.loads(printed(capsys, "runs", "show", run_id, "--json"))["imported"]


def test_a_file_that_is_refused_is_told_in_one_line(capsys, tmp_path):
    (tmp_path / "run.zip").write_bytes(b"nonsense")
    assert "run.zip is not a run exported by LabSeq, or it is damaged; export it" in error_of(
        "runs import run.zip", capsys
    )


def test_the_metrics_of_a_comparison(run_id, capsys):
    words = ["compare", "--dataset", "spanish-ner", "--methods", "hmm,perceptron:epochs=2", "--folds", "2"]
    found = json.loads(printed(capsys, *words, "--json"))
    assert found["run_id"] == run_id, "answered from the store"
    assert [row["accuracy"] for row in found["rows"]] == [row["accuracy"] for row in result(run_id).rows]
    again = trained_here(quick(metrics=("log_loss", "ece", "model_bytes")))
    shown = printed(capsys, "runs", "show", again)
    assert "log_loss" in shown
    assert "ECE %" in shown
    assert "span F1" not in shown
    assert "-" in shown.splitlines()[2], "the perceptron has no log loss"


def test_a_killed_comparison_goes_on_where_it_was(capsys):
    slow = "crf:max_iter=80:tol=0"
    words = ["compare", "--dataset", "spanish-ner", "--methods", f"hmm,{slow},perceptron", "--folds", "4"]
    command = [sys.executable, "-m", "labseq_core.cli", *words]
    killed = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    give_up = time.monotonic() + PATIENCE
    while not list_runs() or sum(task.state == "done" for task in status(list_runs()[0].run_id).tasks) < 3:
        assert time.monotonic() < give_up
        time.sleep(0.05)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    (run,) = list_runs()
    assert run.state == "dead"
    assert "dead" in printed(capsys, "runs", "list")
    assert "what it had finished is kept" in printed(capsys, "runs", "show", run.run_id)
    kept = [task.state for task in status(run.run_id).tasks].count("done")
    assert kept >= 3
    done = subprocess.run([sys.executable, "-m", "labseq_core.cli", "runs", "resume"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{run.run_id}: {run.run_id} is finished\n"
    assert list_runs()[0].state == "done"
    assert "nothing to resume" in labseq("runs", "resume").stderr
    other = trained_here(quick(methods=(MethodChoice("hmm"), MethodChoice("crf", {"max_iter": 80, "tol": 0.0}),
                                        MethodChoice("perceptron")), folds=4))  # fmt: skip
    assert other == run.run_id
    assert csv_rows(result(other).csv()) == csv_rows(result(run.run_id).csv())


def labseq(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "labseq_core.cli", *words], capture_output=True, text=True)


def csv_rows(text: str) -> list[dict]:
    return list(csv.DictReader(io.StringIO(text)))


def test_experiments_of_the_documents_are_listed_and_stand_beside_what_is_quoted(capsys, monkeypatch):
    from labseq_core.experiments.documents import reproduction

    shown = printed(capsys, "reproduce")
    assert all(name in shown for name in reproduction.EXPERIMENTS)
    for experiment in reproduction.EXPERIMENTS.values():
        experiment.config()  # every option is known
    small = reproduction.Experiment(
        "Two methods", "Small.", "spanish-ner", quick().features, ((quick().methods[0], 70.0), (quick().methods[1], None)),
        "accuracy", "error %", folds=2,
    )  # fmt: skip
    monkeypatch.setitem(reproduction.EXPERIMENTS, "small", small)
    run_id = trained_here(small.config())
    first, second = json.loads(printed(capsys, "reproduce", "small", "--json"))
    assert first["quoted"] == 70.0
    assert second["quoted"] is None
    assert first["ours"] == pytest.approx(100 * (1 - result(run_id).summary()[0]["accuracy_mean"]))
    table = printed(capsys, "reproduce", "small").splitlines()
    assert table[-2].split()[-1] == "70.00"
    assert table[-1].split()[-1] == "-"


ERRORS = {
    "runs": "labseq runs",
    "runs show nobody": "there is no run 'nobody'",
    "runs delete nobody": "there is no run 'nobody'",
    "runs resume nobody": "there is no run 'nobody'",
    "runs cancel nobody": "there is no run 'nobody'",
    "runs export": "name the run to export",
    "runs export default:spanish-ner": "export a run of your own",
    "runs import missing.zip": "there is no file missing.zip",
    "runs list --state sleeping": "invalid choice",
    "reproduce nonsense": "there is no experiment 'nonsense'; choose from",
    "compare --dataset spanish-ner --methods hmm --metrics speed": "metrics has ['speed']; choose from accuracy",
    "compare --dataset spanish-ner --methods hmm --calibrate --folds 2": "folds must be 0",
    "compare --dataset spanish-ner --methods hmm --sequences -1": "sequences is -1",
    "compare --dataset spanish-ner --methods hmm --scheduler nonsense": "check --scheduler",
}


@pytest.mark.parametrize("command", ERRORS)
def test_every_error_is_one_line(capsys, command, monkeypatch):
    monkeypatch.setenv("LABSEQ_SCHEDULER", "")
    assert ERRORS[command] in error_of(command, capsys)
