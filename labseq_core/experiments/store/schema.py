"""The tables of a run store, and how a store that an earlier LabSeq made becomes one of today's.

A change of the tables is a new step at the end of STEPS; a step that has been published is never edited, because there are
stores that have taken it. The number of steps that a store has taken stands in the file itself (`PRAGMA user_version`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from labseq_core.checks import LabSeqError
from labseq_core.experiments.store.alone import alone

_FIRST = """
CREATE TABLE runs (
    id TEXT PRIMARY KEY, created REAL NOT NULL, finished REAL, config TEXT NOT NULL, config_hash TEXT NOT NULL,
    data_hash TEXT, seed INTEGER NOT NULL, versions TEXT NOT NULL, dataset TEXT NOT NULL, features TEXT NOT NULL,
    folds INTEGER NOT NULL, methods TEXT NOT NULL, labels TEXT NOT NULL, state TEXT NOT NULL, owner TEXT,
    attempts INTEGER NOT NULL DEFAULT 1, cancelling INTEGER NOT NULL DEFAULT 0, pinned INTEGER NOT NULL DEFAULT 0,
    imported INTEGER NOT NULL DEFAULT 0, fraction REAL NOT NULL DEFAULT 0, note TEXT, error TEXT, metrics TEXT
);
CREATE INDEX runs_by_time ON runs (created);
CREATE INDEX runs_by_state ON runs (state);
CREATE TABLE tasks (
    run_id TEXT NOT NULL, number INTEGER NOT NULL, label TEXT NOT NULL, fold INTEGER NOT NULL, point INTEGER,
    state TEXT NOT NULL DEFAULT 'queued', fraction REAL NOT NULL DEFAULT 0, iteration INTEGER NOT NULL DEFAULT 0,
    objective REAL, curve TEXT NOT NULL DEFAULT '[]', outcome TEXT, PRIMARY KEY (run_id, number)
);
CREATE TABLE artefacts (
    run_id TEXT NOT NULL, name TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (run_id, name)
);
"""


class UnknownTables(Exception):
    """The file has tables of these names, but other ones."""


def _first_tables(connection: sqlite3.Connection) -> None:
    """The tables of version 0.1. A store that has them, but no mark that it does, is only marked."""
    found = _columns(connection)
    if found.keys() & {"runs", "tasks", "artefacts"}:
        with closing(sqlite3.connect(":memory:")) as fresh:
            fresh.executescript(_FIRST)
            wanted = _columns(fresh)
        if any(found.get(table, [])[: len(columns)] != columns for table, columns in wanted.items()):
            raise UnknownTables
        return
    for statement in _FIRST.split(";"):
        connection.execute(statement)


def _columns(connection: sqlite3.Connection) -> dict[str, list[tuple]]:
    """Names and types of the columns of each table."""
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {table: [row[1:3] for row in map(tuple, connection.execute(f"PRAGMA table_info({table})"))]
            for table in tables}  # fmt: skip


def _checksums(connection: sqlite3.Connection) -> None:
    """Of what a row says, and of its long column (see `rows`); and how many tasks a run has. Old rows have neither."""
    found, sums = _columns(connection), ["checksum", "long_checksum"]
    for table, names in {"runs": ["n_tasks", *sums], "tasks": sums, "artefacts": ["checksum"]}.items():
        for name in names:
            if (name, "INTEGER") not in found[table]:  # a disk may have changed the mark that the step was taken
                connection.execute(f"ALTER TABLE {table} ADD COLUMN {name} INTEGER")


STEPS: list[Callable[[sqlite3.Connection], None]] = [_first_tables, _checksums]


def bring_up_to_date(connection: sqlite3.Connection, path: Path) -> None:
    """Take the steps that the store has not taken yet, all or none of them. One of a newer LabSeq is refused as it is."""
    if _taken(connection, path) == len(STEPS):
        return
    with alone(path):  # SQLite does not wait for others when it changes the kind of journal
        connection.execute("PRAGMA journal_mode=WAL")
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                for step in STEPS[_taken(connection, path) :]:  # read again: somebody else may have been faster
                    step(connection)
            except UnknownTables:
                raise LabSeqError(
                    f"the run store {path.name} was made before version 0.1 and cannot be read; move the file away, or set "
                    "LABSEQ_STORE to another"
                ) from None
            connection.execute(f"PRAGMA user_version={len(STEPS)}")


def has_other_tables(connection: sqlite3.Connection) -> bool:
    """Whether a store that says that it has today's tables has not."""
    if connection.execute("PRAGMA user_version").fetchone()[0] != len(STEPS):
        return False
    with closing(sqlite3.connect(":memory:")) as fresh:
        for step in STEPS:
            step(fresh)
        wanted, found = _columns(fresh), _columns(connection)
    return any(found.get(table) != columns for table, columns in wanted.items())


def _taken(connection: sqlite3.Connection, path: Path) -> int:
    taken = connection.execute("PRAGMA user_version").fetchone()[0]
    if taken > len(STEPS):
        raise LabSeqError(
            f"the run store {path.name} was made by a newer LabSeq (its tables have version {taken}, this one knows "
            f"{len(STEPS)}); install that version, or set LABSEQ_STORE to another file"
        )
    return taken
