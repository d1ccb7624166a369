"""A disk that changes bytes of a run store: what is then read is what was written, or it is told that it is damaged."""

import contextlib
import gc
import random
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from labseq_core.checks import LabSeqError
from labseq_core.experiments import delete, list_runs, predictions, result, status, submit
from labseq_core.experiments.service import close_engines
from labseq_core.experiments.store.damage import set_aside_stores
from labseq_core.experiments.store.run_store import RunStore, _opened, run_store
from tests.experiments.runs import finished, finished_run, quick, trained_here, wait
from tests.experiments.test_store import row

LOOKED_AT = ("run07", "run13")  # besides one that is real
TASK = {"label": "HMM", "fold": 0, "point": None, "curve": [[step, 1.0 / (step + 1), None] for step in range(30)]}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Where the store of the environment lies."""
    path = tmp_path / "runs.sqlite"
    monkeypatch.setenv("LABSEQ_STORE", str(path))
    yield path
    close_engines()
    _opened.cache_clear()


@pytest.fixture(scope="module")
def written() -> tuple[dict, list, dict]:
    """A real run, which is large, so that not all flips are in its model."""
    run, tasks, blobs = finished_run(quick(dataset="toy-pos", sequences=30, methods=quick().methods[:1]))
    return run, tasks, {name: data[:3000] if name.startswith("model") else data for name, data in blobs.items()}


def filled(path: Path, run: tuple[dict, list, dict]) -> bytes:
    """A store of many runs, of which one is real, as a file without a journal."""
    store = RunStore(path)
    store.insert(*run)
    for number in range(25):
        state = ("cancelled", "failed", "done")[number % 3]
        made = row(f"run{number:02}", state=state, seed=number, created=number, config={"sequences": number})
        store.insert({**made, "metrics": {"rows": [number] * 20}}, [TASK, {**TASK, "fold": 1}], {"model.0": b"m" * 300})
    del store
    gc.collect()
    return path.read_bytes()


def everything(run_id: str) -> dict[str, object]:
    """All answers of the store, by question; where nothing is there, or it is told that it is damaged, there is no answer.

    run_id: of the real run.
    """
    store, found = run_store(), {}

    def ask(question: str, function, *arguments, **options) -> None:
        with contextlib.suppress(LabSeqError):
            found[question] = function(*arguments, **options)

    ask("list", store.list, 1000)
    found |= {f"listed {run['id']}": run for run in found.pop("list", []) if run["state"] != "damaged"}
    for each in [*LOOKED_AT, run_id]:
        ask(f"run {each}", store.get, each)
        ask(f"tasks {each}", store.tasks, each, outcomes=True)
        ask(f"progress {each}", store.tasks, each)
        ask("artefacts", store.artefacts, each)
        found |= {f"{name} {each}": data for name, data in found.pop("artefacts", {}).items()}
        ask("now", status, each)
        if "now" in found and (now := found.pop("now")).state != "damaged":
            found[f"status {each}"] = now
    ask("scores", lambda: result(run_id).csv())
    ask("predictions", lambda: predictions(run_id, "HMM").labellings("predicted"))
    return {question: answer for question, answer in found.items() if answer}


def flipped(data: bytes, number: int) -> bytes:
    chance, made = random.Random(number), bytearray(data)
    if number % 4 < 2:
        made[chance.randrange(len(made))] ^= 1 << chance.randrange(8)
    elif number % 4 == 2:
        for _ in range(20):
            made[chance.randrange(len(made))] = chance.randrange(256)
    else:
        begin = chance.randrange(len(made) - 512)
        made[begin : begin + 512] = chance.randbytes(512)
    return bytes(made)


def put(path: Path, data: bytes) -> None:
    """In the place of what is there."""
    for part in path.parent.iterdir():
        part.unlink()
    path.write_bytes(data)


@pytest.mark.parametrize("flips", [200, pytest.param(5000, marks=pytest.mark.slow)])
def test_what_is_read_after_a_flip_is_what_was_written_or_nothing(place, written, flips):
    data, run_id = filled(place, written), written[0]["id"]
    truth = everything(run_id)
    assert len(truth) == 26 + 5 * len(LOOKED_AT) + 7 + 2
    for number in range(flips):
        put(place, flipped(data, number))
        wrong = [question for question, answer in everything(run_id).items() if answer != truth.get(question)]
        assert wrong == [], f"flip {number}"


@pytest.mark.parametrize("flips", [50, pytest.param(2000, marks=pytest.mark.slow)])
def test_flips_in_a_store_of_an_earlier_version_are_told_too_where_they_can_be_seen(place, written, flips):
    """It has no checksums: a number may be another one, but whatever is raised has a message of ours."""
    filled(place, written)
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute("UPDATE runs SET checksum = NULL, long_checksum = NULL, n_tasks = NULL")
        connection.execute("UPDATE tasks SET checksum = NULL, long_checksum = NULL")
        connection.execute("UPDATE artefacts SET checksum = NULL")
    data = place.read_bytes()
    for number in range(flips):
        put(place, flipped(data, number))
        everything(written[0]["id"])


def damage(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(statement).rowcount == 1


def test_a_damaged_run_is_listed_and_can_be_deleted(place, written):
    filled(place, written)
    statements = {
        "run03": "UPDATE runs SET seed = 99 WHERE id = 'run03'",
        "run04": "UPDATE runs SET labels = '[\"HMM' WHERE id = 'run04'",
        "run05": "UPDATE runs SET dataset = CAST(x'e2ff' AS TEXT) WHERE id = 'run05'",
        "damaged-8": "UPDATE runs SET id = CAST(x'ff' AS TEXT) WHERE id = 'run06'",
    }
    for statement in statements.values():
        damage(place, statement)
    listed = {run.run_id: run.state for run in list_runs()}
    assert len(listed) == 26
    assert {run_id for run_id, state in listed.items() if state == "damaged"} == statements.keys()
    assert {run.run_id for run in list_runs(state="damaged")} == statements.keys()
    assert {run.run_id for run in list_runs(state="done")}.isdisjoint(statements)
    assert "run03 is damaged in the run store" in status("run03").error
    for run_id in statements:
        delete(run_id)
    assert len(list_runs()) == 22
    assert set_aside_stores(place) == []
    with pytest.raises(LabSeqError, match="there is no run 'damaged-8'"):
        delete("damaged-8")


def test_a_run_whose_id_was_flipped_in_the_file_can_be_deleted(place, written):
    """Its index knows another id."""
    data = bytearray(filled(place, written))
    (at,) = [
        match.start() for match in re.finditer(b"run14", data) if b"sequences" in data[match.end() : match.end() + 60]
    ]
    data[at + 4 : at + 5] = b"z"
    put(place, bytes(data))
    assert [run.run_id for run in list_runs(state="damaged")] == ["run1z"]
    delete("run1z")
    assert set_aside_stores(place) == []
    assert len(list_runs()) == 25
    assert "run14" not in {run.run_id for run in list_runs()}


def test_what_is_damaged_of_a_run_is_trained_again_when_it_is_asked_for(place):
    config = quick()
    run_id = trained_here(config)
    scores = result(run_id).csv()
    damage(place, f"UPDATE runs SET metrics = replace(metrics, '0.9', '0.8') WHERE id = '{run_id}'")
    with pytest.raises(LabSeqError, match="is damaged in the run store"):
        result(run_id)
    damage(place, f"UPDATE tasks SET outcome = replace(outcome, '0.9', '0.8') WHERE run_id = '{run_id}' AND number = 1")
    damage(place, f"UPDATE artefacts SET data = x'00' WHERE run_id = '{run_id}' AND name = 'predictions.2'")
    assert submit(config) == run_id
    assert wait(run_id, finished)[-1].state == "done"
    assert result(run_id).csv() == scores
    assert predictions(run_id, "HMM").labellings("predicted")


def test_every_damaged_store_is_kept(place):
    for number in range(3):  # within one second
        place.write_bytes(f"this is not a data base {number}".encode() * 100)
        with pytest.raises(LabSeqError, match="set aside"):
            run_store().list()
    kept = {(place.parent / name).read_bytes() for name in set_aside_stores(place)}
    assert len(kept) == 3
