"""A run store that is damaged is never written over: it is set aside under another name, beside the new one."""

from __future__ import annotations

import itertools
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from labseq_core.experiments.store.alone import GIVE_UP, alone
from labseq_core.experiments.store.rows import text_or_bytes
from labseq_core.experiments.store.schema import has_other_tables

_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
# What our own queries never cause: tables that are no longer those that they are about, or an index that lies.
_DOUBTFUL = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG)
_MARK = "damaged"


def is_damage(problem: Exception) -> bool:
    """Whether the file is not what it should be, as opposed to a disk that is full or a lock that is held.

    Where SQLite's own message quotes what lies in the file, Python cannot even read the message.
    """
    return _code(problem) in _DAMAGE or isinstance(problem, UnicodeDecodeError)


def may_be_damage(problem: Exception) -> bool:
    """Whether it is worth looking at all of the file, which takes its time."""
    return is_damage(problem) or _code(problem) in _DOUBTFUL


def _code(problem: Exception) -> int:
    """Without what SQLite adds to it."""
    return getattr(problem, "sqlite_errorcode", 0) & 0xFF


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


def set_aside(path: Path) -> bool:
    """Rename a damaged store and its journals. Several processes may find the damage at once: one does it, and the others are
    told that the store is not damaged (any more).
    """
    with alone(path):
        if not _is_damaged(path):
            return False
        name = first = f"{path.name}.{_MARK}-{time.strftime('%Y%m%d-%H%M%S')}"
        for number in itertools.count(2):  # nothing that was set aside is written over
            if not path.with_name(name).exists():
                break
            name = f"{first}-{number}"
        for ending in ("-wal", "-shm", ""):
            part = path.with_name(path.name + ending)
            if part.exists():
                os.replace(part, path.with_name(name + ending))
        return True


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
        with closing(sqlite3.connect(path, timeout=GIVE_UP)) as connection:
            connection.text_factory = text_or_bytes
            return connection.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok" or has_other_tables(connection)
    except (sqlite3.Error, UnicodeDecodeError) as problem:
        return may_be_damage(problem)
