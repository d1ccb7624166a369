"""Kill what trains, kill what owns the run, take the store away: nothing that was finished is lost, and all goes on."""

import csv
import io
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from functools import cache

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
from labseq_core.experiments.run.retries import ATTEMPTS, RESUMED_AT_MOST, TAKE_OVER_EVERY
from labseq_core.experiments.service import close_engines
from labseq_core.experiments.store.damage import set_aside_stores
from labseq_core.experiments.store.run_ids import run_id_of
from labseq_core.experiments.store.run_store import RunStore
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


def start_command(config: ExperimentConfig) -> tuple[subprocess.Popen, str]:
    """The same as somebody would on the command line: whether it has submitted anything yet is not known."""
    words = [sys.executable, "-m", "labseq_core.cli", "compare", "--json", write_config(config)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True), run_id_of(config)


def write_config(config: ExperimentConfig) -> str:
    path = RunStore().path.with_name(f"{config.hash}.yaml")
    path.write_text(config.to_yaml())
    return str(path)


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


def kill_again_and_again(config: ExperimentConfig, kills: int, seed: int, start=start_owner) -> str:
    """Kill a worker or the owner at random moments, and go on each time; gives the id of the run, which is then over."""
    chance, known = random.Random(seed), set()
    owner, run_id = start(config)
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
        workers_killed = 0
        left = RunStore().get(run_id)
        assert left is None or left["state"] in ("dead", "done"), "a dead run must not look alive"
        give_up = time.monotonic() + PATIENCE
        while any(os.path.exists(f"/proc/{worker}") for worker in workers):
            assert time.monotonic() < give_up, "a worker outlived its owner"
            time.sleep(0.02)
        owner, again = start(config)
        assert again == run_id
    owner.communicate(timeout=PATIENCE)
    assert known <= finished_tasks(run_id)
    return run_id


@pytest.mark.parametrize(
    ("kills", "start"),
    [
        (5, start_owner),
        pytest.param(50, start_owner, marks=pytest.mark.slow),
        pytest.param(30, start_command, marks=pytest.mark.slow),
    ],
)
def test_kills_at_random_moments_lose_nothing(kills, start):
    """Interrupted and resumed is the same as undisturbed, to the last digit."""
    config, killed, round_number = several_tasks(folds=5), 0, 0
    while killed < kills:  # a run is over after some kills: the next has another seed
        now = ExperimentConfig.from_dict({**config.to_dict(), "seed": round_number})
        few = min(5, kills - killed)
        run_id = kill_again_and_again(now, few, round_number, start)
        assert status(run_id).state == "done", status(run_id).error
        assert result(run_id).csv() == undisturbed_csv(now, run_id)
        killed, round_number = killed + few, round_number + 1


@pytest.mark.slow
def test_servers_on_one_store_that_are_killed_in_turn_lose_nothing():
    """Two at a time: one dies with the run, the other takes over; after some deaths only a person resumes it. 20 kills."""
    long = MethodChoice("crf", {"max_iter": 3000, "tol": 0.0})
    config, chance = quick(methods=(MethodChoice("hmm"), long, MethodChoice("perceptron")), folds=3), random.Random(0)
    servers = [start_server(), start_server()]
    try:
        for seed in range(5):
            now = ExperimentConfig.from_dict({**config.to_dict(), "seed": seed})
            owner, run_id = start_owner(now)
            known: set[int] = set()
            for _ in range(RESUMED_AT_MOST + 1):
                wait(run_id, lambda seen: seen.state == "running")
                time.sleep(chance.uniform(0.0, 2.0))
                assert known <= finished_tasks(run_id), "a finished task was lost"
                known = finished_tasks(run_id)
                token = RunStore().get(run_id)["owner"]
                assert all(server.poll() is None for server in servers)
                dying = next(each for each in [owner, *servers] if worker_ids(each.pid))
                end(dying)
                left = RunStore().get(run_id)
                assert left["state"] == "dead" or left["owner"] != token, "a dead run must not look alive"
                if dying in servers:
                    servers[servers.index(dying)] = start_server()
            assert RunStore().get(run_id)["attempts"] == RESUMED_AT_MOST + 1
            time.sleep(1.5 * TAKE_OVER_EVERY)
            assert status(run_id).left_alone, "no server touches it again"
            words = [sys.executable, "-m", "labseq_core.cli", "runs", "resume", run_id]
            assert subprocess.run(words, capture_output=True, text=True, check=True).stdout.endswith("is finished\n")
            assert known <= finished_tasks(run_id)
            assert result(run_id).csv() == undisturbed_csv(now, run_id)
    finally:
        for server in servers:
            end(server)


def start_server() -> subprocess.Popen:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [sys.executable, "-m", "labseq_core.cli", "app", "--no-browser", "--port", str(port)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


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


@pytest.mark.skipif(sys.platform != "linux", reason="this system cannot limit another process")
def test_a_comparison_on_the_command_line_outlives_a_full_disk_and_a_lost_and_a_damaged_store(tmp_path):
    config, path = several_tasks(folds=4), tmp_path / "runs.sqlite"
    command = [sys.executable, "-m", "labseq_core.cli", "compare", str(tmp_path / "config.yaml"), "--json"]
    (tmp_path / "config.yaml").write_text(config.to_yaml())
    full_disk = ["sh", "-c", 'ulimit -S -f 1; exec "$@"', "sh"]  # no file may become larger than a block
    compare = subprocess.Popen([*full_disk, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    told, run_id = Lines(compare.stderr), run_id_of(config)
    told.wait_for("waiting until it can begin: the run store runs.sqlite cannot be used")
    allow_files(compare.pid, True)
    until(lambda: finished_tasks(run_id))
    allow_files(compare.pid, False)
    told.wait_for("waiting, and goes on by itself: the run store runs.sqlite cannot be used")
    with stopped(worker_ids(compare.pid)):  # so that the run does not end before all of this has happened
        allow_files(compare.pid, True)
        until(lambda: RunStore().get(run_id)["state"] == "running")
        for part in tmp_path.glob("runs.sqlite*"):
            shutil.rmtree(part) if part.is_dir() else part.unlink()
        until(lambda: RunStore().get(run_id) is not None)
        path.write_bytes(b"nonsense" * 1000)
        until(lambda: set_aside_stores(path) and RunStore().get(run_id) is not None)
        assert any("set aside as runs.sqlite.damaged-" in notice for notice in notices())
        assert status(run_id).active
    rows = {(row["label"], row["fold"]): row["accuracy"] for row in json.load(compare.stdout)["rows"]}
    assert compare.wait() == 0, told.lines
    compare.stdout.close()
    there = csv.DictReader(io.StringIO(undisturbed_csv(config, run_id)))
    assert rows == {(row["label"], int(row["fold"])): float(row["accuracy"]) for row in there}


@contextmanager
def stopped(processes: list[int]):
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)


class Lines:
    """What a process says, line by line, read by a thread."""

    def __init__(self, stream):
        self.lines: list[str] = []
        threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream) -> None:
        with stream:
            self.lines.extend(stream)

    def wait_for(self, text: str) -> None:
        until(lambda: any(text in line for line in self.lines))


def until(condition) -> None:
    give_up = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < give_up
        time.sleep(0.02)


def allow_files(process_id: int, allow: bool) -> None:
    """Whether a process may write beyond the first bytes of a file."""
    import resource  # not everywhere

    limit = resource.RLIM_INFINITY if allow else 1000
    resource.prlimit(process_id, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
