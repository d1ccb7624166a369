"""Connections to the file of a store: one for each thread that uses it, kept from call to call.

A connection holds the file that it was opened on. Somebody may remove that file, put another in its place or write over it,
so it is looked at before each use, and a file that is no longer as it was is opened anew.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable
from pathlib import Path

from labseq_core.experiments.store.alone import alone
from labseq_core.experiments.store.damage import refuse_foreign
from labseq_core.experiments.store.rows import text_or_bytes
from labseq_core.places import private_directory, private_opener

_inherited: list[sqlite3.Connection] = []  # of the process that this one was forked from: never used, never closed


class Connections:
    """`prepare` sees each connection before each use: a newer LabSeq may have changed the tables meanwhile."""

    def __init__(self, path: Path, timeout: float, prepare: Callable[[sqlite3.Connection], None]):
        self._path, self._timeout, self._prepare = path, timeout, prepare
        self._local = threading.local()  # its contents go with the thread, and close what they hold

    def get(self) -> sqlite3.Connection:
        """That of the calling thread."""
        held: _Held | None = getattr(self._local, "held", None)
        mark = _mark(self._path)
        if held is not None and held.process == os.getpid() and held.mark == mark is not None:
            self._prepare(held.connection)
            return held.connection
        if mark is not None:
            refuse_foreign(self._path)  # before a close, which may write the journal into whatever lies there
        self._local.held = held = None
        if _mark(self._path) is None:
            _make_empty(self._path)
        mark = _mark(self._path)  # after a close, which may write; before the opening, so that no change is missed
        held = _Held(sqlite3.connect(self._path, timeout=self._timeout, check_same_thread=False), mark)
        held.connection.row_factory = sqlite3.Row
        held.connection.text_factory = text_or_bytes
        self._prepare(held.connection)
        self._local.held = held
        return held.connection

    def drop(self) -> None:
        """Close that of the calling thread, if it has one."""
        self._local.held = None


class _Held:
    """Closes its connection when nobody holds it any more: its thread has ended, or the store has gone."""

    def __init__(self, connection: sqlite3.Connection, mark: tuple | None):
        self.connection, self.mark, self.process = connection, mark, os.getpid()
        weakref.finalize(self, _close, connection, self.process)


def _close(connection: sqlite3.Connection, process: int) -> None:
    if process == os.getpid():
        connection.close()
    else:  # SQLite forbids a child to touch it, and to close is to touch
        _inherited.append(connection)


def _make_empty(path: Path) -> None:
    """A file for this user alone; SQLite gives its journals the same rights. Nobody else makes a store of it meanwhile: to
    close a file that SQLite has open in this process would take its locks away.
    """
    private_directory(path.parent)
    with alone(path), contextlib.suppress(FileExistsError):
        os.close(private_opener(path, os.O_CREAT | os.O_EXCL))


def _mark(path: Path) -> tuple | None:
    """Changes when the file is another one, or its contents are. Runs go into the journal beside it, and into the file only
    now and then, so a store in use is rarely opened anew.
    """
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
