"""The run store: one SQLite file in which every run is a row. Several processes may use it at once."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path

from labseq_core.checks import LabSeqError
from labseq_core.experiments.store.connections import Connections
from labseq_core.experiments.store.damage import is_damage, set_aside
from labseq_core.experiments.store.owners import is_alive
from labseq_core.experiments.store.run_search import ACTIVE, TOLD_BY_OWNERS, condition
from labseq_core.experiments.store.schema import bring_up_to_date
from labseq_core.places import user_directory

BUSY_SECONDS = 30.0  # how long to wait for other processes that write
_STORES_OPEN = 8  # a process has one; tests have many
_JSON = ("config", "versions", "methods", "labels", "metrics", "curve", "outcome")
# All that a list needs: results are long.
_LISTED = (
    "id, created, finished, config_hash, data_hash, seed, dataset, features, folds, methods, labels, state, owner, pinned, "
    "imported, fraction, error, coalesce(json_extract(config, '$.sequences'), 0) AS sequences"
)


def store_path() -> Path:
    """`LABSEQ_STORE`, or a file in the user's data directory."""
    chosen = os.environ.get("LABSEQ_STORE")
    return Path(chosen).expanduser() if chosen else user_directory() / "runs.sqlite"


class RunStore:
    """Rows are plain dicts; JSON columns are decoded.

    Any thread may use it: each has a connection of its own (see `connections`). A file that is damaged is set aside under
    another name, and a new one is begun (see `damage`).
    """

    def __init__(self, path: Path | None = None):
        self.path = path or store_path()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise self._unusable(problem.strerror) from None
        self._connections = Connections(self.path, BUSY_SECONDS, partial(bring_up_to_date, path=self.path))

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """A transaction of this thread. The file is made if it is not there, or no longer."""
        try:
            with self._connections.get() as connection:
                yield connection
        except sqlite3.DatabaseError as problem:
            if is_damage(problem):
                set_aside(self.path)  # before the connection is closed, which may write its journal into the file
            self._connections.drop()
            if is_damage(problem):
                raise StoreDamaged(
                    f"the run store {self.path.name} was damaged; it was set aside and a new one begun"
                ) from None
            raise self._unusable(problem) from None

    def _unusable(self, problem) -> StoreUnusable:
        return StoreUnusable(
            f"the run store {self.path.name} cannot be used ({problem}); free some space, or set LABSEQ_STORE to a file "
            "that can be written"
        )

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
            row = connection.execute("SELECT state, owner FROM runs WHERE id = ?", (run["id"],)).fetchone()
            if row is None:
                self._insert_run(connection, {"state": "queued", **run, "owner": owner}, tasks)
                return True
            failed = "SELECT 1 FROM tasks WHERE run_id = ? AND state = 'failed'"
            complete = row["state"] == "done" and connection.execute(failed, (run["id"],)).fetchone() is None
            if complete or (row["state"] in ACTIVE and self.alive(row["owner"])):
                return False
            connection.execute(
                "UPDATE runs SET state = 'queued', owner = ?, attempts = attempts + 1, cancelling = 0, note = NULL, "
                "error = NULL WHERE id = ?", (owner, run["id"]),
            )  # fmt: skip
            connection.execute(
                "UPDATE tasks SET state = 'queued', fraction = 0, iteration = 0, objective = NULL, curve = '[]' "
                "WHERE run_id = ? AND outcome IS NULL", (run["id"],),
            )  # fmt: skip
            return True

    def insert(self, run: Mapping, tasks: Sequence[Mapping], artefacts: Mapping[str, bytes]) -> None:
        """A whole run at once; one of the same id is replaced."""
        with self._connection() as connection:
            _delete(connection, run["id"])
            self._insert_run(connection, run, tasks)
            _keep(connection, run["id"], artefacts)

    @staticmethod
    def _insert_run(connection: sqlite3.Connection, run: Mapping, tasks: Sequence[Mapping]) -> None:
        _insert(connection, "runs", {"created": time.time(), **run})
        for number, task in enumerate(tasks):
            _insert(connection, "tasks", {**task, "run_id": run["id"], "number": number})

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
            columns = _encoded(columns) or {"id": run_id}
            assignments = ", ".join(f"{name} = ?" for name in columns)
            found = connection.execute(f"UPDATE runs SET {assignments} WHERE id = ?", (*columns.values(), run_id))
            if not found.rowcount:
                return False
            for number, changed in tasks.items():
                values = _encoded(changed)
                assignments = ", ".join(f"{name} = ?" for name in values)
                query = f"UPDATE tasks SET {assignments} WHERE run_id = ? AND number = ?"
                connection.execute(query, (*values.values(), run_id, number))
            names = [(run_id, name) for name in dropped]
            connection.executemany("DELETE FROM artefacts WHERE run_id = ? AND name = ?", names)
            _keep(connection, run_id, artefacts)
            return True

    def get(self, run_id: str) -> dict | None:
        with self._connection() as connection:
            row = connection.execute("SELECT * FROM runs WHERE id = ?", (run_id,)).fetchone()
        return None if row is None else self._lively([_decoded(row)])[0]

    def tasks(self, run_id: str, outcomes: bool = False) -> list[dict]:
        """The tasks of a run in their order, with what they found only if asked for: it is long."""
        columns = "*" if outcomes else "number, label, fold, point, state, fraction, iteration, objective, curve"
        query = f"SELECT {columns} FROM tasks WHERE run_id = ? ORDER BY number"
        with self._connection() as connection:
            return [_decoded(row) for row in connection.execute(query, (run_id,))]

    def artefact(self, run_id: str, name: str) -> bytes | None:
        query = "SELECT data FROM artefacts WHERE run_id = ? AND name = ?"
        with self._connection() as connection:
            row = connection.execute(query, (run_id, name)).fetchone()
        return None if row is None else row["data"]

    def artefacts(self, run_id: str) -> dict[str, bytes]:
        query = "SELECT name, data FROM artefacts WHERE run_id = ? ORDER BY name"
        with self._connection() as connection:
            return {row["name"]: row["data"] for row in connection.execute(query, (run_id,))}

    def list(self, limit: int = 100, skip: int = 0, **filters) -> list[dict]:
        """Runs without their results, the newest first; only those that fit the filters (see `run_search`)."""
        where, values = condition(**filters)
        query = f"SELECT {_LISTED} FROM runs {where} ORDER BY created DESC, id"
        state = filters.get("state")
        if state in TOLD_BY_OWNERS:  # all are looked at: they are few
            with self._connection() as connection:
                found = self._lively([_decoded(row) for row in connection.execute(query, values)])
            return [row for row in found if row["state"] == state][skip : skip + limit]
        with self._connection() as connection:
            rows = connection.execute(f"{query} LIMIT ? OFFSET ?", (*values, limit, skip))
            return self._lively([_decoded(row) for row in rows])

    def count(self, **filters) -> int:
        """How many runs fit the filters of `list`."""
        if filters.get("state") in TOLD_BY_OWNERS:
            return len(self.list(sys.maxsize, **filters))
        where, values = condition(**filters)
        with self._connection() as connection:
            return connection.execute(f"SELECT COUNT(*) FROM runs {where}", values).fetchone()[0]

    def datasets(self) -> list[str]:
        """The corpora that there are runs of."""
        with self._connection() as connection:
            return [row["dataset"] for row in connection.execute("SELECT DISTINCT dataset FROM runs ORDER BY dataset")]

    def cancelling(self, owner: str) -> list[str]:
        """The active runs of an owner that somebody, in whatever process, wants to be cancelled."""
        query = "SELECT id FROM runs WHERE owner = ? AND cancelling AND state IN ('queued', 'running')"
        with self._connection() as connection:
            return [row["id"] for row in connection.execute(query, (owner,))]

    def mark(self, run_id: str, **columns) -> bool:
        return self.update(run_id, {}, {}, **columns)

    def delete(self, run_id: str) -> None:
        with self._connection() as connection:
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


class StoreUnusable(LabSeqError):
    """It cannot be read or written now, which may pass: a full disk, missing rights."""


class StoreDamaged(LabSeqError):
    """It was damaged; a new one has been begun."""


def _insert(connection: sqlite3.Connection, table: str, values: Mapping) -> None:
    values = _encoded(values)
    places = ", ".join("?" * len(values))
    connection.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places})", tuple(values.values()))


def _keep(connection: sqlite3.Connection, run_id: str, artefacts: Mapping[str, bytes]) -> None:
    rows = ((run_id, name, data) for name, data in artefacts.items())  # one after another: they may be large
    connection.executemany("INSERT OR REPLACE INTO artefacts (run_id, name, data) VALUES (?,?,?)", rows)


def _delete(connection: sqlite3.Connection, run_id: str) -> None:
    connection.execute("DELETE FROM runs WHERE id = ?", (run_id,))
    for table in ("tasks", "artefacts"):
        connection.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))


def _encoded(values: Mapping) -> dict:
    return {
        name: json.dumps(value, sort_keys=name == "versions") if name in _JSON and value is not None else value
        for name, value in values.items()
    }


def _decoded(row: sqlite3.Row) -> dict:
    return {
        name: json.loads(row[name]) if name in _JSON and row[name] is not None else row[name]
        for name in row.keys()  # noqa: SIM118
    }
