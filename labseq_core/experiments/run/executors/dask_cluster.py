"""A Dask cluster, through its executor interface. The run store stays here, so workers need no shared disk."""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from concurrent.futures import CancelledError, Future
from functools import partial
from typing import TYPE_CHECKING

from labseq_core.checks import LabSeqError, require
from labseq_core.experiments.run.executors.base import PATIENCE, Job, Listener, WorkerLost
from labseq_core.experiments.run.executors.perform import perform
from labseq_core.experiments.run.one_task import Cancelled, TaskOutcome

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS = 10  # without an answer of the scheduler, after which it is given up
# How Dask is told of them, in the environment; its configuration files can name them too.
_CERTIFICATES = ", ".join(f"DASK_DISTRIBUTED__COMM__TLS__{name}" for name in ("CA_FILE", "CLIENT__CERT", "CLIENT__KEY"))
_LOOK_EVERY, _CLOSE_WITHIN = 1.0, 5.0  # seconds
_ASK_EVERY = 0.5  # seconds between two questions of a worker whether to stop


class DaskCluster:
    """The workers of a scheduler; each thread of a worker performs one job at a time."""

    remote = True

    def __init__(self, address: str):
        self._client = _connected(address)
        self.name, self._address = f"Dask cluster at {address}", address
        self._patience = CONNECT_SECONDS
        self._executor = self._client.get_executor(pure=False)
        self._lock = threading.Lock()
        self._topic = f"labseq-{secrets.token_hex(4)}"
        self._listeners: dict[str, Listener] = {}
        self._jobs: dict = {}  # id -> (what tells the job to stop, its future)
        self._client.subscribe_topic(self._topic, self._hear)
        self._capacity, self._answered = 0, time.monotonic()
        self._over = threading.Event()
        self._look()
        threading.Thread(target=self._watch, name="labseq-dask", daemon=True).start()

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
        force = threading.Timer(PATIENCE, inner.cancel)
        for asked in (threading.Thread(target=stop.set), force):  # both wait for a scheduler that does not answer
            asked.daemon = True
            asked.start()

    def trouble(self) -> str | None:
        if time.monotonic() - self._answered <= self._patience:
            return None
        return (
            f"the Dask scheduler at {self._address} has not answered for {self._patience} s; start it again, and resume the "
            "run: what it had finished is kept"
        )

    def tick(self) -> None:
        """A thread of its own looks after the scheduler: to ask one that does not answer takes for ever."""

    def _watch(self) -> None:
        while not self._over.wait(_LOOK_EVERY):
            self._look()

    def _look(self) -> None:
        """How many workers there are; none, if the scheduler does not answer."""
        try:
            workers = self._client.scheduler_info(n_workers=-1)["workers"]
        except (OSError, KeyError, RuntimeError, AttributeError):
            workers = {}
        if self._client.status == "running":
            self._answered = time.monotonic()
        self._capacity = sum(worker["nthreads"] for worker in workers.values())

    def close(self) -> None:
        self._over.set()
        with contextlib.suppress(TimeoutError):  # of a scheduler that does not answer
            self._client.close(timeout=_CLOSE_WITHIN)

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
        except (CancelledError, Exception) as problem:  # killed workers, a scheduler that has gone
            outer.set_exception(WorkerLost(f"the cluster lost it ({type(problem).__name__})"))
            return
        if kind == "done":
            outer.set_result(TaskOutcome(*value))
        else:
            outer.set_exception(Cancelled() if kind == "cancelled" else LabSeqError(value))


def _connected(address: str) -> Client:
    """The scheduler's client. It waits for ever for one that takes a connection and says nothing: we do not."""
    try:
        from distributed import Client
    except ImportError:
        raise LabSeqError("a Dask cluster needs the package distributed; install labseq[dask]") from None
    if address.startswith("tls:"):
        _require_certificates(address)
    answer: Future = Future()

    def connect() -> None:
        try:
            answer.set_result(Client(address, timeout=CONNECT_SECONDS, set_as_default=False))
        except Exception as problem:
            answer.set_exception(problem)

    threading.Thread(target=connect, name="labseq-dask-connect", daemon=True).start()
    try:
        return answer.result(2 * CONNECT_SECONDS)
    except (OSError, ValueError) as problem:
        reason = (str(problem) or "no answer in time").splitlines()[0]
        raise LabSeqError(f"no Dask scheduler answers at {address} ({reason}); check --scheduler") from None


def _require_certificates(address: str) -> None:
    """Without them Dask fails with a traceback, after a while."""
    from distributed import Security

    try:
        found = Security().get_connection_args("client").get("ssl_context")
    except OSError as problem:
        raise LabSeqError(f"the certificates for {address} cannot be read ({problem}); check {_CERTIFICATES}") from None
    require(found is not None, f"{address} asks for certificates; set {_CERTIFICATES} to their files")


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
