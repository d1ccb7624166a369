"""A Dask cluster, through its executor interface. The run store stays here, so workers need no shared disk."""

from __future__ import annotations

import secrets
import threading
import time
from concurrent.futures import CancelledError, Future
from functools import partial

from labseq_core.checks import LabSeqError
from labseq_core.experiments.run.executors.base import PATIENCE, Job, Listener, WorkerLost
from labseq_core.experiments.run.executors.perform import perform
from labseq_core.experiments.run.one_task import Cancelled, TaskOutcome

CONNECT_SECONDS = 10
_ASK_EVERY = 0.5  # seconds between two questions of a worker whether to stop


class DaskCluster:
    """The workers of a scheduler; each thread of a worker performs one job at a time."""

    remote = True

    def __init__(self, address: str):
        try:
            from distributed import Client
        except ImportError:
            raise LabSeqError("a Dask cluster needs the package distributed; install labseq[dask]") from None
        try:
            self._client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as problem:
            reason = str(problem).splitlines()[0]
            raise LabSeqError(f"no Dask scheduler answers at {address} ({reason}); check --scheduler") from None
        self.name = f"Dask cluster at {address}"
        self._executor = self._client.get_executor(pure=False)
        self._lock = threading.Lock()
        self._topic = f"labseq-{secrets.token_hex(4)}"
        self._listeners: dict[str, Listener] = {}
        self._jobs: dict = {}  # id -> (what tells the job to stop, its future)
        self._client.subscribe_topic(self._topic, self._hear)
        self.tick()

    def capacity(self) -> int:
        return self._capacity

    def submit(self, job: Job, listener: Listener) -> Future:
        from distributed import Event

        with self._lock:
            self._listeners[job.id] = listener
        stop = Event(f"{self._topic}-{job.id}", client=self._client)
        inner = self._executor.submit(_perform_there, job.to_dict(), self._topic)
        with self._lock:
            self._jobs[job.id] = stop, inner
        outer: Future = Future()
        outer.set_running_or_notify_cancel()
        inner.add_done_callback(partial(self._end, job.id, outer))
        return outer

    def cancel(self, job_id: str) -> None:
        """Ask its worker to stop; one that waits for a worker, or does not listen, is dropped."""
        with self._lock:
            stop, inner = self._jobs.get(job_id, (None, None))
        if stop is None:
            return
        stop.set()
        force = threading.Timer(PATIENCE, inner.cancel)
        force.daemon = True
        force.start()

    def tick(self) -> None:
        """Look how many workers there are; none, if the scheduler does not answer."""
        try:
            workers = self._client.scheduler_info(n_workers=-1)["workers"]
        except (OSError, KeyError, RuntimeError):
            workers = {}
        self._capacity = sum(worker["nthreads"] for worker in workers.values())

    def close(self) -> None:
        self._client.close()

    def _hear(self, event: tuple) -> None:
        _, message = event
        with self._lock:
            listener = self._listeners.get(message["job"])
        if listener is not None:
            listener(message["event"])

    def _end(self, job_id: str, outer: Future, inner: Future) -> None:
        with self._lock:
            self._listeners.pop(job_id, None)
            self._jobs.pop(job_id, None)
        try:
            kind, value = inner.result()
        except (CancelledError, Exception):  # killed workers, a scheduler that has gone
            outer.set_exception(WorkerLost())
            return
        if kind == "done":
            outer.set_result(TaskOutcome(*value))
        else:
            outer.set_exception(Cancelled() if kind == "cancelled" else LabSeqError(value))


def _perform_there(job: dict, topic: str) -> tuple:
    """On a worker. What goes wrong is told, not raised: an exception of ours would be tried again."""
    from distributed import Event, get_worker

    worker, asked, answer = get_worker(), 0.0, False
    stop = Event(f"{topic}-{job['id']}")

    def say(event: dict) -> None:
        worker.log_event(topic, {"job": job["id"], "event": event})

    def stopped() -> bool:
        nonlocal asked, answer
        if time.monotonic() - asked >= _ASK_EVERY:
            asked, answer = time.monotonic(), stop.is_set()
        return answer

    try:
        outcome = perform(job, say, stopped)
    except Cancelled:
        return "cancelled", None
    except LabSeqError as problem:
        return "failed", str(problem)
    return "done", (outcome.facts, outcome.blobs)
