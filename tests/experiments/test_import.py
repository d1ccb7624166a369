"""Files from strangers: refused in our own words, or taken in and harmless."""

from __future__ import annotations

import copy
import json
import math
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from labseq_core.archives import load_archive, read_json, save_archive
from labseq_core.checks import LabSeqError
from labseq_core.experiments import (
    ExperimentConfig,
    FeatureChoice,
    MethodChoice,
    export_run,
    import_run,
    list_runs,
)
from labseq_core.experiments.results.collecting import collect
from labseq_core.experiments.results.predictions import Predictions, archive_bytes
from labseq_core.experiments.results.run_results import RunResult, table_csv
from labseq_core.experiments.run.memory import peak_megabytes, reset_peak
from labseq_core.experiments.run.one_task import TaskOutcome
from labseq_core.experiments.run.status import status_of, summary_of
from labseq_core.experiments.store import run_import
from labseq_core.experiments.store.run_import import checked_about, checked_run
from labseq_core.experiments.store.run_store import RunStore
from labseq_core.learners import METHODS
from pages.ui.drawing.metrics import summary_table
from tests import odd_json
from tests.experiments import zip_files
from tests.experiments.runs import finished_run, quick, trained_here
from tests.outside import added as from_outside

SMALL = quick(
    sequences=12,
    methods=(MethodChoice("perceptron", {"epochs": 2}), MethodChoice("naive-bayes", {}, {"smoothing": [0.1, 1.0]})),
)


@pytest.fixture(scope="module")
def packed(tmp_path_factory) -> bytes:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LABSEQ_STORE", str(tmp_path_factory.mktemp("store") / "runs.sqlite"))
        return export_run(trained_here(SMALL))


@pytest.fixture(autouse=True)
def own_store(tmp_path, monkeypatch):
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "there.sqlite"))


def checked(data: bytes, place: Path) -> dict:
    """What the other process does, in this one."""
    folder = place / "unpacked"
    folder.mkdir()
    (place / "run.zip").write_bytes(data)
    return checked_run(lambda fraction, text: None, path=str(place / "run.zip"), name="run.zip", folder=str(folder))


# run.json


def about_of(packed: bytes) -> dict:
    """With a failure, an accuracy and little of what is made anew."""
    about = json.loads(zip_files.unzipped(packed)["run.json"])
    about["run"]["metrics"] = {"failures": [{"label": "HMM", "fold": 0, "error": "too little memory"}], "rows": []}
    about["tasks"][0]["curve"] = [[0, 2.5], [1, math.inf, None], [2, 1.5, 0.5]]
    for task in about["tasks"]:
        task["outcome"]["examples"] = task["outcome"].get("examples", [])[:2]
        if task["fold"]:
            del task["outcome"]["examples"]
        if task["point"] is not None:
            task["outcome"] = {name: task["outcome"][name] for name in ("data_hash", "tried")}
    return about


def shown(run: dict, tasks: list[dict], config) -> None:
    """Whatever lists, tables and files ask of a run that was taken in."""
    RunStore().insert(run, tasks, {})
    row = RunStore().get(run["id"])
    summary_of({**row, "sequences": 0})
    status_of(row, RunStore().tasks(run["id"]), 0)
    found = RunResult.of(run["id"], config, row["versions"], row["created"], row["metrics"], imported=True)
    assert found.csv()
    assert found.times_csv()
    assert table_csv([{**found.about(), **each} for each in found.summary()])
    assert max(each["accuracy_mean"] for each in found.summary()) <= 1.0 + 1e-6
    summary_table(found.summary(), whole=True)


def test_whatever_run_json_says_is_refused_or_harmless(packed):
    about, outcomes, odd = about_of(packed), Counter(), []
    config, run, tasks = checked_about(about, "run.zip")
    shown(run, tasks, config)
    for how, other in odd_json.altered(about):
        try:
            config, *found = checked_about(read_json(json.dumps(other).encode()), "run.zip")
        except LabSeqError:
            outcomes["refused"] += 1
            continue
        except Exception as problem:
            odd.append((how, repr(problem)))
            continue
        outcomes["as it was" if found == [run, tasks] else "taken"] += 1
        try:
            if found != [run, tasks]:
                shown(*found, config)
        except Exception as problem:
            odd.append((f"{how}, shown", repr(problem)))
    assert odd == []
    assert outcomes["refused"] > 1000
    assert outcomes["taken"] > 50, "another time, another number that fits"


REFUSED = {
    "run.created": (math.nan, "run.created is nan; it must be a number from 0 to"),
    "run.versions.python": ("\x1b[2J", "run.versions.python is '\\x1b[2J'; it must be a line of at"),
    "run.state": ("running", "run.state is 'running'; it must be 'done'"),
    "run.id": ("x" * 19, "run.id is 'xxxxxxxxxxxxxxxxxxx'; it must be the id of a run"),
    "run.seed": (5, "its seed is not that of its configuration"),
    "run.config.seed": (5, "its config_hash is not that of its configuration"),
    "run.data_hash": ("0" * 12, "tasks[0] is of other data"),
    "tasks": ([], "its tasks are not those of its configuration"),
    "tasks.0.label": ("HMM", "its tasks are not those of its configuration"),
    "tasks.0.state": ("failed", "tasks[0] is failed, its outcome is not"),
    "tasks.0.outcome.row.accuracy": (1.5, "row.accuracy is 1.5; it must be a number from"),
    "tasks.0.outcome.row.run_id": (3, "row.run_id is 3; it must be absent"),
    "tasks.0.outcome.row.options": ("{}", "tasks[0] has other options than its configuration"),
    "tasks.0.outcome.confusion.labels": (["A"], "is not one row and one column for each label"),
    "tasks.0.outcome.examples.0.tokens": (["a"], "has other examples|more labels than tokens"),
    "labseq_export": (99, "it has format 99, this version reads 1: install the version that wrote it"),
}


@pytest.mark.parametrize("path", REFUSED)
def test_what_is_wrong_is_named(path, packed, tmp_path):
    value, said = REFUSED[path]
    parts = tuple(int(part) if part.isdecimal() else part for part in path.split("."))
    other = zip_files.changed(packed, lambda about, files: about.update(odd_json.replaced(about, parts, value)))
    with pytest.raises(LabSeqError) as caught:
        checked(other, tmp_path)
    assert str(caught.value).startswith("run.zip is not a run exported by LabSeq, or it is damaged: ")
    assert any(each in str(caught.value) for each in said.split("|")), caught.value
    assert str(caught.value).endswith("; export it again")


# The zip file


def with_model(packed: bytes, **members: bytes) -> bytes:
    """In which the first model has other members."""
    files = zip_files.unzipped(packed)
    inner = zip_files.unzipped(files["artefacts/model.0.npz"])
    files["artefacts/model.0.npz"] = zip_files.zipped(
        {**inner, **{f"{name}.npy": data for name, data in members.items()}}
    )
    return zip_files.zipped(files)


def stating_inside(packed: bytes) -> bytes:
    files = zip_files.unzipped(packed)
    model = zip_files.stating(files["artefacts/model.0.npz"], "weights.npy", 2**31)
    return zip_files.zipped({**files, "artefacts/model.0.npz": model})


MANY = {f"{number}.csv": b"" for number in range(run_import.MAX_MEMBERS)}
HOSTILE = {
    "a place above": (lambda good: zip_files.added(good, {"../evil": b"x"}), "'../evil' points out of it"),
    "a place from the root": (lambda good: zip_files.added(good, {"/etc/evil": b"x"}), "'/etc/evil' points out of it"),
    "a place of Windows": (lambda good: zip_files.added(good, {"..\\evil": b"x"}), "points out of it"),
    "a drive": (lambda good: zip_files.added(good, {"C:evil": b"x"}), "'C:evil' points out of it"),
    "a link": (lambda good: zip_files.with_link(good, "artefacts/model.9.npz"), "'artefacts/model.9.npz' is a link"),
    "a member twice": (lambda good: zip_files.added(good, {"run.json": b"{}"}), "has the member 'run.json' twice"),
    "an encrypted member": (lambda good: zip_files.encrypted(good, "run.json"), "'run.json' is encrypted"),
    "another compression": (
        lambda good: zip_files.added(good, {"x.csv": b"x"}, zipfile.ZIP_LZMA),
        "'x.csv' is compressed in an unusual way",
    ),
    "too many members": (lambda good: zip_files.added(good, MANY, zipfile.ZIP_STORED), "members, more than 10,100"),
    "a long run.json": (lambda good: zip_files.zipped({"run.json": b" " * (51 << 20)}), "its run.json has 51 MB, more than 50"),
    "a bomb in the zip file": (
        lambda good: zip_files.stating(good, "artefacts/model.0.npz", 2**31),
        "its models and predictions have 2,048 MB, more than 1,024",
    ),
    "a bomb in a table": (
        lambda good: zip_files.stating(zip_files.stating(good, "scores.csv", 2**32 - 1), "times.csv", 2**31),
        "it would take 6,1",
    ),
    "a bomb in a model": (stating_inside, "model.0: the stored model is not a LabSeq model file, or it is damaged: it would "),
    "a header that lies": (
        lambda good: with_model(good, weights=zip_files.npy((2**40,), bytes(80))),
        "weights does not hold an array of the shape (1099511627776,)",
    ),
    "a shape below zero": (lambda good: with_model(good, weights=zip_files.npy((-2, -5), bytes(80))), "of the shape (-2, -5)"),
    "an endless shape of nothing": (lambda good: with_model(good, weights=zip_files.npy((0, 2**70), b"")), "or it is damaged"),
    "objects": (lambda good: with_model(good, weights=zip_files.npy((1,), bytes(8), "|O")), "weights holds object, which"),
    "a member that is no array": (
        lambda good: zip_files.changed(
            good, lambda about, files: files.update({"artefacts/model.0.npz": zip_files.zipped({"evil.py": b"1"})})
        ),
        "its member 'evil.py' is no array",
    ),
    "altered bytes": (
        lambda good: good[: (place := good.index(b"run.json") + 200)] + bytes(50) + good[place + 50 :],
        "is not a run exported by LabSeq, or it is damaged; export",
    ),
    "half a file": (lambda good: good[: len(good) // 2], "is not a run exported by LabSeq, or it is damaged; export"),
    "no run.json": (lambda good: zip_files.zipped({"a": b"b"}), "it has no run.json"),
    "other text": (lambda good: zip_files.zipped({"run.json": b"\xff\xfe{}"}), "or it is damaged; export"),
    "a deep run.json": (lambda good: zip_files.zipped({"run.json": b"[" * 10**6}), "or it is damaged; export"),
    "half a character": (
        lambda good: zip_files.changed(good, lambda about, files: about["tasks"][0].update(label="\ud800")),
        "a text has '\\ud800', which is no character",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_file_is_refused_before_it_is_unpacked(case, packed, tmp_path):
    make, said = HOSTILE[case]
    with pytest.raises(LabSeqError) as caught:
        checked(make(packed), tmp_path)
    assert said in str(caught.value)
    assert not (tmp_path / "evil").exists()


def test_members_that_we_do_not_know_stay_packed(packed, tmp_path):
    more = {
        "__MACOSX/._run.json": b"x",
        "artefacts/model.x.npz": b"x",
        "artefacts/model.007.npz": b"x",
        "notes.txt": b"x",
    }
    found = checked(zip_files.added(packed, more), tmp_path)
    assert sorted(path.name for path in (tmp_path / "unpacked").iterdir()) == sorted(found["artefacts"])


def test_the_importing_process_stays_small(packed):
    """Bombs, each in a process of its own. The first passes all limits of size: 6 MB of JSON become 130 of empty lists."""
    lists = zip_files.zipped({"run.json": b"[" + b"[]," * (2 << 20) + b"[]]"})
    bombs = [lists, *(HOSTILE[case][0](packed) for case in ("a bomb in a model", "a header that lies"))]
    reset_peak()
    before = peak_megabytes()
    for bomb in bombs:
        with pytest.raises(LabSeqError, match=r"^the file (is not a run exported|cannot be imported)"):
            import_run(bomb)
    assert peak_megabytes() - before < 20
    assert list_runs() == []


def test_an_import_that_is_cancelled_leaves_nothing(packed):
    class Cancelled(Exception):
        pass

    def tell(fraction: float, text: str) -> None:
        if fraction > 0.0:
            raise Cancelled

    with pytest.raises(Cancelled):
        import_run(packed, tell)
    assert list_runs() == []


# Models and predictions


def with_options(data: bytes, **options) -> bytes:
    arrays, meta = load_archive(data)
    return archive_bytes(lambda path: save_archive(path, arrays, {**meta, "params": {**meta["params"], **options}}))


def other_fold(data: bytes) -> bytes:
    said = Predictions.from_bytes(data)
    return replace(said, folds=said.folds + 1).to_bytes()


def other_labels(data: bytes) -> bytes:
    said = Predictions.from_bytes(data)
    return replace(said, predicted=said.truth).to_bytes()


def of_other_features() -> bytes:
    return zip_files.unzipped(export_run(trained_here(replace(SMALL, features=FeatureChoice("S1")))))[MODEL]


MODEL, OTHER_MODEL, SAID = (f"artefacts/{name}.npz" for name in ("model.0", "model.3", "predictions.0"))
MIXED_UP = {
    "the model of another method": (
        lambda files: {MODEL: files[OTHER_MODEL]}, "model.0: the model is that of another method, or has other options"),
    "another option": (
        lambda files: {MODEL: with_options(files[MODEL], epochs=3)}, "another method, or has other options"),
    "a value that was not tried": (
        lambda files: {OTHER_MODEL: with_options(files[OTHER_MODEL], smoothing=0.5)}, "or has other options"),
    "other features": (
        lambda files: {MODEL: of_other_features()}, "model.0: the model has other features"),
    "the predictions of another fold": (
        lambda files: {SAID: other_fold(files[SAID])}, "predictions.0: the predictions are those of another fold"),
    "other predictions": (
        lambda files: {SAID: other_labels(files[SAID])}, "the predictions do not give the confusion matrix of the run"),
    "a model of no task": (
        lambda files: {"artefacts/model.99.npz": files[MODEL]}, "model.99: no task of this run has it"),
    "a model of a combination that was beaten": (
        lambda files: {"artefacts/model.1.npz": files[OTHER_MODEL]}, "model.1: no task of this run has it"),
    "predictions of a combination without scores": (
        lambda files: {"artefacts/predictions.1.npz": files[SAID]}, "predictions.1: no task of this run has it"),
    "predictions in place of a model": (
        lambda files: {MODEL: files[SAID]}, "which this version does not know"),
}  # fmt: skip


@pytest.mark.parametrize("case", MIXED_UP)
def test_parts_that_do_not_belong_together_are_refused(case, packed, tmp_path):
    change, said = MIXED_UP[case]
    mixed = zip_files.changed(packed, lambda about, files: files.update(change(files)))
    with pytest.raises(LabSeqError, match=r"^run.zip cannot be imported: ") as caught:
        checked(mixed, tmp_path)
    assert said in str(caught.value)


def test_what_is_not_here_is_told(packed, tmp_path):
    def needs(about: dict, files: dict) -> None:
        about["run"]["config"]["methods"][0] = {"method": "votes", "options": {}}
        about["run"]["versions"] |= {"method votes": "0123456789ab"}

    with pytest.raises(LabSeqError) as caught:
        checked(zip_files.changed(packed, needs), tmp_path)
    said = str(caught.value)
    assert said.startswith("run.zip cannot be imported: there is no method 'votes'; choose from naive-bayes, ")
    assert said.endswith(
        ". It was made with method votes from outside of LabSeq; start with --with and the file that defines it; its tables "
        "can be read without"
    )


def test_a_model_of_a_method_from_outside_is_not_even_loaded(tmp_path, monkeypatch):
    perceptron = METHODS["perceptron"]

    class Own(perceptron.learner):
        """From a file."""

        method_id, title = "own", "Own"

        def _restore(self, loaded):
            raise AssertionError("a stranger's arrays")

    with from_outside(METHODS, replace(perceptron, id="own", title="Own", learner=Own)) as name:
        monkeypatch.setattr(Own, "source", METHODS.source_of(name))
        config = quick(sequences=12, methods=(MethodChoice("own"), MethodChoice("hmm")))
        found = checked(export_run(trained_here(config)), tmp_path)
    assert found["artefacts"] == ["model.1", "predictions.0", "predictions.1", "predictions.2", "predictions.3"]
    assert [row["label"] for row in found["run"]["metrics"]["rows"]] == ["Own", "HMM", "Own", "HMM"]


# What LabSeq has exported itself


def without_the_last_fold(config, row: dict, tasks: list[dict], blobs: dict[str, bytes]) -> None:
    """As if its last method had run out of memory there."""
    last = len(tasks) - 1
    tasks[last] |= {"state": "failed", "outcome": None}
    del blobs[f"predictions.{last}"]
    outcomes = {number: TaskOutcome(task["outcome"]) for number, task in enumerate(tasks[:-1])}
    row["metrics"] = collect(config, outcomes, {last: "there is too little memory for it; take fewer sequences"})


FEW = {"max_iter": 3}
OWN = {
    "kernels and numbers": ExperimentConfig(
        "pitch-accent",
        (MethodChoice("gps", {"kernel": "rbf:8", **FEW}), MethodChoice("hmsvm", {"kernel": "poly:2", **FEW}),
         MethodChoice("hmm"), MethodChoice("naive-bayes"), MethodChoice("boost", {"rounds": 3})),
        FeatureChoice("prosody", window=1), folds=0, sequences=12, calibrate=True, metrics=("log_loss",), seed=3,
    ),
    "searches": quick(
        folds=0, sequences=12,
        methods=(MethodChoice("crf", {"constraints": "bio", **FEW}, {"l2": [0.1, 1.0], "start_stop": [False, True]}),
                 MethodChoice("gps", FEW, {"kernel": ["linear", "poly:2"]})),
    ),
    "a failure": quick(sequences=12, methods=(MethodChoice("hmm"), MethodChoice("perceptron", {"epochs": 2}))),
}  # fmt: skip


@pytest.mark.parametrize("case", OWN)
def test_what_labseq_exports_is_taken_in_as_it_is(case, tmp_path):
    row, tasks, blobs = copy.deepcopy(finished_run(OWN[case]))
    if case == "a failure":
        without_the_last_fold(OWN[case], row, tasks, blobs)
    RunStore().insert(row, tasks, blobs)
    found = checked(export_run(row["id"]), tmp_path)
    assert found["run"]["metrics"] == row["metrics"]
    assert {name: (tmp_path / "unpacked" / name).read_bytes() for name in found["artefacts"]} == blobs
    assert [task["outcome"] for task in found["tasks"]] == [task["outcome"] for task in tasks]
    assert bool(found["run"]["metrics"]["failures"]) == (case == "a failure")
