"""What an executor does to the jobs of others: nothing."""

from functools import partial
from types import SimpleNamespace

from labseq_core.experiments.run.executors.local import LocalProcesses


def test_only_the_job_that_is_cancelled_is_stopped():
    executor, stopped = LocalProcesses(), []
    executor._processes = [
        SimpleNamespace(job_id=job, stop_job=partial(stopped.append, job)) for job in ("a", "b", None)
    ]
    executor.cancel("a")
    assert stopped == ["a"]
