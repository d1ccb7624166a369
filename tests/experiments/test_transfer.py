"""Runs that leave one store and come into another."""

import csv
import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from labseq_core.checks import LabSeqError
from labseq_core.experiments import (
    MethodChoice,
    comparisons,
    delete,
    export_run,
    import_run,
    list_runs,
    model,
    pin,
    predictions,
    result,
)
from labseq_core.experiments.results.predictions import Predictions
from labseq_core.experiments.run.one_task import scored_part
from labseq_core.experiments.store.run_archive import everything, run_tables
from tests.experiments.runs import quick, trained_here


@pytest.fixture
def run_id(tmp_path, monkeypatch) -> str:
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "here" / "runs.sqlite"))
    return trained_here(
        quick(methods=(MethodChoice("hmm"), MethodChoice("naive-bayes", {}, {"smoothing": [0.1, 1.0]})))
    )


def test_an_exported_run_is_the_same_elsewhere(run_id, tmp_path, monkeypatch):
    packed, tables, found = export_run(run_id), run_tables(run_id), result(run_id)
    pairs = comparisons(run_id)
    labelled = model(run_id, "HMM").predict(scored_part(found.config))
    (tmp_path / "run.zip").write_bytes(packed)
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "there" / "runs.sqlite"))
    assert import_run(tmp_path / "run.zip") == run_id
    assert result(run_id).csv() == found.csv()
    assert run_tables(run_id) == tables
    assert comparisons(run_id) == pairs
    assert model(run_id, "HMM").predict(scored_part(found.config)) == labelled
    (listed,) = list_runs()
    assert listed.imported
    assert import_run(packed) == run_id, "one that is here already stays"
    delete(run_id)
    assert list_runs() == []


def test_a_run_of_ones_own_is_not_replaced_by_a_file(run_id):
    packed = export_run(run_id)
    pin(run_id)
    (before,) = list_runs()
    assert (before.pinned, before.imported) == (True, False)
    assert import_run(packed) == run_id
    assert list_runs() == [before]


def test_the_tables_say_what_the_run_says(run_id):
    with zipfile.ZipFile(io.BytesIO(export_run(run_id))) as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist() if name.endswith((".csv", ".yaml"))}
    found = result(run_id)
    assert files["config.yaml"] == found.config.to_yaml()
    tables = {name: list(csv.DictReader(io.StringIO(text))) for name, text in files.items() if name.endswith(".csv")}
    assert [float(row["accuracy"]) for row in tables["scores.csv"]] == [row["accuracy"] for row in found.rows]
    said = predictions(run_id, "HMM")
    own = [row for row in tables["predictions.csv"] if row["method"] == "HMM"]
    assert len(own) == len(said.truth)
    right = sum(row["true"] == row["predicted"] for row in own if row["fold"] == "1")
    assert right / found.rows[0]["n_tokens"] == pytest.approx(found.rows[0]["accuracy"], rel=1e-12)
    assert {row["run_id"] for name, rows in tables.items() for row in rows} == {run_id}
    assert len(tables["searches.csv"]) == 4
    assert sum(int(row["tokens"]) for row in tables["confusion.csv"]) == len(tables["predictions.csv"])


def test_every_table_names_run_seed_and_how_scores_are_counted(run_id):
    for text in run_tables(run_id).values():
        for row in csv.DictReader(io.StringIO(text)):
            assert (row["run_id"], row["seed"], row["metric_mode"]) == (run_id, "0", "conlleval")
    for text in run_tables("default:toy-pos").values():
        assert {row["metric_mode"] for row in csv.DictReader(io.StringIO(text))} == {"token"}


def test_everything_of_a_run_is_its_export_and_of_a_default_its_tables(run_id):
    assert everything(run_id) == export_run(run_id)
    with zipfile.ZipFile(io.BytesIO(everything("default:spanish-ner"))) as archive:
        names = archive.namelist()
        tables = {name: archive.read(name).decode() for name in names if name.endswith(".csv")}
        assert "runs import" not in archive.read("README.txt").decode()
        assert archive.read("config.yaml").decode() == result("default:spanish-ner").config.to_yaml()
    assert tables == run_tables("default:spanish-ner")
    assert not any(name.startswith("artefacts/") for name in names)


def test_the_same_run_gives_the_same_file(run_id):
    assert export_run(run_id) == export_run(run_id)


def changed(packed: bytes, change) -> bytes:
    """The file with another run.json, and what `change` adds."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(packed)) as archive, zipfile.ZipFile(out, "w") as fresh:
        files = {name: archive.read(name) for name in archive.namelist()}
        about = json.loads(files["run.json"])
        change(about, files)
        files["run.json"] = json.dumps(about).encode()
        for name, data in files.items():
            fresh.writestr(name, data)
    return out.getvalue()


ODD_PREDICTIONS = replace(
    Predictions.of(0, [["A"]], [["A"]], [np.ones(1)], True), truth=np.array([7], dtype=np.int32)
).to_bytes()
SAID = {
    "a later format": "has format 99",
    "a damaged model": "the stored model is not a LabSeq model file",
    "damaged predictions": r"the stored predictions are damaged: truth is not within 0 \.\. 0; run it again",
    "no method of ours": "the file cannot be imported: there is no method 'other'; choose from",
}
BROKEN = {
    "another configuration": lambda about, files: about["run"]["config"].update(seed=5),
    "a run that is not finished": lambda about, files: about["run"].update(state="running"),
    "no tasks": lambda about, files: about.update(tasks=[]),
    "no numbers": lambda about, files: about["run"].update(metrics=None),
    "no run": lambda about, files: about.pop("run"),
    "a later format": lambda about, files: about.update(labseq_export=99),
    "no method of ours": lambda about, files: about["run"]["config"].update(methods=["other"]),
    "damaged predictions": lambda about, files: files.update({"artefacts/predictions.0.npz": ODD_PREDICTIONS}),
    "a damaged model": lambda about, files: files.update({"artefacts/model.0.npz": b"nonsense"}),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files_are_refused_and_leave_nothing(run_id, case):
    packed = changed(export_run(run_id), BROKEN[case])
    delete(run_id)
    with pytest.raises(LabSeqError, match=SAID.get(case, "is not a run exported by LabSeq")):
        import_run(packed)
    assert list_runs() == []


def test_files_of_other_kinds_are_refused(tmp_path, run_id):
    with pytest.raises(LabSeqError, match=r"there is no file missing\.zip"):
        import_run(tmp_path / "missing.zip")
    for data in (b"", b"PK nonsense", export_run(run_id)[:500]):
        with pytest.raises(LabSeqError, match="is not a run exported by LabSeq"):
            import_run(data)
    with pytest.raises(LabSeqError, match="export a run of your own"):
        export_run("default:spanish-ner")


def test_unknown_entries_of_a_file_are_not_even_read(run_id):
    packed = changed(
        export_run(run_id),
        lambda about, files: files.update(
            {"../../evil.txt": b"x", "artefacts/model.x.npz": b"x", "artefacts/../y": b"x"}
        ),
    )
    delete(run_id)
    assert import_run(packed) == run_id
