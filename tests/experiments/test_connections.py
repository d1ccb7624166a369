"""Connections to a store: kept, one for each thread, and given up when the file is another one."""

import gc
import os
import shutil
import sqlite3
import sys
import threading
import weakref

import pytest

from labseq_core.experiments import list_runs
from labseq_core.experiments.store import connections
from labseq_core.experiments.store.errors import StoreDamaged
from labseq_core.experiments.store.owners import Owner
from labseq_core.experiments.store.run_store import RunStore, run_store
from tests.experiments.test_store import TASKS, row


@pytest.fixture
def store(tmp_path, monkeypatch) -> RunStore:
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))
    made = run_store()
    made.insert(row(state="done"), TASKS, {})
    made.list()  # the file has come by the first call: from now on it stays as it is
    return made


@pytest.fixture
def opened(store, monkeypatch) -> list[sqlite3.Connection]:
    """Those that are made from now on."""
    made, connect = [], sqlite3.connect

    def counted(*arguments, **options):
        connection = connect(*arguments, **options)
        if "uri" not in options:  # a look at the file alone
            made.append(connection)
        return connection

    monkeypatch.setattr(sqlite3, "connect", counted)
    return made


def in_thread(work) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60.0)
    assert not thread.is_alive()


def test_a_process_has_one_store_and_a_thread_one_connection(store, opened):
    assert run_store() is store
    for _ in range(20):
        assert [run.run_id for run in list_runs()] == ["r"]
        store.mark("r", pinned=1)
    assert opened == []
    in_thread(lambda: [store.get("r") for _ in range(20)])
    assert len(opened) == 1


def test_a_connection_is_closed_when_its_thread_ends(store, opened):
    in_thread(store.list)
    (made,) = opened
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        made.execute("SELECT 1")


def test_a_store_that_nobody_holds_closes_its_connections(tmp_path):
    made = RunStore(tmp_path / "other.sqlite")
    made.list()
    held = weakref.ref(made._connections._local.held)
    assert held() is not None
    del made
    gc.collect()
    assert held() is None


def test_many_threads_use_one_store(store):
    def work(name: str) -> None:
        for number in range(10):
            run = f"{name}-{number}"
            store.insert(row(run, state="running"), TASKS, {"model.0": b"m" * 100_000})  # enough to move the journal
            assert store.update(run, {0: {"state": "done"}}, {}, state="done")
            assert store.get(run)["state"] == "done"

    threads = [threading.Thread(target=work, args=(f"t{number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120.0)
    assert store.count(state="done") == 61


def test_a_file_that_takes_the_place_of_another_is_seen_by_all_threads(store, tmp_path):
    other = RunStore(tmp_path / "copy" / "runs.sqlite")
    other.insert(row("another", state="done"), TASKS, {})
    del other
    gc.collect()
    seen, ready, go_on = [], threading.Event(), threading.Event()

    def look() -> None:
        seen.append([run["id"] for run in store.list()])
        ready.set()
        go_on.wait(60.0)
        seen.append([run["id"] for run in store.list()])

    thread = threading.Thread(target=look)
    thread.start()
    ready.wait(60.0)
    for ending in ("-wal", "-shm"):
        store.path.with_name(store.path.name + ending).unlink(missing_ok=True)
    os.replace(tmp_path / "copy" / "runs.sqlite", store.path)
    go_on.set()
    thread.join(60.0)
    assert seen == [["r"], ["another"]]
    assert [run["id"] for run in store.list()] == ["another"]
    store.mark("another", pinned=1)
    assert RunStore(store.path).get("another")["pinned"] == 1


def test_a_file_written_over_is_set_aside_although_the_journal_has_all_its_pages(tmp_path):
    nonsense, store = b"nonsense" * 1000, RunStore(tmp_path / "runs.sqlite")
    store.insert(row(state="done"), TASKS, {})
    assert store.path.with_name("runs.sqlite-wal").stat().st_size > 8 * 4096
    store.path.write_bytes(nonsense)
    with pytest.raises(StoreDamaged):
        store.list()
    (aside,) = store.path.parent.glob("runs.sqlite.damaged-*[0-9]")
    assert aside.read_bytes() == nonsense
    assert store.list() == []


def test_a_copy_beside_a_store_at_work_takes_no_lock_away(store, tmp_path):
    """A store in use can be copied; what its thread does next still works."""
    shutil.copy(store.path, tmp_path / "copy.sqlite")
    assert store.claim(row("next"), TASKS, Owner(store.path).token)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_a_connection_of_its_own(store):
    mine = store._connections._local.held.connection
    read, write = os.pipe()
    child = os.fork()
    if child == 0:  # nothing of the test may go on here
        try:
            store.insert(row("child", state="done"), TASKS, {})
            own = store._connections._local.held.connection
            os.write(write, b"fine" if own is not mine and mine in connections._inherited else b"shared")
        except BaseException as problem:
            os.write(write, repr(problem).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answers:
        assert answers.read() == b"fine"
    os.waitpid(child, 0)
    assert store._connections._local.held.connection is mine
    assert {run["id"] for run in store.list()} == {"r", "child"}
    with sqlite3.connect(store.path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    connection.close()


def test_the_interpreter_ends_quietly(tmp_path):
    import subprocess

    script = (
        "from labseq_core.experiments.store.run_store import run_store\n"
        "import threading\n"
        "run_store().list()\n"
        "thread = threading.Thread(target=run_store().list)\nthread.start()\nthread.join()\n"
    )
    environment = {**os.environ, "LABSEQ_STORE": str(tmp_path / "quiet.sqlite")}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert not (tmp_path / "quiet.sqlite-wal").exists(), "the last to close leaves one file"
