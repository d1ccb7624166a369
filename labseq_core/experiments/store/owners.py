"""Which process runs a run, and whether it still lives: it holds a lock on a file, which the system frees when it dies.

No clock is involved: a process that is slow, stopped or busy compiling still holds its lock, and one that was killed holds
it no longer at that very moment.
"""

from __future__ import annotations

import secrets
import time
from pathlib import Path

from labseq_core.experiments.store.errors import unusable
from labseq_core.file_lock import is_held, lock_file, unlock_file
from labseq_core.places import private_directory

_MOMENT = 0.005  # seconds


def owners_directory(store: Path) -> Path:
    return store.with_name(f"{store.name}.owners")


class Owner:
    """This process, as the owner of runs in a store. What dead owners have left is cleared away."""

    def __init__(self, store: Path):
        self.token, self._store = secrets.token_hex(8), store
        self._path = owners_directory(store) / self.token
        self._file: int | None = None
        self.hold()
        for other in self._path.parent.iterdir():
            is_held(other)

    def hold(self) -> None:
        """Take the lock; again, if somebody has removed the file."""
        if self._file is not None and self._path.exists():
            return
        try:
            private_directory(self._path.parent)
            while (file := lock_file(self._path)) is None:  # somebody looks, for a moment, whether its owner lives
                time.sleep(_MOMENT)
        except OSError as problem:
            raise unusable(self._store, problem) from None
        self.release()
        self._file = file

    def release(self) -> None:
        """Give the lock back: what this process had at work is then dead."""
        if self._file is not None:
            unlock_file(self._path, self._file)
            self._file = None


def is_alive(store: Path, token: str | None) -> bool:
    """Whether the process of this token lives. What a dead one left is cleared away."""
    return bool(token) and token.isalnum() and is_held(owners_directory(store) / token)
