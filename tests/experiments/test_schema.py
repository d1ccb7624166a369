"""Stores that another version of LabSeq made."""

import hashlib
import json
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from labseq_core.checks import LabSeqError
from labseq_core.experiments import list_runs, result, resume, status
from labseq_core.experiments.service import close_engines, resume_interrupted
from labseq_core.experiments.store import schema
from labseq_core.experiments.store.run_store import RunStore
from tests.experiments.runs import finished, quick, wait

# The tables of version 0.1 as they lie on users' disks: this text must never follow a change of the code.
OF_0_1 = """
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
OLD_ID = f"{quick(folds=0).hash}-0a1b2c"  # of an older rule of ids, and of older sources
ADD_COLUMN = """
import sys
from pathlib import Path
from labseq_core.experiments.store import schema
from labseq_core.experiments.store.run_store import RunStore
schema.STEPS.append(lambda connection: connection.execute("ALTER TABLE runs ADD COLUMN remark TEXT"))
print(flush=True)
sys.stdin.readline()
print(len(RunStore(Path(sys.argv[1])).list()), flush=True)
"""


@pytest.fixture
def path(tmp_path, monkeypatch) -> Path:
    place = tmp_path / "runs.sqlite"
    monkeypatch.setenv("LABSEQ_STORE", str(place))
    yield place
    close_engines()


def old_store(path: Path, version: int, state: str = "cancelled") -> None:
    """One with one run, written without any code of ours."""
    config = quick(folds=0)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.executescript(OF_0_1)
        connection.execute(f"PRAGMA user_version={version}")
        columns = {
            "id": OLD_ID, "created": 1.0, "config": json.dumps(config.to_dict()), "config_hash": config.hash, "seed": 0,
            "versions": json.dumps({"core": "older"}), "dataset": config.dataset, "features": config.features.label,
            "folds": 0, "methods": json.dumps(["hmm", "perceptron"]),
            "labels": json.dumps([choice.label for choice in config.methods]), "state": state, "owner": "gone",
        }  # fmt: skip
        marks = ", ".join("?" * len(columns))
        connection.execute(f"INSERT INTO runs ({', '.join(columns)}) VALUES ({marks})", tuple(columns.values()))
        for number, choice in enumerate(config.methods):
            connection.execute(
                "INSERT INTO tasks (run_id, number, label, fold) VALUES (?, ?, ?, 0)", (OLD_ID, number, choice.label)
            )


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


@pytest.mark.parametrize("version", [0, 1])
def test_a_store_of_the_first_tables_is_opened_listed_and_gone_on_with(path, version):
    old_store(path, version)
    assert [run.run_id for run in list_runs()] == [OLD_ID], "a run keeps its id"
    assert version_of(path) == len(schema.STEPS)
    assert status(OLD_ID).state == "cancelled"
    run_id = resume(OLD_ID)
    assert run_id != OLD_ID, "made with other sources, it begins anew under the id of today's"
    assert wait(run_id, finished)[-1].state == "done"
    assert {run.run_id for run in list_runs()} == {run_id, OLD_ID}
    assert result(run_id).rows


def test_an_old_run_whose_process_died_is_not_gone_on_with_unasked(path):
    old_store(path, 0, "running")
    assert status(OLD_ID).state == "dead"
    assert resume_interrupted() == []


def test_a_store_of_a_newer_version_is_refused_and_not_touched(path):
    old_store(path, 99)
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    for _ in range(2):
        with pytest.raises(LabSeqError, match=r"runs\.sqlite was made by a newer LabSeq \(.* 99, .*\); install that"):
            RunStore(path).list()
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    assert [other.name for other in path.parent.iterdir()] == [path.name]


def test_a_newer_version_that_takes_a_store_over_is_noticed_by_one_at_work(path):
    store = RunStore(path)
    assert store.list() == []
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA user_version=99")
        other.commit()
        with pytest.raises(LabSeqError, match="newer LabSeq"):
            store.list()


def test_other_tables_of_these_names_are_refused_and_not_touched(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE runs (id TEXT)")
    with pytest.raises(LabSeqError, match=r"before version 0\.1 .*; move the file away"):
        RunStore(path).list()
    assert version_of(path) == 0


def test_a_step_that_fails_leaves_the_store_as_it_was(path, monkeypatch):
    old_store(path, 1)

    def half(connection: sqlite3.Connection) -> None:
        connection.execute("ALTER TABLE runs ADD COLUMN remark TEXT")
        connection.execute("ALTER TABLE nonsense ADD COLUMN remark TEXT")

    with monkeypatch.context() as patch:
        patch.setattr(schema, "STEPS", [*schema.STEPS, half])
        with pytest.raises(LabSeqError, match="no such table: nonsense"):
            RunStore(path).list()
    assert version_of(path) == 1
    assert "remark" not in RunStore(path).get(OLD_ID)


def test_two_processes_that_open_an_old_store_at_once_change_it_once(path):
    """The step adds a column: taken twice, it would fail."""
    old_store(path, 0)
    words = [sys.executable, "-c", ADD_COLUMN, str(path)]
    processes = [subprocess.Popen(words, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(3)]
    for process in processes:
        process.stdout.readline()  # has imported everything
    began = time.monotonic()
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    assert [process.communicate()[0].strip() for process in processes] == ["1"] * 3
    assert [process.returncode for process in processes] == [0] * 3
    assert time.monotonic() - began < 30.0, "no lock was left behind"
    assert version_of(path) == len(schema.STEPS) + 1
