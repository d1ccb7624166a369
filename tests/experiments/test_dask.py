"""Runs on a real Dask cluster: a scheduler and two workers in processes of their own, on loopback."""

import os
import signal
import subprocess
import sys
import time

import pytest

from labseq_core.checks import LabSeqError
from labseq_core.data.uploads import store_upload
from labseq_core.experiments import MethodChoice, cancel, predictions, result, status, submit
from labseq_core.experiments.service import SCHEDULER_VARIABLE, close_engines
from tests.experiments.runs import at_work, endless, finished, quick, wait

pytest.importorskip("distributed", reason="the package distributed is not installed: pip install labseq[dask]")


class Cluster:
    """Started by the commands that an operator would use, with no dashboard and no supervisor that restarts workers."""

    def __init__(self, folder):
        self.environment = {**os.environ, "LABSEQ_STORE": str(folder / "worker" / "runs.sqlite")}
        self.environment.pop(SCHEDULER_VARIABLE, None)
        self.address_file = folder / "scheduler.json"
        options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show"]
        self.processes = [self._start("scheduler", *options, "--scheduler-file", str(self.address_file))]
        while not self.address_file.exists():
            time.sleep(0.05)
        from distributed import Client

        with Client(scheduler_file=str(self.address_file), set_as_default=False) as client:
            self.address = client.scheduler.address
        self.workers: list[subprocess.Popen] = []

    def _start(self, what: str, *options: str) -> subprocess.Popen:
        words = [sys.executable, "-m", "distributed.cli.dask_" + what, *options]
        return subprocess.Popen(words, env=self.environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def add_worker(self) -> None:
        options = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1")
        worker = self._start("worker", self.address, *options)
        self.workers.append(worker)
        self.processes.append(worker)

    def close(self) -> None:
        for process in reversed(self.processes):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    made = Cluster(tmp_path_factory.mktemp("dask"))
    yield made
    made.close()


@pytest.fixture(autouse=True)
def own_store(tmp_path, monkeypatch):
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))
    yield
    close_engines()


def on_dask(config, cluster, monkeypatch, folder) -> str:
    monkeypatch.setenv("LABSEQ_STORE", str(folder / "dask" / "runs.sqlite"))
    monkeypatch.setenv(SCHEDULER_VARIABLE, cluster.address)
    return submit(config)


def test_a_run_waits_for_workers_and_a_killed_one_is_made_up_for(cluster, monkeypatch, tmp_path):
    """The same numbers bit for bit as on this machine, although one of two workers is killed while it trains."""
    slow = MethodChoice("crf", {"max_iter": 150, "tol": 0.0, "l2": 1e-3})
    config = quick(methods=(MethodChoice("hmm"), slow, MethodChoice("hmsvm", {"max_iter": 3})), folds=3)
    local = submit(config)
    wait(local, finished)
    here = result(local).csv()
    run_id = on_dask(config, cluster, monkeypatch, tmp_path)
    assert run_id == local, "an id does not depend on where a run is trained"
    waiting = wait(run_id, lambda now: "waiting for workers" in now.message)[-1]
    assert waiting.state == "queued"
    for _ in range(2):
        cluster.add_worker()
    seen = wait(run_id, lambda now: sum(task.state == "running" for task in now.tasks) == 2 and at_work(now))
    os.kill(cluster.workers[0].pid, signal.SIGKILL)
    seen = wait(run_id, finished)
    assert seen[-1].state == "done", seen[-1].error
    assert result(run_id).csv() == here
    assert predictions(run_id, slow.label).probability
    assert all(task.curve for task in seen[-1].tasks if task.label == slow.label)


def test_cancel_reaches_a_worker_elsewhere(cluster, monkeypatch, tmp_path):
    run_id = on_dask(endless(), cluster, monkeypatch, tmp_path)
    wait(run_id, at_work)
    cancel(run_id)
    began = time.monotonic()
    assert wait(run_id, finished)[-1].state == "cancelled"
    assert time.monotonic() - began < 10.0
    after = submit(quick())
    assert wait(after, finished)[-1].state == "done"


def test_an_uploaded_file_travels_with_the_job(cluster, monkeypatch, tmp_path):
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "dask" / "runs.sqlite"))
    text = "Ana B-PER\nvive O\nen O\nLima B-LOC\n\nLima B-LOC\nduerme O\n\n" * 10
    name = store_upload(text.encode(), "mine.conll")
    run_id = on_dask(quick(dataset=name), cluster, monkeypatch, tmp_path)
    now = wait(run_id, finished)[-1]
    assert now.state == "done", now.error
    assert result(run_id).rows[0]["accuracy"] > 0.5


def test_errors_on_a_worker_are_told_not_tried_again(cluster, monkeypatch, tmp_path):
    hard = MethodChoice("gps", {"kernel": "rbf:1", "route": "gram", "memory": 0.001})
    run_id = on_dask(quick(methods=(hard,), folds=0), cluster, monkeypatch, tmp_path)
    now = wait(run_id, finished)[-1]
    assert now.state == "failed"
    assert "memory" in now.error


def test_an_address_without_a_scheduler_is_named(monkeypatch):
    monkeypatch.setenv(SCHEDULER_VARIABLE, "tcp://127.0.0.1:1")
    monkeypatch.setattr("labseq_core.experiments.run.executors.dask_cluster.CONNECT_SECONDS", 1)
    with pytest.raises(LabSeqError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1 .* check --scheduler"):
        submit(quick())


def test_status_needs_no_cluster(cluster, monkeypatch, tmp_path):
    run_id = on_dask(quick(), cluster, monkeypatch, tmp_path)
    wait(run_id, finished)
    monkeypatch.delenv(SCHEDULER_VARIABLE)
    assert status(run_id).state == "done"
