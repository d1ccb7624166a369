"""Runs that leave one store and come into another."""

import csv
import io
import zipfile

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
    submit,
)
from labseq_core.experiments.results.run_results import IMPORTED
from labseq_core.experiments.run.one_task import scored_part
from labseq_core.experiments.store.run_archive import everything, run_tables
from labseq_core.experiments.store.run_store import run_store
from tests.experiments import zip_files
from tests.experiments.runs import finished, quick, trained_here, wait


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
    assert unmarked(result(run_id).csv()) == rows_of(found.csv())
    assert {name: unmarked(text) for name, text in run_tables(run_id).items()} == {
        name: rows_of(text) for name, text in tables.items()
    }
    assert comparisons(run_id) == pairs
    assert model(run_id, "HMM").predict(scored_part(found.config)) == labelled
    (listed,) = list_runs()
    assert listed.imported
    assert f"This run was {IMPORTED}" in zip_files.unzipped(export_run(run_id))["README.txt"].decode()
    assert import_run(packed) == run_id, "one that is here already stays"
    delete(run_id)
    assert list_runs() == []


def rows_of(text: str) -> list[dict]:
    return list(csv.DictReader(io.StringIO(text)))


def unmarked(text: str) -> list[dict]:
    """The rows of a table without the mark that each of them has."""
    rows = rows_of(text)
    assert {row.pop("imported") for row in rows} == {IMPORTED}
    return rows


def test_who_asks_for_a_run_that_was_imported_gets_one_that_was_trained(tmp_path, monkeypatch):
    config = quick(folds=0, sequences=12, methods=(MethodChoice("hmm"),))
    run_id = trained_here(config)
    packed, csv_text = export_run(run_id), result(run_id).csv()
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "there.sqlite"))
    import_run(packed)
    run_store().mark(run_id, metrics={**run_store().get(run_id)["metrics"], "rows": []})  # as a stranger might have it
    assert submit(config) == run_id
    wait(run_id, finished)
    assert not result(run_id).imported
    assert result(run_id).csv() == csv_text


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


def test_files_of_other_kinds_are_refused(tmp_path, run_id):
    with pytest.raises(LabSeqError, match=r"there is no file missing\.zip"):
        import_run(tmp_path / "missing.zip")
    with pytest.raises(
        LabSeqError, match="the file is not a run exported by LabSeq, or it is damaged; export it again"
    ):
        import_run(b"PK nonsense")
    with pytest.raises(LabSeqError, match="export a run of your own"):
        export_run("default:spanish-ner")
