"""Which process runs a run, and whether it still lives: it holds a lock on a file, which the system frees when it dies.

No clock is involved: a process that is slow, stopped or busy compiling still holds its lock, and one that was killed holds
it no longer at that very moment.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from labseq_core.checks import LabSeqError
from labseq_core.file_lock import lock


def owners_directory(store: Path) -> Path:
    return store.with_name(f"{store.name}.owners")


class Owner:
    """This process, as the owner of runs in a store."""

    def __init__(self, store: Path):
        self.token = secrets.token_hex(8)
        self._path = owners_directory(store) / self.token
        self._file: int | None = None
        self.hold()

    def hold(self) -> None:
        """Take the lock; again, if somebody has removed the file."""
        if self._file is not None and self._path.exists():
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(self._path, os.O_CREAT | os.O_RDWR)
            lock(file)
        except OSError as problem:
            raise LabSeqError(
                f"the folder of the run store cannot be written ({problem.strerror}); set LABSEQ_STORE to a file in another"
            ) from None
        if self._file is not None:
            os.close(self._file)
        self._file = file


def is_alive(store: Path, token: str | None) -> bool:
    """Whether the process of this token lives. What a dead one left is cleared away."""
    if not token:
        return False
    path = owners_directory(store) / token
    try:
        file = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        lock(file)
    except OSError:  # held by the process itself
        return True
    finally:
        os.close(file)
    with contextlib.suppress(OSError):
        path.unlink()
    return False
