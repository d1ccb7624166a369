"""Processes of this machine: started when there is work, kept for the next, ended when they have been idle for long."""

from __future__ import annotations

import base64
import contextlib
import json
import signal
import threading
import time
from concurrent.futures import Future
from typing import IO

from labseq_core.checks import LabSeqError
from labseq_core.experiments.run.executors.base import IN_THE_LOG, PATIENCE, Job, Listener, WorkerLost
from labseq_core.experiments.run.memory import FEWER, killed_for_memory
from labseq_core.experiments.run.one_task import Cancelled, TaskOutcome
from labseq_core.worker_processes import take_worker, workers_here

IDLE_SECONDS = 300.0


class LocalProcesses:
    """At most cores - 1 processes (at least one), at low priority: the pages come first."""

    name = "processes of this machine"
    remote = False

    def __init__(self) -> None:
        self._n, _ = workers_here()
        self._lock = threading.Lock()
        self._processes: list[_Process] = []

    def capacity(self) -> int:
        return self._n

    def submit(self, job: Job, listener: Listener) -> Future:
        with self._lock:
            self._processes = [process for process in self._processes if process.alive]
            free = next((process for process in self._processes if process.job_id is None), None)
            if free is None:
                free = _Process()
                self._processes.append(free)
            return free.perform(job, listener)

    def cancel(self, job_id: str) -> None:
        with self._lock:
            for process in self._processes:
                if process.job_id == job_id:
                    process.stop_job()

    def trouble(self) -> str | None:
        return None  # another process can be started

    def tick(self) -> None:
        with self._lock:
            for process in self._processes:
                if process.job_id is None and time.monotonic() - process.idle_since > IDLE_SECONDS:
                    process.close()
            self._processes = [process for process in self._processes if process.alive]

    def close(self) -> None:
        with self._lock:
            for process in self._processes:
                process.close()
            self._processes = []


class _Process:
    """One worker process and the thread that reads what it says."""

    def __init__(self) -> None:
        self._process = take_worker()
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise WorkerLost("it was started without pipes")  # nobody could speak with it
        self._stdin: IO[str] = stdin
        self._stdout: IO[str] = stdout
        self._lock = threading.Lock()  # a job must not be given to a process at the moment it ends
        self._future: Future | None = None
        self._listener: Listener | None = None
        self._killed_before: int | None = None  # processes that the system had killed for lack of memory
        self.job_id: str | None = None
        self.alive = True
        self.idle_since = time.monotonic()
        threading.Thread(target=self._read, daemon=True).start()

    def perform(self, job: Job, listener: Listener) -> Future:
        future: Future = Future()
        future.set_running_or_notify_cancel()
        with self._lock:
            if not self.alive:
                future.set_exception(WorkerLost("it died before it had work"))
                return future
            self._future, self.job_id, self._listener = future, job.id, listener
            self._killed_before = killed_for_memory()
        self._write(job.to_dict())  # a process that has just died is noticed by its reader
        return future

    def stop_job(self) -> None:
        """Ask the process to stop, and end it if it does not listen."""
        job_id = self.job_id
        self._write({"cancel": job_id})

        def force() -> None:
            if self.job_id == job_id:
                self._process.terminate()

        timer = threading.Timer(PATIENCE, force)
        timer.daemon = True
        timer.start()

    def close(self) -> None:
        self.alive = False
        with contextlib.suppress(OSError, ValueError):
            self._stdin.close()

    def _write(self, message: dict) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._stdin.write(json.dumps(message) + "\n")
            self._stdin.flush()

    def _read(self) -> None:
        for line in self._stdout:
            try:
                message = json.loads(line)
            except ValueError:  # it died while it wrote
                break
            if message["kind"] == "event":
                if self._listener is not None:
                    self._listener(message["event"])
            else:
                self._end_job(message)
        with self._lock:
            self.alive = False
            future, self._future, self.job_id = self._future, None, None
        self.close()
        self._process.kill()
        self._stdout.close()
        code = self._process.wait()
        if future is not None:
            future.set_exception(WorkerLost(_how_it_died(code, self._killed_before)))

    def _end_job(self, message: dict) -> None:
        future, self._future = self._future, None
        self.job_id, self.idle_since = None, time.monotonic()  # free before anybody hears of it
        if future is None:
            return
        if message["kind"] == "done":
            blobs = {name: base64.b64decode(data) for name, data in message["blobs"].items()}
            future.set_result(TaskOutcome(message["facts"], blobs))
        else:
            future.set_exception(Cancelled() if message["kind"] == "cancelled" else LabSeqError(message["error"]))


def _how_it_died(code: int, killed_before: int | None) -> str:
    """Of a worker, by its exit code. A `MemoryError` in it is told by itself: here something else has ended it."""
    if code >= 0:
        return f"it ended with exit code {code}; {IN_THE_LOG}"
    if code != -signal.SIGKILL:
        return f"it ended by signal {-code} ({signal.strsignal(-code)}); {IN_THE_LOG}"
    now = killed_for_memory()
    if now is None or killed_before is None:
        return f"it was killed, as the system does when memory runs out; {FEWER}"
    return f"the system killed it because memory ran out; {FEWER}" if now > killed_before else "somebody killed it"
