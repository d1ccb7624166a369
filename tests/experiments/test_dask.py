"""Runs on a real Dask cluster: a scheduler and two workers in processes of their own, on loopback."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from labseq_core.checks import LabSeqError
from labseq_core.data.uploads import store_upload
from labseq_core.experiments import MethodChoice, cancel, predictions, result, resume, status, submit
from labseq_core.experiments.service import SCHEDULER_VARIABLE, close_engines
from tests.experiments.runs import PATIENCE, at_work, endless, finished, quick, wait

pytest.importorskip("distributed", reason="the package distributed is not installed: pip install labseq[dask]")


class Cluster:
    """Started by the commands that an operator would use, with no dashboard and no supervisor that restarts workers."""

    def __init__(self, folder, tls: tuple[str, ...] = ()):
        self.tls = tls  # options that name certificates
        self.environment = {**os.environ, "LABSEQ_STORE": str(folder / "worker" / "runs.sqlite")}
        self.environment.pop(SCHEDULER_VARIABLE, None)
        self.address_file = folder / "scheduler.json"
        host = "tls://127.0.0.1" if tls else "127.0.0.1"
        options = ["--host", host, "--port", "0", "--no-dashboard", "--no-show"]
        self.processes = [self._start("scheduler", *options, "--scheduler-file", str(self.address_file))]
        self.address = ""
        while not self.address:
            time.sleep(0.05)
            with contextlib.suppress(OSError, ValueError):  # not written yet, or not to the end
                self.address = json.loads(self.address_file.read_text())["address"]
        self.workers: list[subprocess.Popen] = []

    def _start(self, what: str, *options: str) -> subprocess.Popen:
        words = [sys.executable, "-m", "distributed.cli.dask_" + what, *options, *self.tls]
        return subprocess.Popen(words, env=self.environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def add_worker(self) -> None:
        host = self.address.rpartition(":")[0] if self.tls else "127.0.0.1"
        options = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", host)
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


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["gone", "silent"])
def test_a_scheduler_that_is_away_ends_a_run_which_can_be_resumed(monkeypatch, tmp_path, how):
    monkeypatch.setattr("labseq_core.experiments.run.executors.dask_cluster.CONNECT_SECONDS", 3)
    config = quick(methods=(MethodChoice("hmm"), *endless().methods), folds=0)
    first, second = Cluster(new_folder(tmp_path / "first")), Cluster(new_folder(tmp_path / "second"))
    try:
        first.add_worker()
        second.add_worker()
        run_id = on_dask(config, first, monkeypatch, tmp_path)
        wait(run_id, at_work)
        os.kill(first.processes[0].pid, how)
        began = time.monotonic()
        now = wait(run_id, finished)[-1]
        assert time.monotonic() - began < 15.0
        assert now.state == "failed"
        assert now.resumable
        assert f"the Dask scheduler at {first.address} has not answered for 3 s; start it again" in now.error
        assert [task.state for task in now.tasks] == ["done", "queued"]
        began = time.monotonic()
        with pytest.raises(LabSeqError, match=r"no Dask scheduler answers at .*; check --scheduler"):
            resume(run_id)
        assert time.monotonic() - began < 15.0
        monkeypatch.setenv(SCHEDULER_VARIABLE, second.address)
        assert resume(run_id) == run_id
        now = wait(run_id, at_work)[-1]
        assert [task.state for task in now.tasks] == ["done", "running"]
        cancel(run_id)
        assert wait(run_id, finished)[-1].state == "cancelled"
    finally:
        first.close()
        second.close()


def test_an_address_that_asks_for_certificates_needs_them(monkeypatch, tmp_path):
    monkeypatch.setenv(SCHEDULER_VARIABLE, "tls://127.0.0.1:1")
    with pytest.raises(LabSeqError, match="asks for certificates; set DASK_DISTRIBUTED__COMM__TLS__CA_FILE, DASK_"):
        submit(quick())
    dask = pytest.importorskip("dask")
    names = {
        f"distributed.comm.tls.{name}": str(tmp_path / "none") for name in ("ca-file", "client.cert", "client.key")
    }
    with dask.config.set(names), pytest.raises(LabSeqError, match=r"cannot be read \(.*No such file.*\); check DASK_"):
        submit(quick())


def certificates(folder) -> dict[str, str]:
    """Files of a new authority, and of a certificate that it has signed, by the names of Dask."""

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, capture_output=True, check=True)

    new_key = ("req", "-newkey", "rsa:2048", "-nodes")
    openssl(*new_key, "-x509", "-days", "2", "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem")
    openssl(*new_key, "-subj", "/CN=labseq", "-keyout", "own.key", "-out", "own.csr")
    openssl("x509", "-req", "-in", "own.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-out", "own.pem")  # fmt: skip
    return {"ca-file": str(folder / "ca.pem"), "cert": str(folder / "own.pem"), "key": str(folder / "own.key")}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl to make certificates with")
def test_a_comparison_over_tls_with_certificates(tmp_path):
    files = certificates(tmp_path)
    cluster = Cluster(tmp_path, tuple(word for name, file in files.items() for word in (f"--tls-{name}", file)))
    words = ["compare", "--dataset", "toy-pos", "--methods", "hmm", "--json", "--scheduler", cluster.address]
    names = {"CA_FILE": files["ca-file"], "CLIENT__CERT": files["cert"], "CLIENT__KEY": files["key"]}
    told = {f"DASK_DISTRIBUTED__COMM__TLS__{name}": file for name, file in names.items()}
    try:
        assert cluster.address.startswith("tls://")
        cluster.add_worker()
        for environment, code in ((told, 0), ({}, 2)):
            done = subprocess.run(
                [sys.executable, "-m", "labseq_core.cli", *words], env={**os.environ, **environment},
                capture_output=True, text=True, timeout=PATIENCE,
            )  # fmt: skip
            assert done.returncode == code, done.stderr
            assert "Traceback" not in done.stderr
        strangers = certificates(new_folder(tmp_path / "stranger"))
        told["DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT"] = strangers["cert"]
        told["DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY"] = strangers["key"]
        done = subprocess.run(
            [sys.executable, "-m", "labseq_core.cli", *words, "--seed", "1"], env={**os.environ, **told},
            capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
        assert done.returncode == 2
        assert "no Dask scheduler answers" in done.stderr
    finally:
        cluster.close()


def new_folder(path):
    path.mkdir()
    return path


def test_status_needs_no_cluster(cluster, monkeypatch, tmp_path):
    run_id = on_dask(quick(), cluster, monkeypatch, tmp_path)
    wait(run_id, finished)
    monkeypatch.delenv(SCHEDULER_VARIABLE)
    assert status(run_id).state == "done"
