"""What the engine asks of an executor."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from typing import Protocol

PATIENCE = 1.5  # seconds in which a worker may stop a job by itself
IN_THE_LOG = "the server's log has the details"
COMPILING = "compiling"  # what the note of a worker begins with that cannot train yet
Listener = Callable[[dict], None]  # told of the events of a job: {"points", "fraction"} or {"note"}


@dataclass(frozen=True)
class Job:
    """A task to perform, as it travels to a worker."""

    id: str
    config: dict
    task: int  # its number
    chosen: int | None  # the best combination of its search
    versions: dict  # what the run is made with: another version would give other numbers
    upload: dict | None = None  # for workers on other machines: the file that the run is about

    def to_dict(self) -> dict:
        return asdict(self)


class WorkerLost(Exception):
    """The worker died before it was done. Nothing is known of the task: it may be tried again. The text says how it died."""


class Executor(Protocol):
    """`submit` gives a future of the outcome: (facts, blobs). It fails with `WorkerLost`, `Cancelled`, or `LabSeqError`."""

    name: str
    remote: bool  # whether workers are elsewhere, without the files of this machine

    def capacity(self) -> int:
        """How many jobs it performs at once now; it may change."""

    def submit(self, job: Job, listener: Listener) -> Future: ...

    def cancel(self, job_id: str) -> None:
        """Stop a job within two seconds."""

    def trouble(self) -> str | None:
        """Why no job can be performed any more, neither those at work nor others: who wants one needs another executor."""

    def tick(self) -> None:
        """Called about once a second."""

    def close(self) -> None: ...
