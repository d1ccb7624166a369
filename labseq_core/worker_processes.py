"""Starting processes that train. Nothing of the core is needed for it, so a command can start one before it loads the rest."""

from __future__ import annotations

import os
import subprocess
import sys

WITH_VARIABLE = "LABSEQ_WITH"  # files with methods from outside, as a search path; workers load them too
SCHEDULER_VARIABLE = "LABSEQ_SCHEDULER"  # the address of a Dask scheduler whose workers train instead
_ahead: list[subprocess.Popen] = []


def workers_here() -> tuple[int, int]:
    """How many processes train on this machine, all cores but one, and how many threads each has."""
    cores = os.cpu_count() or 1
    processes = max(1, cores - 1)
    return processes, max(1, cores // processes)


def start_ahead() -> None:
    """Start one that `take_worker` finds: it loads what it needs while its owner does so too."""
    if not _ahead:
        _ahead.append(_start())


def take_worker() -> subprocess.Popen:
    """A process that reads jobs from its standard input; it ends when that closes."""
    started = _ahead.pop() if _ahead else None
    return started if started and started.poll() is None else _start()


def _start() -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "labseq_core.experiments.run.worker"],
        env={**os.environ, "NUMBA_NUM_THREADS": str(workers_here()[1])}, text=True, encoding="utf-8",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
