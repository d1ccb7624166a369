"""Runs in real processes, with a real store: progress, cancel, death, memory of what was done."""

import csv
import io
import os
import signal
import subprocess
import sys
import time

import pytest

from labseq_core._checks import LabSeqError
from labseq_core.evaluation import evaluate
from labseq_core.experiments import (
    ExperimentConfig,
    FeatureChoice,
    MethodChoice,
    cancel,
    list_runs,
    model,
    result,
    status,
    submit,
)
from labseq_core.experiments.runner import run_task, tasks_of
from labseq_core.experiments.store import STALE_AFTER, RunStore

PATIENCE = 120.0  # seconds; a machine that is busy with other tests may need long to start a process


@pytest.fixture(autouse=True)
def own_store(tmp_path, monkeypatch):
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))


def quick(**changes) -> ExperimentConfig:
    methods = (MethodChoice("hmm"), MethodChoice("perceptron", {"epochs": 2}))
    return ExperimentConfig(**{"dataset": "spanish-ner", "methods": methods, "folds": 2, **changes})


def endless() -> ExperimentConfig:
    return quick(methods=(MethodChoice("crf", {"max_iter": 100_000, "tol": 0.0, "l2": 1e-6}),), folds=0)


def wait(run_id: str, until) -> list:
    seen, end = [], time.monotonic() + PATIENCE
    while time.monotonic() < end:
        seen.append(status(run_id))
        if until(seen[-1]):
            return seen
        time.sleep(0.02)
    raise AssertionError(f"gave up waiting; last seen: {seen[-1]}")


def finished(now) -> bool:
    return not now.active


def test_a_run_from_submission_to_table():
    config = quick()
    run_id = submit(config)
    seen = wait(run_id, finished)
    assert seen[-1].state == "done", seen[-1].error
    assert seen[0].state in ("queued", "running")
    fractions = [now.fraction for now in seen]
    assert fractions == sorted(fractions)
    assert [(task.label, task.fold) for task in seen[-1].tasks] == [(t.label, t.fold) for t in tasks_of(config)]
    assert all(task.state == "done" and task.curve for task in seen[-1].tasks)

    found = result(run_id)
    assert found.config == config
    direct = [run_task(config, task, lambda progress: True) for task in tasks_of(config)]
    assert [row["accuracy"] for row in found.rows] == [one.row["accuracy"] for one in direct]
    first = [one for one in direct if one.row["label"] == "HMM"]
    pooled = evaluate([s for one in first for s in one.truth], [s for one in first for s in one.predicted])
    assert found.confusion["HMM"]["counts"] == pooled.confusion.counts.tolist()
    assert found.examples[0]["predictions"]["HMM"] == first[0].predicted[0]
    kept = model(run_id, "Averaged perceptron (epochs=2)")
    direct_model = next(one.learner for one in direct if one.row["method"] == "perceptron")
    assert kept.predict(direct[1].tokens) == direct[1].predicted == direct_model.predict(direct[1].tokens)
    with pytest.raises(LabSeqError, match="has no model 'CRF'"):
        model(run_id, "CRF")
    values = [row["span_f1"] for row in found.rows if row["label"] == "HMM"]
    summary = found.summary()[0]
    assert summary["span_f1_mean"] == pytest.approx(sum(values) / 2, rel=1e-12)
    assert summary["span_f1_se"] == pytest.approx(abs(values[0] - values[1]) / 2, rel=1e-12)

    table = list(csv.DictReader(io.StringIO(found.csv())))
    assert [float(row["accuracy"]) for row in table] == [row["accuracy"] for row in found.rows]
    assert {row["run_id"] for row in table} == {run_id}
    assert {row["config_hash"] for row in table} == {config.hash}
    assert [(run.run_id, run.state, run.labels) for run in list_runs()] == [
        (run_id, "done", ("HMM", "Averaged perceptron (epochs=2)"))
    ]

    assert submit(quick()) == run_id, "the same question is answered from the store"
    assert submit(quick(seed=1)) != run_id


def test_cancel_stops_a_running_and_a_waiting_run():
    running, waiting = submit(endless()), submit(quick(seed=7))
    wait(running, lambda now: now.state == "running" and now.tasks and now.tasks[0].iteration > 3)
    if os.cpu_count() == 2:  # one worker: the second run stands in the queue
        assert status(waiting).queue_position == 1
    cancel(waiting)
    cancel(running)
    assert wait(running, finished)[-1].state == "cancelled"
    assert wait(waiting, finished)[-1].state == "cancelled"
    with pytest.raises(LabSeqError, match="is cancelled; it has no result"):
        result(running)
    after = submit(quick())
    assert wait(after, finished)[-1].state == "done", "the queue goes on after a cancel"
    cancel(after)
    assert status(after).state == "done"


def test_cancel_at_any_moment_of_the_start():
    """Queued, being started, compiling, training: a cancel is never lost."""
    for delay in (0.0, 0.002, 0.01, 0.05, 0.3):
        run_id = submit(endless())
        time.sleep(delay)
        cancel(run_id)
        assert wait(run_id, finished)[-1].state == "cancelled", delay


def test_an_error_in_the_data_is_told_and_a_killed_worker_is_noticed():
    wrong = submit(quick(features=FeatureChoice("custom", columns=("nonsense",))))
    now = wait(wrong, finished)[-1]
    assert now.state == "failed"
    assert "no column 'nonsense'" in now.error

    run_id = submit(endless())
    wait(run_id, lambda now: now.state == "running" and now.tasks and now.tasks[0].iteration > 3)
    listing = subprocess.run(["ps", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    own = [line.split() for line in listing.splitlines() if "labseq_core.experiments.worker" in line]
    pids = [int(words[0]) for words in own if int(words[1]) == os.getpid()]
    assert len(pids) == 1
    os.kill(pids[0], signal.SIGKILL)
    now = wait(run_id, finished)[-1]
    assert now.state == "failed"
    assert "ended unexpectedly" in now.error


def test_a_run_whose_server_was_killed_is_dead_and_leaves_no_worker(tmp_path):
    """kill -9 of the process that owns a run: others see it as dead within seconds, and its worker ends."""
    script = (
        "import time\n"
        "from labseq_core.experiments import *\n"
        "c = ExperimentConfig('spanish-ner', (MethodChoice('crf', {'max_iter': 100000, 'tol': 0.0, 'l2': 1e-6}),))\n"
        "print(submit(c), flush=True)\n"
        "time.sleep(600)\n"
    )
    owner = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    run_id = owner.stdout.readline().strip()
    wait(run_id, lambda now: now.state == "running" and now.tasks and now.tasks[0].iteration > 3)
    children = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(owner.pid)], capture_output=True, text=True
    ).stdout.split()
    assert len(children) == 1
    owner.kill()
    owner.wait()
    owner.stdout.close()
    began = time.monotonic()
    seen = wait(run_id, finished)
    assert seen[-1].state == "dead"
    assert time.monotonic() - began < STALE_AFTER + 5
    end = time.monotonic() + 20
    while os.path.exists(f"/proc/{children[0]}") and time.monotonic() < end:
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{children[0]}")
    again = submit(quick())
    assert wait(again, finished)[-1].state == "done"


def test_unknown_runs_and_unusable_stores_are_named(tmp_path, monkeypatch):
    for ask in (status, result, cancel):
        with pytest.raises(LabSeqError, match="there is no run 'nobody'"):
            ask("nobody")
    with pytest.raises(LabSeqError, match="there is no default result 'nobody'"):
        result("default:nobody")
    (tmp_path / "broken.sqlite").write_bytes(b"this is not a data base" * 100)
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "broken.sqlite"))
    with pytest.raises(LabSeqError, match=r"broken\.sqlite cannot be opened"):
        RunStore()
    assert (tmp_path / "broken.sqlite").read_bytes().startswith(b"this is not")
