"""The store by itself: claims, lists, several processes, damage, removal, a full disk."""

import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from functools import partial

import pytest

from labseq_core import file_lock
from labseq_core.checks import LabSeqError
from labseq_core.experiments.store import alone as alone_module
from labseq_core.experiments.store.alone import alone
from labseq_core.experiments.store.damage import set_aside_stores
from labseq_core.experiments.store.errors import StoreDamaged, StoreFull, StoreUnusable
from labseq_core.experiments.store.owners import Owner, is_alive, owners_directory
from labseq_core.experiments.store.run_store import RunStore

TASKS = [{"label": "HMM", "fold": 0, "point": None}, {"label": "HMM", "fold": 1, "point": None}]


def row(run_id: str = "r", **changes) -> dict:
    fixed = {
        "config": {},
        "config_hash": "h",
        "seed": 0,
        "versions": {},
        "dataset": "toy",
        "features": "S3",
        "folds": 2,
    }
    return {"id": run_id, **fixed, "methods": ["hmm"], "labels": ["HMM"], **changes}


@pytest.fixture
def store(tmp_path) -> RunStore:
    return RunStore(tmp_path / "runs.sqlite")


def test_a_run_has_one_owner_at_a_time(store):
    mine, other = Owner(store.path), Owner(store.path)
    assert store.claim(row(), TASKS, mine.token)
    assert not store.claim(row(), TASKS, other.token), "it is at work in a living process"
    store.update("r", {0: {"state": "done", "outcome": {"row": 1}}}, {"model.0": b"m"}, state="cancelled")
    assert store.claim(row(), TASKS, other.token), "what was cancelled can be gone on with"
    assert [task["state"] for task in store.tasks("r")] == ["done", "queued"]
    assert store.tasks("r", outcomes=True)[0]["outcome"] == {"row": 1}
    assert store.artefact("r", "model.0") == b"m"
    store.update("r", {1: {"state": "failed"}}, {}, state="done")
    assert store.claim(row(), TASKS, mine.token), "what could not be trained is tried again"
    assert [task["state"] for task in store.tasks("r")] == ["done", "queued"]
    store.update("r", {1: {"state": "done", "outcome": {}}}, {}, state="done")
    assert not store.claim(row(), TASKS, mine.token), "what is done stays"


def test_an_owner_lives_as_long_as_its_process(store):
    script = (
        "import sys, time\nfrom pathlib import Path\nfrom labseq_core.experiments.store.owners import Owner\n"
        "print(Owner(Path(sys.argv[1])).token, flush=True)\ntime.sleep(600)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(store.path)], stdout=subprocess.PIPE, text=True)
    token = process.stdout.readline().strip()
    assert store.claim(row(), TASKS, token)
    store.mark("r", state="running")
    assert store.get("r")["state"] == "running"
    assert [run["state"] for run in store.list()] == ["running"]
    process.kill()
    process.wait()
    process.stdout.close()
    assert store.get("r")["state"] == "dead", "seen at once, not after a time"
    assert [run["state"] for run in store.list(state="dead")] == ["dead"]
    assert store.list(state="running") == []
    assert not (owners_directory(store.path) / token).exists()
    assert not is_alive(store.path, "nobody")
    assert not is_alive(store.path, None)


def test_an_owner_whose_file_was_removed_takes_it_again(store):
    owner = Owner(store.path)
    (owners_directory(store.path) / owner.token).unlink()
    assert not is_alive(store.path, owner.token)
    owner.hold()
    assert is_alive(store.path, owner.token)


def test_owners_that_have_died_leave_no_files(store):
    script = (
        "import sys\nfrom pathlib import Path\nfrom labseq_core.experiments.store.owners import Owner\n"
        "owners = [Owner(Path(sys.argv[1])) for _ in range(20)]\nprint(flush=True)\nsys.stdin.readline()\n"
    )
    words = [sys.executable, "-c", script, str(store.path)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.readline()
    living = Owner(store.path)
    assert len(list(owners_directory(store.path).iterdir())) == 21, "nobody takes a living one away"
    process.kill()
    process.communicate()
    newest = Owner(store.path)
    assert {path.name for path in owners_directory(store.path).iterdir()} == {living.token, newest.token}
    living.release()
    assert not is_alive(store.path, living.token)
    newest.release()
    assert list(owners_directory(store.path).iterdir()) == []


def test_who_looks_whether_an_owner_lives_is_not_taken_for_it(store):
    path = owners_directory(store.path) / "dead"
    path.parent.mkdir(parents=True)
    path.touch()
    file = os.open(path, os.O_RDWR)
    file_lock._look(file)
    assert not is_alive(store.path, "dead"), "somebody else looks at the same moment"
    os.close(file)


def test_many_processes_write_at_once(store):
    script = (
        "import sys\nfrom pathlib import Path\nfrom labseq_core.experiments.store.owners import Owner\n"
        "from labseq_core.experiments.store.run_store import RunStore\n"
        "from tests.experiments.test_store import TASKS, row\n"
        "store, name = RunStore(Path(sys.argv[1])), sys.argv[2]\nowner = Owner(store.path)\n"
        "for number in range(40):\n"
        "    run = f'{name}-{number}'\n"
        "    assert store.claim(row(run), TASKS, owner.token)\n"
        "    for task in range(2):\n"
        "        assert store.update(run, {task: {'outcome': {'x': task}}}, {f'model.{task}': b'm' * 999}, state='running')\n"
        "    store.mark(run, state='done')\n"
        "print(store.claim(row('shared'), TASKS, owner.token), flush=True)\n"
        "sys.stdin.readline()\n"  # only one of them may have got it while all live
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", script, str(store.path), f"p{number}"], text=True, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE)
        for number in range(5)
    ]  # fmt: skip
    got = [process.stdout.readline().strip() for process in processes]
    for process in processes:
        process.communicate("\n")
        assert process.returncode == 0
    assert sorted(got) == ["False"] * 4 + ["True"]
    runs = store.list(limit=1000)
    assert sum(run["state"] == "done" for run in runs) == 200
    assert all(task["outcome"] == {"x": task["number"]} for task in store.tasks("p3-7", outcomes=True))


def test_only_one_at_a_time_makes_or_mends_a_store(store):
    done = []

    def make() -> None:
        with alone(store.path):
            done.append("second")

    with alone(store.path):
        other = threading.Thread(target=make)
        other.start()
        other.join(0.3)
        done.append("first")
    other.join(10.0)
    assert done == ["first", "second"]


def test_nobody_waits_for_a_process_that_died_while_it_made_a_store(store):
    script = (
        "import sys\nfrom pathlib import Path\nfrom labseq_core.experiments.store.alone import alone\n"
        "with alone(Path(sys.argv[1])):\n    print(flush=True)\n    sys.stdin.readline()\n"
    )
    words = [sys.executable, "-c", script, str(store.path)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.readline()
    process.kill()
    process.communicate()
    assert store.path.with_name("runs.sqlite.mending").exists(), "it left its lock"
    began = time.monotonic()
    assert store.list() == []
    assert time.monotonic() - began < 5.0
    assert not store.path.with_name("runs.sqlite.mending").exists()


def test_the_lock_of_a_living_process_is_waited_for_told_and_never_taken_away(store, monkeypatch):
    monkeypatch.setattr(alone_module, "GIVE_UP", 0.2)
    lock = store.path.with_name("runs.sqlite.mending")
    with alone(store.path):
        before = lock.stat().st_ino
        with pytest.raises(
            StoreUnusable, match=r"another process has been making or mending the run store runs\.sqlite"
        ):
            store.list()
        assert lock.stat().st_ino == before
        with pytest.raises(StoreUnusable):
            store.list()
    assert store.list() == []


@pytest.mark.parametrize("broken", ["text", "head", "middle"])
def test_a_damaged_store_is_set_aside_not_overwritten(store, broken):
    owner = Owner(store.path)
    for number in range(300):
        store.claim(row(f"r{number}"), TASKS, owner.token)
    with sqlite3.connect(store.path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    data = bytearray(store.path.read_bytes())
    if broken == "text":
        data = bytearray(b"this is not a data base" * 100)
    elif broken == "head":
        data[:100] = b"x" * 100
    else:
        data[4096 : len(data) // 2] = b"\xff" * (len(data) // 2 - 4096)
    store.path.write_bytes(data)
    with pytest.raises(StoreDamaged, match=r"runs\.sqlite was damaged; it was set aside"):
        [store.get(f"r{number}") for number in range(300)]
    (name,) = set_aside_stores(store.path)
    assert (store.path.parent / name).read_bytes() == bytes(data)
    assert store.list() == []
    assert store.claim(row(), TASKS, owner.token), "the new one works"
    assert len(set_aside_stores(store.path)) == 1


def test_a_removed_store_is_begun_anew(store):
    owner = Owner(store.path)
    store.claim(row(), TASKS, owner.token)
    for part in store.path.parent.glob("runs.sqlite*"):
        if part.is_file():
            part.unlink()
    assert not store.update("r", {}, {}, state="running"), "the run is not there"
    assert store.claim(row(), TASKS, owner.token)


def test_a_full_disk_is_told_and_nothing_is_half_written(store, monkeypatch):
    owner = Owner(store.path)
    store.claim(row(), TASKS, owner.token)
    connect = sqlite3.connect

    def limited(*arguments, **options):
        made = connect(*arguments, **options)
        made.execute("PRAGMA max_page_count=20")
        return made

    monkeypatch.setattr(sqlite3, "connect", limited)
    with pytest.raises(StoreFull, match=r"runs\.sqlite cannot be used \(database or disk is full\); free some space"):
        store.update("r", {0: {"state": "done"}}, {"model.0": b"m" * 10**6}, state="done")
    monkeypatch.undo()
    assert store.get("r")["state"] == "queued"
    assert store.tasks("r")[0]["state"] == "queued"


def test_stores_of_other_versions_are_left_alone(store):
    store.list()
    with sqlite3.connect(store.path) as connection:
        connection.execute("PRAGMA user_version=99")
    connection.close()
    with pytest.raises(LabSeqError, match="newer LabSeq"):
        store.list()
    old = RunStore(store.path.with_name("old.sqlite"))
    with sqlite3.connect(old.path) as connection:
        connection.execute("CREATE TABLE runs (id TEXT)")
    connection.close()
    with pytest.raises(LabSeqError, match=r"before version 0\.1"):
        old.list()


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    store = RunStore(tmp_path / "file" / "runs.sqlite")
    for use in (store.list, partial(Owner, store.path)):
        with pytest.raises(StoreUnusable, match=r"runs\.sqlite cannot be used \(.*\); .* set LABSEQ_STORE"):
            use()


def test_ten_thousand_runs_are_listed_and_filtered_quickly(store):
    """Beside reading as many rows of JSON from a text file: no index or query may make it slower by an order."""
    versions = {"core": "0" * 12, "numpy": "2.0"}
    with store._connection() as connection:
        for number in range(10_000):
            dataset = "toy-pos" if number % 10 else "parity"
            made = row(f"r{number}", dataset=dataset, versions=versions, state="done", metrics={"rows": ["x" * 2000]})
            store._insert_run(connection, {**made, "created": float(number)}, [])
    lines = [json.dumps(row(f"r{number}", versions=versions)) for number in range(10_000)]
    plain = seconds(lambda: list(map(json.loads, lines)))
    assert len(store.list(limit=10_000)) == len(lines)
    everything = seconds(lambda: store.list(limit=10_000))
    filters = {"limit": 100, "dataset": "parity", "method": "hmm", "text": "r99"}
    assert [run["id"] for run in store.list(**filters)][:2] == ["r9990", "r9980"]
    assert everything < 20 * plain
    assert seconds(lambda: store.list(**filters)) < everything


def seconds(way, repeats: int = 5) -> float:
    """The best of some: other work on the machine must not count."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        way()
        times.append(time.perf_counter() - begin)
    return min(times)


def test_pages_of_a_list_hold_what_is_counted(store):
    """Whether a run is dead is known only when its owner is asked: still no page may lack a row."""
    states = ("running", "done", "running", "cancelled")
    for number in range(40):
        made = row(
            f"r{number:02}", state=states[number % 4], dataset="toy-pos" if number % 2 else "parity", created=number
        )
        store.insert({**made, "owner": None}, [], {})
    for filters in (
        {},
        {"state": "dead"},
        {"state": "done"},
        {"state": "running"},
        {"dataset": "parity"},
        {"text": "r0"},
    ):
        pages = [store.list(7, 7 * page, **filters) for page in range(6)]
        ids = [run["id"] for page in pages for run in page]
        assert len(ids) == len(set(ids)) == store.count(**filters)
        assert all(len(page) == 7 for page in pages[: store.count(**filters) // 7])
    assert store.count(state="dead") == 20
    assert store.count(state="running") == 0
    assert store.datasets() == ["parity", "toy-pos"]
