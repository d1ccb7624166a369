"""The run store: one SQLite file in which every run is a row. Several processes may use it at once."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path

from labseq_core.experiments.store.connections import Connections
from labseq_core.experiments.store.damage import is_damage, may_be_damage, set_aside
from labseq_core.experiments.store.errors import RunDamaged, StoreDamaged, unusable
from labseq_core.experiments.store.owners import is_alive
from labseq_core.experiments.store.rows import DAMAGED, RUNS, TASKS
from labseq_core.experiments.store.run_search import ACTIVE, TOLD_BY_ROWS, condition
from labseq_core.experiments.store.schema import bring_up_to_date
from labseq_core.places import user_directory

BUSY_SECONDS = 30.0  # how long to wait for other processes that write
_STORES_OPEN = 8  # a process has one; tests have many


def store_path() -> Path:
    """`LABSEQ_STORE`, or a file in the user's data directory."""
    chosen = os.environ.get("LABSEQ_STORE")
    return Path(chosen).expanduser() if chosen else user_directory() / "runs.sqlite"


class RunStore:
    """Rows are plain dicts; JSON columns are decoded.

    Any thread may use it: each has a connection of its own (see `connections`). A file that is damaged is set aside under
    another name, and a new one is begun (see `damage`). A row that is damaged is told (see `rows`).
    """

    def __init__(self, path: Path | None = None):
        self.path = path or store_path()
        self._connections = Connections(self.path, BUSY_SECONDS, partial(bring_up_to_date, path=self.path))

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """A transaction of this thread. The file is made if it is not there, or no longer."""
        try:
            with self._connections.get() as connection:
                yield connection
        except (sqlite3.Error, UnicodeDecodeError) as problem:
            # Before the connection is closed, which may write its journal into the file.
            was_damaged = may_be_damage(problem) and set_aside(self.path)
            self._connections.drop()
            if was_damaged or is_damage(problem):
                raise StoreDamaged(
                    f"the run store {self.path.name} was damaged; it was set aside and a new one begun"
                ) from None
            raise unusable(self.path, problem) from None
        except OSError as problem:
            raise unusable(self.path, problem) from None

    def alive(self, token: str | None) -> bool:
        return is_alive(self.path, token)

    # Runs

    def claim(self, run: Mapping, tasks: Sequence[Mapping], owner: str) -> bool:
        """Make a run this process's own, unless it is finished or another living process has it: then False.

        What is new begins as it is given. What was interrupted, failed or cancelled goes on, and so does what is finished but
        for a method that could not be trained: finished tasks are kept, the others are tried again.
        """
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            row = connection.execute(f"SELECT {RUNS.whole} FROM runs WHERE id = ?", (run["id"],)).fetchone()
            if row is None:
                self._insert_run(connection, {"state": "queued", **run, "owner": owner}, tasks)
                return True
            try:
                known = RUNS.read(row)
            except RunDamaged:  # all of it is known but what was found, and that the tasks have
                connection.execute("DELETE FROM runs WHERE id = ?", (run["id"],))
                RUNS.insert(
                    connection,
                    {"created": time.time(), **run, "state": "queued", "owner": owner, "n_tasks": len(tasks)},
                )
            else:
                failed = "SELECT 1 FROM tasks WHERE run_id = ? AND state = 'failed'"
                complete = known["state"] == "done" and connection.execute(failed, (run["id"],)).fetchone() is None
                if complete or (known["state"] in ACTIVE and self.alive(known["owner"])):
                    return False
                fresh = {"state": "queued", "owner": owner, "attempts": known["attempts"] + 1, "cancelling": 0,
                         "note": None, "error": None}  # fmt: skip
                RUNS.change(connection, (run["id"],), fresh)
            self._keep_finished(connection, run["id"], tasks)
            return True

    @staticmethod
    def _keep_finished(connection: sqlite3.Connection, run_id: str, tasks: Sequence[Mapping]) -> None:
        """Of a run that goes on: tasks that are not finished, or are damaged, begin anew."""
        query = f"SELECT {TASKS.whole} FROM tasks WHERE run_id = ? AND number = ?"
        for number, task in enumerate(tasks):
            row = connection.execute(query, (run_id, number)).fetchone()
            with contextlib.suppress(RunDamaged):
                if row is not None and TASKS.read(row)["outcome"] is not None:
                    continue
            connection.execute("DELETE FROM tasks WHERE run_id = ? AND number = ?", (run_id, number))
            TASKS.insert(connection, {**task, "run_id": run_id, "number": number})

    def insert(self, run: Mapping, tasks: Sequence[Mapping], artefacts: Mapping[str, bytes]) -> None:
        """A whole run at once; one of the same id is replaced."""
        with self._connection() as connection:
            _delete(connection, run["id"])
            self._insert_run(connection, run, tasks)
            _keep(connection, run["id"], artefacts)

    @staticmethod
    def _insert_run(connection: sqlite3.Connection, run: Mapping, tasks: Sequence[Mapping]) -> None:
        RUNS.insert(connection, {"created": time.time(), **run, "n_tasks": len(tasks)})
        for number, task in enumerate(tasks):
            TASKS.insert(connection, {**task, "run_id": run["id"], "number": number})

    def update(
        self,
        run_id: str,
        tasks: Mapping[int, Mapping],
        artefacts: Mapping[str, bytes],
        dropped: Iterable[str] = (),
        **columns,
    ) -> bool:
        """Write columns of a run and of its tasks, and artefacts, and remove dropped ones, all or nothing; False if there is no
        such run (any more).
        """
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            if not RUNS.change(connection, (run_id,), columns):
                return False
            for number, changed in tasks.items():
                if not TASKS.change(connection, (run_id, number), changed):
                    raise RunDamaged(run_id)
            names = [(run_id, name) for name in dropped]
            connection.executemany("DELETE FROM artefacts WHERE run_id = ? AND name = ?", names)
            _keep(connection, run_id, artefacts)
            return True

    def get(self, run_id: str, results: bool = True) -> dict | None:
        """A run; without its results, which are long, if they are not asked for."""
        columns = RUNS.whole if results else RUNS.short
        with self._connection() as connection:
            row = connection.execute(f"SELECT {columns} FROM runs WHERE id = ?", (run_id,)).fetchone()
        return None if row is None else self._lively([RUNS.read(row)])[0]

    def tasks(self, run_id: str, outcomes: bool = False) -> list[dict]:
        """The tasks of a run in their order, with what they found only if asked for: it is long."""
        columns = TASKS.whole if outcomes else TASKS.short
        query = f"SELECT {columns} FROM tasks WHERE run_id = ? ORDER BY number"
        with self._connection() as connection:
            found = [TASKS.read(row) for row in connection.execute(query, (run_id,))]
            run = connection.execute("SELECT n_tasks FROM runs WHERE id = ?", (run_id,)).fetchone()
        if run is not None and run["n_tasks"] not in (None, len(found)):
            raise RunDamaged(run_id)
        return found

    def artefact(self, run_id: str, name: str) -> bytes | None:
        return self.artefacts(run_id, name).get(name)

    def artefacts(self, run_id: str, name: str | None = None) -> dict[str, bytes]:
        """All of a run, or the one of this name."""
        query = "SELECT name, data, checksum FROM artefacts WHERE run_id = ? AND name = coalesce(?, name)"
        with self._connection() as connection:
            rows = connection.execute(query, (run_id, name)).fetchall()
        for row in rows:
            is_blob = isinstance(row["data"], bytes)
            if not is_blob or row["checksum"] not in (None, _artefact_checksum(run_id, row["name"], row["data"])):
                raise RunDamaged(run_id)
        return {row["name"]: row["data"] for row in rows}

    def list(self, limit: int = 100, skip: int = 0, **filters) -> list[dict]:
        """Runs without their results, the newest first; only those that fit the filters (see `run_search`)."""
        where, values = condition(**filters)
        query = f"SELECT {RUNS.short} FROM runs {where} ORDER BY created DESC, id"
        state = filters.get("state")
        if state not in TOLD_BY_ROWS:
            query, values = f"{query} LIMIT ? OFFSET ?", [*values, limit, skip]
        with self._connection() as connection:
            found = self._lively([_listed(row) for row in connection.execute(query, values)])
        found = [row for row in found if state in (None, row["state"])]
        return found[skip : skip + limit] if state in TOLD_BY_ROWS else found  # all were looked at

    def count(self, **filters) -> int:
        """How many runs fit the filters of `list`."""
        if filters.get("state") in TOLD_BY_ROWS:
            return len(self.list(sys.maxsize, **filters))
        where, values = condition(**filters)
        with self._connection() as connection:
            return connection.execute(f"SELECT COUNT(*) FROM runs {where}", values).fetchone()[0]

    def datasets(self) -> list[str]:
        """The corpora that there are runs of."""
        with self._connection() as connection:
            rows = connection.execute("SELECT DISTINCT dataset FROM runs ORDER BY dataset")
            return [row["dataset"] for row in rows if isinstance(row["dataset"], str)]

    def owned(self, owner: str) -> dict[str, bool]:
        """The active runs of an owner, and of each whether somebody, in whatever process, wants it to be cancelled."""
        query = "SELECT id, cancelling FROM runs WHERE owner = ? AND state IN (?, ?)"
        with self._connection() as connection:
            return {row["id"]: bool(row["cancelling"]) for row in connection.execute(query, (owner, *ACTIVE))}

    def mark(self, run_id: str, **columns) -> bool:
        return self.update(run_id, {}, {}, **columns)

    def delete(self, run_id: str) -> bool:
        """Whether there was such a run. One whose id is damaged has that of its row in a list."""
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            query = "SELECT rowid FROM runs NOT INDEXED WHERE id = ? OR ? = ? || rowid"
            rows = connection.execute(query, (run_id, run_id, f"{DAMAGED}-")).fetchall()
            try:
                self._delete_rows(connection, run_id, rows)
            except sqlite3.DatabaseError as problem:
                if not is_damage(problem):
                    raise
                connection.execute("REINDEX")  # an index does not know what was changed
                self._delete_rows(connection, run_id, rows)
            return bool(rows)

    @staticmethod
    def _delete_rows(connection: sqlite3.Connection, run_id: str, rows: Sequence[sqlite3.Row]) -> None:
        connection.executemany("DELETE FROM runs WHERE rowid = ?", [(row["rowid"],) for row in rows])
        _delete(connection, run_id)

    def _lively(self, rows: list[dict]) -> list[dict]:
        """A run whose owner has died is dead, whatever the owner wrote last."""
        alive = {owner: self.alive(owner) for owner in {row["owner"] for row in rows if row["state"] in ACTIVE}}
        for row in rows:
            if row["state"] in ACTIVE and not alive[row["owner"]]:
                row["state"] = "dead"
        return rows


def run_store() -> RunStore:
    """The store that the environment names: one for all who ask in this process, so that its connections are kept."""
    return _opened(store_path())


@lru_cache(maxsize=_STORES_OPEN)
def _opened(path: Path) -> RunStore:
    return RunStore(path)


def _listed(row: sqlite3.Row) -> dict:
    try:
        return RUNS.read(row)
    except RunDamaged:
        return RUNS.read_anyway(row)


def _keep(connection: sqlite3.Connection, run_id: str, artefacts: Mapping[str, bytes]) -> None:
    # One after another: they may be large.
    rows = ((run_id, name, data, _artefact_checksum(run_id, name, data)) for name, data in artefacts.items())
    connection.executemany("INSERT OR REPLACE INTO artefacts (run_id, name, data, checksum) VALUES (?,?,?,?)", rows)


def _artefact_checksum(run_id: str, name: str, data: bytes) -> int:
    return zlib.crc32(data, zlib.crc32(f"{run_id} {name}".encode()))


def _delete(connection: sqlite3.Connection, run_id: str) -> None:
    connection.execute("DELETE FROM runs WHERE id = ?", (run_id,))
    for table in ("tasks", "artefacts"):
        connection.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))
