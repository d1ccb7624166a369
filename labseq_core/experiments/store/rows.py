"""Rows of a run store as they are written and read.

Each has a checksum, so that what a disk has changed is never taken for what was found: a row that does not fit it is damaged.
Rows of stores of earlier versions have none; of them it is only known whether they can be read.
"""

from __future__ import annotations

import contextlib
import json
import math
import sqlite3
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labseq_core.experiments.store.errors import RunDamaged

DAMAGED = "damaged"  # the state of a run that cannot be read
_EMPTY: dict[type, object] = {str: "?", int: 0, float: 0.0, list: [], dict: {}}


@dataclass(frozen=True)
class Table:
    """A table of the store: what its columns hold, and how a row is found."""

    name: str
    key: tuple[str, ...]
    kinds: Mapping[str, type]  # of the columns; dict and list are kept as JSON
    optional: frozenset[str]  # columns that may be empty
    defaults: Mapping[str, object]
    states: frozenset[str]
    long: str  # a column that is read only where it is needed, with a checksum of its own

    @property
    def whole(self) -> str:
        """All columns, for a query. By their names: one whose name the disk has changed must be missed."""
        return f"{self.short}, {self.long}, long_checksum"

    @property
    def short(self) -> str:
        """All columns but the long one."""
        return ", ".join(["rowid", *(name for name in self.kinds if name != self.long), "checksum"])

    def insert(self, connection: sqlite3.Connection, values: Mapping) -> None:
        stored = self._stored({**self.defaults, **values})
        stored |= self._checksums(stored)
        places = ", ".join("?" * len(stored))
        connection.execute(f"INSERT INTO {self.name} ({', '.join(stored)}) VALUES ({places})", tuple(stored.values()))

    def change(self, connection: sqlite3.Connection, key: tuple, values: Mapping) -> bool:
        """Write some columns of a row; False if there is none. Raises `RunDamaged` of one that is not as it was written."""
        where = " AND ".join(f"{name} = ?" for name in self.key)
        row = connection.execute(f"SELECT {self.short} FROM {self.name} WHERE {where}", key).fetchone()
        if row is None:
            return False
        self.read(row)
        if changed := self._stored(values):
            known = {name: row[name] for name in self.kinds if name != self.long}
            changed |= self._checksums({**known, **changed})
            assignments = ", ".join(f"{name} = ?" for name in changed)
            connection.execute(f"UPDATE {self.name} SET {assignments} WHERE {where}", (*changed.values(), *key))
        return True

    def read(self, row: sqlite3.Row) -> dict:
        """What a row says, JSON decoded; the long column only if it was asked for."""
        stored = dict(row)
        own = {name: stored[name] for name in self.kinds if name in stored}
        try:
            found = {name: _read(value, self.kinds[name]) for name, value in own.items()}
        except ValueError:
            raise RunDamaged(self._shown_id(row)) from None
        complete = all(value is not None or name in self.optional for name, value in found.items())
        fits = all(stored[name] in (None, value) for name, value in self._checksums(own).items())
        if not (complete and fits and found["state"] in self.states):
            raise RunDamaged(self._shown_id(row))
        return found

    def read_anyway(self, row: sqlite3.Row) -> dict:
        """Of a damaged row what can be read, for lists."""
        found: dict = {name: None if name in self.optional else _EMPTY[kind] for name, kind in self.kinds.items()}
        for name in found.keys() & set(row.keys()):
            with contextlib.suppress(ValueError):
                found[name] = _read(row[name], self.kinds[name]) or found[name]
        return {**found, self.key[0]: self._shown_id(row), "state": DAMAGED}

    def _shown_id(self, row: sqlite3.Row) -> str:
        own = row[self.key[0]]
        return own if isinstance(own, str) and own.isprintable() else f"{DAMAGED}-{row['rowid']}"

    def _stored(self, values: Mapping) -> dict:
        return {name: _write(value, self.kinds[name]) for name, value in values.items()}

    def _checksums(self, stored: Mapping) -> dict[str, int]:
        """Of the short columns that are not empty, so that later versions may have more; and of the long one, if it is here."""
        short = {name: value for name, value in stored.items() if name != self.long and value is not None}
        found = {"checksum": zlib.crc32(json.dumps(sorted(short.items())).encode())}
        if self.long in stored:
            found["long_checksum"] = zlib.crc32((stored[self.long] or "").encode())
        return found


def _write(value: Any, kind: type) -> Any:
    """As SQLite will give it back: it has no NaN and no negative zero."""
    if value is None or (kind is float and math.isnan(value)):
        return None
    if kind in (dict, list):
        return json.dumps(value)
    return float(value) + 0.0 if kind is float else kind(value)


def _read(value: Any, kind: type) -> Any:
    """What it was before; ValueError if it cannot be that."""
    if value is None:
        return None
    if kind in (dict, list) and isinstance(value, str):
        value = json.loads(value)
    if not isinstance(value, kind):
        raise ValueError
    return value


def text_or_bytes(data: bytes) -> str | bytes:
    """How a connection reads texts: one that is none, since the disk has changed it, makes its row damaged, and no other."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


RUNS = Table(
    name="runs",
    key=("id",),
    kinds={
        "id": str, "created": float, "finished": float, "config": dict, "config_hash": str, "data_hash": str, "seed": int,
        "versions": dict, "dataset": str, "features": str, "folds": int, "methods": list, "labels": list, "state": str,
        "owner": str, "attempts": int, "cancelling": int, "pinned": int, "imported": int, "fraction": float, "note": str,
        "error": str, "n_tasks": int, "metrics": dict,
    },
    optional=frozenset({"finished", "data_hash", "owner", "note", "error", "n_tasks", "metrics"}),
    defaults={"attempts": 1, "cancelling": 0, "pinned": 0, "imported": 0, "fraction": 0.0},
    states=frozenset({"queued", "running", "done", "failed", "cancelled"}),
    long="metrics",
)  # fmt: skip
TASKS = Table(
    name="tasks",
    key=("run_id", "number"),
    kinds={
        "run_id": str, "number": int, "label": str, "fold": int, "point": int, "state": str, "fraction": float,
        "iteration": int, "objective": float, "curve": list, "outcome": dict,
    },
    optional=frozenset({"point", "objective", "outcome"}),
    defaults={"state": "queued", "fraction": 0.0, "iteration": 0, "curve": []},
    states=frozenset({"queued", "running", "done", "failed"}),
    long="outcome",
)  # fmt: skip
