"""A run store that is damaged is never written over: it is set aside under another name, beside the new one."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, contextmanager
from pathlib import Path

_CODES = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_MARK = "damaged"
_WAIT, _GIVE_UP = 0.05, 30.0  # seconds


def is_damage(problem: sqlite3.Error) -> bool:
    """Whether the file is not what it should be, as opposed to a disk that is full or a lock that is held."""
    code = getattr(problem, "sqlite_errorcode", None)
    return code is not None and (code & 0xFF) in _CODES


def refuse_foreign(path: Path) -> None:
    """Raise what SQLite raises of a file that is none of its own. The journal beside a file may have all of its pages, so
    that SQLite does not notice, and would write over it: here it looks at the file alone.

    Never read it by other means: to close a file that SQLite has open in this process would take its locks away.
    """
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        try:
            connection.execute("PRAGMA schema_version")
        except sqlite3.DatabaseError as problem:
            if getattr(problem, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
                raise  # anything else may come of another process that writes just now


def set_aside(path: Path) -> None:
    """Rename a damaged store and its journals. Several processes may find the damage at once: one does it."""
    with alone(path):
        if not _is_damaged(path):  # somebody else was faster
            return
        name = f"{path.name}.{_MARK}-{time.strftime('%Y%m%d-%H%M%S')}"
        for ending in ("-wal", "-shm", ""):
            part = path.with_name(path.name + ending)
            if part.exists():
                os.replace(part, path.with_name(name + ending))


def set_aside_stores(path: Path) -> list[str]:
    """The names of stores that were set aside beside this one."""
    endings = ("-wal", "-shm")
    return sorted(
        other.name for other in path.parent.glob(f"{path.name}.{_MARK}-*") if not other.name.endswith(endings)
    )


def _is_damaged(path: Path) -> bool:
    if not path.exists():
        return False
    try:
        refuse_foreign(path)
        with closing(sqlite3.connect(path, timeout=_GIVE_UP)) as connection:
            return connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok"
    except sqlite3.DatabaseError as problem:
        return is_damage(problem)


@contextmanager
def alone(path: Path):
    """Only one process at a time makes or mends a store; a lock that its holder left behind is taken over after a while."""
    lock, give_up = path.with_name(f"{path.name}.mending"), time.monotonic() + _GIVE_UP
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
            break
        except FileExistsError:
            if time.monotonic() > give_up:
                break
            time.sleep(_WAIT)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
