"""What can be wrong with a run store."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

from labseq_core.checks import LabSeqError

_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_SHMSIZE)
_NO_SPACE = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG)  # full disks, quotas, limits


class StoreUnusable(LabSeqError):
    """It cannot be read or written now, which may pass: a full disk, missing rights."""


class StoreFull(StoreUnusable):
    """There is no space left where it lies, or the disk takes nothing more for another reason: worth waiting for."""


def unusable(path: Path, problem: Exception) -> StoreUnusable:
    """What hinders SQLite, or the system, as an error of ours."""
    full = getattr(problem, "sqlite_errorcode", None) in _FULL or getattr(problem, "errno", None) in _NO_SPACE
    cause = problem.strerror if isinstance(problem, OSError) else problem
    return (StoreFull if full else StoreUnusable)(
        f"the run store {path.name} cannot be used ({cause}); free some space, or set LABSEQ_STORE to a file that can be "
        "written"
    )


class StoreDamaged(LabSeqError):
    """It was damaged; a new one has been begun."""


class RunDamaged(LabSeqError):
    """What the store has of a run is not what was written; all else can be used."""

    def __init__(self, run_id: str):
        super().__init__(
            f"run {run_id} is damaged in the run store: the disk has changed it, or another program; delete the run, or run "
            "the same comparison again"
        )
