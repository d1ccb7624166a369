"""Kill what trains, kill what owns the run, take the store away: nothing that was finished is lost, and all goes on."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path

import pytest

from labseq_core.experiments import (
    ExperimentConfig,
    MethodChoice,
    cancel,
    list_runs,
    notices,
    result,
    resume,
    status,
    submit,
)
from labseq_core.experiments import service as service_module
from labseq_core.experiments.run.executors.local import LocalProcesses
from labseq_core.experiments.run.retries import ATTEMPTS, RESUMED_AT_MOST
from labseq_core.experiments.service import close_engines
from labseq_core.experiments.store.damage import set_aside_stores
from labseq_core.experiments.store.run_store import RunStore, run_store
from tests.experiments.runs import PATIENCE, at_work, endless, finished, outcomes_here, quick, wait, worker_ids

OWNER = """
import json, sys, time
from labseq_core.experiments import ExperimentConfig, status, submit
run_id = submit(ExperimentConfig.from_dict(json.loads(sys.argv[1])))
print(run_id, flush=True)
while status(run_id).active:
    time.sleep(0.05)
print(status(run_id).state, flush=True)
"""


@pytest.fixture(autouse=True)
def own_store(tmp_path, monkeypatch):
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))
    yield
    close_engines()


def several_tasks(folds: int = 3) -> ExperimentConfig:
    """Tasks that take a moment each, so that something is always under way."""
    methods = (MethodChoice("hmm"), MethodChoice("crf", {"max_iter": 60, "tol": 0.0}), MethodChoice("perceptron"))
    return quick(methods=methods, folds=folds)


def start_owner(config: ExperimentConfig) -> tuple[subprocess.Popen, str]:
    """A process of its own that submits a run and stays with it."""
    words = [sys.executable, "-c", OWNER, json.dumps(config.to_dict())]
    owner = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    return owner, owner.stdout.readline().strip()


def end(process: subprocess.Popen) -> None:
    process.kill()
    process.wait()
    process.stdout.close()


def finished_tasks(run_id: str) -> set[int]:
    return {task["number"] for task in RunStore().tasks(run_id, outcomes=True) if task["outcome"] is not None}


def undisturbed_csv(config: ExperimentConfig, run_id: str) -> str:
    """What the run would say if nothing had happened: its tasks one after another in this process."""
    return _undisturbed_csv(json.dumps(config.to_dict()), run_id)


@cache
def _undisturbed_csv(config: str, run_id: str) -> str:
    from labseq_core.experiments.results.collecting import collect
    from labseq_core.experiments.results.run_results import RunResult

    made = ExperimentConfig.from_dict(json.loads(config))
    return RunResult.of(run_id, made, {}, 0.0, collect(made, outcomes_here(made), {})).csv()


def kill_again_and_again(config: ExperimentConfig, kills: int, seed: int) -> tuple[str, int]:
    """Kill a worker or the owner at random moments, and go on each time; gives the id and how often the owner was killed."""
    chance, owners_killed, known = random.Random(seed), 0, set()
    owner, run_id = start_owner(config)
    workers_killed = 0  # of this owner: it gives a task up that has cost it three
    for _ in range(kills):
        time.sleep(chance.uniform(0.0, 2.5))
        assert known <= finished_tasks(run_id), "a finished task was lost"
        known = finished_tasks(run_id)
        workers = worker_ids(owner.pid)
        if workers and workers_killed < ATTEMPTS - 1 and chance.random() < 0.4:
            os.kill(workers[0], signal.SIGKILL)
            workers_killed += 1
            continue
        end(owner)
        owners_killed, workers_killed = owners_killed + 1, 0
        assert status(run_id).state in ("dead", "done"), "a dead run must not look alive"
        give_up = time.monotonic() + PATIENCE
        while any(os.path.exists(f"/proc/{worker}") for worker in workers):
            assert time.monotonic() < give_up, "a worker outlived its owner"
            time.sleep(0.02)
        owner, again = start_owner(config)
        assert again == run_id
    wait(run_id, finished)
    owner.wait()
    owner.stdout.close()
    assert known <= finished_tasks(run_id)
    return run_id, owners_killed


@pytest.mark.parametrize("kills", [5, pytest.param(100, marks=pytest.mark.slow)])
def test_kills_at_random_moments_lose_nothing(kills):
    """Interrupted and resumed is the same as undisturbed, to the last digit."""
    config, killed, round_number = several_tasks(folds=5), 0, 0
    while killed < kills:  # a run is over after some kills: the next has another seed
        now = ExperimentConfig.from_dict({**config.to_dict(), "seed": round_number})
        few = min(5, kills - killed)
        run_id, _ = kill_again_and_again(now, few, round_number)
        assert status(run_id).state == "done", status(run_id).error
        assert result(run_id).csv() == undisturbed_csv(now, run_id)
        killed, round_number = killed + few, round_number + 1


def test_a_worker_that_dies_is_replaced_and_one_that_always_dies_is_told():
    killed: set[int] = set()
    run_id = submit(endless())
    for time_over in (False, False, True):
        wait(run_id, lambda now: at_work(now) or finished(now))
        living = set(worker_ids(os.getpid())) - killed  # the one that trains, and one that may wait for its first task
        assert living
        for worker in living:
            os.kill(worker, signal.SIGKILL)
        killed.update(living)
        if not time_over:
            wait(run_id, lambda now: bool(set(worker_ids(os.getpid())) - killed))
    now = wait(run_id, finished)[-1]
    assert now.state == "failed"
    assert "ended unexpectedly 3 times" in now.error
    after = submit(quick())
    assert wait(after, finished)[-1].state == "done"


def test_a_process_that_cannot_be_started_is_tried_again_and_then_told(monkeypatch):
    tried = []

    def refuse(self, job, listener):
        tried.append(job.id)
        raise OSError("no more processes")

    monkeypatch.setattr(LocalProcesses, "submit", refuse)
    run_id = submit(quick(methods=(MethodChoice("hmm"),), folds=0))
    wait(run_id, finished)
    assert status(run_id).state == "failed"
    assert f"ended unexpectedly {ATTEMPTS} times" in status(run_id).error
    assert len(tried) == ATTEMPTS


def test_another_process_cancels_a_run():
    owner, run_id = start_owner(endless())
    wait(run_id, at_work)
    cancel(run_id)
    began = time.monotonic()
    assert wait(run_id, finished)[-1].state == "cancelled"
    assert time.monotonic() - began < 10.0
    owner.wait()
    owner.stdout.close()


def test_two_processes_that_ask_the_same_share_one_run():
    config = several_tasks()
    owner, run_id = start_owner(config)
    wait(run_id, lambda now: now.state == "running")
    assert submit(config) == run_id
    assert service_module._engine()._runs == {}, "this process has nothing to do with it"
    assert wait(run_id, finished)[-1].state == "done"
    owner.wait()
    owner.stdout.close()


def test_who_lives_takes_over_the_runs_of_a_process_that_dies_but_not_for_ever(monkeypatch):
    monkeypatch.setattr(service_module, "TAKE_OVER_EVERY", 0.1)
    over = threading.Event()
    survivor = threading.Thread(target=service_module.take_over, args=(over,))
    owner, run_id = start_owner(endless())
    survivor.start()
    wait(run_id, lambda now: now.state == "running")
    assert not service_module.at_work_here(run_id)
    end(owner)
    wait(run_id, lambda now: now.state == "running")
    assert service_module.at_work_here(run_id)
    over.set()
    survivor.join()
    close_engines()
    for attempt in range(2, RESUMED_AT_MOST + 1):
        assert status(run_id).state == "dead"
        assert RunStore().get(run_id)["attempts"] == attempt
        assert status(run_id).left_alone == ""
        owner, _ = start_owner(endless())
        wait(run_id, lambda now: now.state == "running")
        end(owner)
    assert service_module.resume_interrupted() == []
    often = f"it was started {RESUMED_AT_MOST + 1} times, so no server resumes it any more"
    assert often in status(run_id).message
    assert list_runs()[0].left_alone == often
    assert resume(run_id) == run_id, "asked for, it goes on"
    wait(run_id, at_work)
    cancel(run_id)
    wait(run_id, finished)


def test_a_store_that_is_removed_or_damaged_while_a_run_is_at_work(tmp_path):
    path = tmp_path / "runs.sqlite"
    config = several_tasks()
    run_id = submit(config)
    wait(run_id, lambda now: any(task.state == "done" for task in now.tasks))
    for part in tmp_path.glob("runs.sqlite*"):
        if part.is_file():
            part.unlink()
    give_up = time.monotonic() + PATIENCE
    while RunStore().get(run_id) is None:
        assert time.monotonic() < give_up
        time.sleep(0.02)
    wait(run_id, lambda now: sum(task.state == "done" for task in now.tasks) > 3)
    path.write_bytes(b"nonsense" * 1000)
    while not set_aside_stores(path) or RunStore().get(run_id) is None:
        assert time.monotonic() < give_up
        time.sleep(0.02)
    assert wait(run_id, finished)[-1].state == "done"
    assert result(run_id).csv() == undisturbed_csv(config, run_id)
    assert any("set aside as runs.sqlite.damaged-" in notice for notice in notices())


def connect_anew(path: Path) -> None:
    """Every thread does, when the file is not as it was."""
    later = path.stat().st_mtime_ns + 1_000_000
    os.utime(path, ns=(later, later))


def test_a_full_disk_delays_a_run_and_loses_nothing(monkeypatch):
    config = several_tasks()
    run_id = submit(config)
    wait(run_id, lambda now: now.state == "running")
    connect, full = sqlite3.connect, [True]

    def limited(*arguments, **options):
        made = connect(*arguments, **options)
        if full[0]:
            made.execute("PRAGMA max_page_count=1")
        return made

    monkeypatch.setattr(sqlite3, "connect", limited)
    connect_anew(run_store().path)
    give_up = time.monotonic() + PATIENCE
    while not any("disk is full" in notice for notice in notices()):
        assert time.monotonic() < give_up
        time.sleep(0.05)
    assert status(run_id).state == "running"
    time.sleep(3.0)  # tasks go on to finish meanwhile
    full[0] = False
    connect_anew(run_store().path)
    assert wait(run_id, finished)[-1].state == "done"
    assert result(run_id).csv() == undisturbed_csv(config, run_id)
    assert notices() == []
