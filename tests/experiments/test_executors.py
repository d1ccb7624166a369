"""What an executor does to the jobs of others: nothing. And what is told of a job whose worker does not come to its end."""

import os
import signal
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from labseq_core.checks import LabSeqError
from labseq_core.experiments import MethodChoice
from labseq_core.experiments.run import memory
from labseq_core.experiments.run.executors import Job, WorkerLost
from labseq_core.experiments.run.executors.local import LocalProcesses, _how_it_died
from labseq_core.experiments.store.versions import versions
from tests.experiments.runs import PATIENCE, quick


def test_only_the_job_that_is_cancelled_is_stopped():
    executor, stopped = LocalProcesses(), []
    executor._processes = [
        SimpleNamespace(job_id=job, stop_job=partial(stopped.append, job)) for job in ("a", "b", None)
    ]
    executor.cancel("a")
    assert stopped == ["a"]


@pytest.fixture
def local():
    executor = LocalProcesses()
    yield executor
    executor.close()


def job(task: int = 0, **changes) -> Job:
    config = quick(**{"folds": 0, "methods": (MethodChoice("hmm"),), **changes}).to_dict()
    return Job(f"job {task} {changes}", config, task, None, versions(config))


def problem_of(executor: LocalProcesses, given: Job) -> BaseException | None:
    return executor.submit(given, lambda event: None).exception(PATIENCE)


@pytest.mark.skipif(sys.platform != "linux", reason="this system cannot limit another process")
def test_what_goes_wrong_in_a_worker_is_told_as_it_is_and_the_worker_lives_on(local):
    """Nothing of it is called a lack of memory but that."""
    problem = problem_of(local, job(task=99))  # before any training
    assert isinstance(problem, LabSeqError)
    assert str(problem) == "internal error (IndexError); the server's log has the details"
    (process,) = local._processes
    gram = MethodChoice("gps", {"kernel": "rbf:1", "route": "gram", "memory": 8.0, "max_iter": 1})
    assert problem_of(local, job(methods=(gram,), sequences=20)) is None
    limit_memory(process._process.pid, GRAM_MEGABYTES // 2)
    problem = problem_of(local, job(methods=(gram,)))
    assert str(problem) == "there is too little memory for it; take fewer sequences, or a smaller kernel"
    assert problem_of(local, job(methods=(gram,), sequences=20)) is None
    assert local._processes == [process], "one process did all of it"


GRAM_MEGABYTES = 4472**2 * 8 >> 20  # of all tokens of the training set


def limit_memory(process_id: int, megabytes: int) -> None:
    """Refuse a process more than so much beyond what it has."""
    import resource  # not everywhere

    has = int(Path(f"/proc/{process_id}/statm").read_text().split()[0]) * resource.getpagesize()
    resource.prlimit(process_id, resource.RLIMIT_AS, (has + (megabytes << 20), resource.RLIM_INFINITY))


def test_how_a_worker_died_is_told(local, monkeypatch, tmp_path):
    future = local.submit(job(), lambda event: None)
    os.kill(local._processes[0]._process.pid, signal.SIGKILL)
    problem = future.exception(PATIENCE)
    assert isinstance(problem, WorkerLost)
    assert str(problem) in (
        "somebody killed it",
        "it was killed, as the system does when memory runs out; " + memory.FEWER,
    )
    assert "ended with exit code 1;" in _how_it_died(1, 0)
    assert "ended by signal 11 (Segmentation fault)" in _how_it_died(-signal.SIGSEGV, 0)
    monkeypatch.setattr(memory, "_EVENTS", tmp_path / "vmstat")
    assert _how_it_died(-signal.SIGKILL, None).startswith("it was killed, as the system does when memory runs out")
    memory._EVENTS.write_text("nr_free_pages 5\noom_kill 3\n")
    assert _how_it_died(-signal.SIGKILL, 3) == "somebody killed it"
    assert _how_it_died(-signal.SIGKILL, 2).startswith("the system killed it because memory ran out; take fewer")
