"""The run store: one SQLite file in which every run is a row. Several processes may use it at once."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from labseq_core._checks import LabSeqError
from labseq_core.data.places import user_directory

STALE_AFTER = 6.0  # seconds without a sign of life from the process that owns a run
ACTIVE = ("queued", "running")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY, created REAL NOT NULL, config TEXT NOT NULL, config_hash TEXT NOT NULL, versions TEXT NOT NULL,
    state TEXT NOT NULL, heartbeat REAL NOT NULL, progress TEXT NOT NULL DEFAULT '{}', error TEXT, result TEXT
);
CREATE INDEX IF NOT EXISTS runs_by_config ON runs (config_hash, state);
CREATE TABLE IF NOT EXISTS artefacts (
    run_id TEXT NOT NULL, name TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (run_id, name)
);
CREATE INDEX IF NOT EXISTS runs_by_time ON runs (created);
"""


def store_path() -> Path:
    """`LABSEQ_STORE`, or a file in the user's data directory."""
    chosen = os.environ.get("LABSEQ_STORE")
    return Path(chosen).expanduser() if chosen else user_directory() / "runs.sqlite"


class RunStore:
    """Rows are plain dicts; JSON columns are decoded."""

    def __init__(self, path: Path | None = None):
        self.path = path or store_path()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._connection() as connection:
                connection.executescript(_SCHEMA)
        except (OSError, sqlite3.Error) as problem:
            raise LabSeqError(
                f"the run store {self.path.name} cannot be opened ({problem}); set LABSEQ_STORE to a file that can be written"
            ) from None

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path, timeout=30.0)) as connection:
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA journal_mode=WAL")
            with connection:
                yield connection

    def add(self, run_id: str, config: dict, config_hash: str, versions: dict) -> None:
        now = time.time()
        values = (run_id, now, json.dumps(config), config_hash, json.dumps(versions, sort_keys=True), "queued", now)
        with self._connection() as connection:
            connection.execute(
                "INSERT INTO runs (id, created, config, config_hash, versions, state, heartbeat) VALUES (?,?,?,?,?,?,?)",
                values,
            )

    def update(self, run_id: str, **columns) -> None:
        """Set columns of a run; every update is a sign of life."""
        columns = {
            name: json.dumps(value) if name in ("progress", "result") else value for name, value in columns.items()
        }
        columns["heartbeat"] = time.time()
        assignments = ", ".join(f"{name} = ?" for name in columns)
        with self._connection() as connection:
            connection.execute(f"UPDATE runs SET {assignments} WHERE id = ?", (*columns.values(), run_id))

    def get(self, run_id: str) -> dict | None:
        with self._connection() as connection:
            row = connection.execute("SELECT * FROM runs WHERE id = ?", (run_id,)).fetchone()
        return None if row is None else _decoded(row)

    def keep_artefact(self, run_id: str, name: str, data: bytes) -> None:
        """Keep bytes of a run under a name."""
        with self._connection() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO artefacts (run_id, name, data) VALUES (?,?,?)", (run_id, name, data)
            )

    def artefact(self, run_id: str, name: str) -> bytes | None:
        with self._connection() as connection:
            row = connection.execute(
                "SELECT data FROM artefacts WHERE run_id = ? AND name = ?", (run_id, name)
            ).fetchone()
        return None if row is None else row["data"]

    def finished_like(self, config_hash: str, versions: dict) -> str | None:
        """A finished run of the same configuration with the same versions."""
        query = "SELECT id FROM runs WHERE config_hash = ? AND versions = ? AND state = 'done' ORDER BY created DESC"
        with self._connection() as connection:
            row = connection.execute(query, (config_hash, json.dumps(versions, sort_keys=True))).fetchone()
        return None if row is None else row["id"]

    def recent(self, limit: int) -> list[dict]:
        """The newest runs first, without their results."""
        query = (
            "SELECT id, created, config, config_hash, versions, state, heartbeat, progress, error, NULL AS result "
            "FROM runs ORDER BY created DESC, id LIMIT ?"
        )
        with self._connection() as connection:
            return [_decoded(row) for row in connection.execute(query, (limit,))]


def _decoded(row: sqlite3.Row) -> dict:
    decoded = dict(row)
    for name in ("config", "versions", "progress", "result"):
        decoded[name] = None if decoded[name] is None else json.loads(decoded[name])
    # The owner of a run writes every second: one that has been silent for long has died with it.
    if decoded["state"] in ACTIVE and time.time() - decoded["heartbeat"] > STALE_AFTER:
        decoded["state"] = "dead"
    return decoded
