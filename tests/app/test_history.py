"""The history page: runs are found, looked at, compared, kept, taken elsewhere, gone on with and deleted."""

from __future__ import annotations

import csv
import io
import shutil

import pytest

from labseq_core.data.catalogue import _load_upload_once
from labseq_core.data.uploads import store_upload
from labseq_core.experiments import (
    MethodChoice,
    cancel,
    default_results,
    export_run,
    list_runs,
    pin,
    result,
    status,
)
from labseq_core.experiments.store.run_ids import run_id_of
from labseq_core.experiments.store.run_store import RunStore
from pages.ui.history.rows import PER_PAGE, list_csv, scores_csv
from tests.app.conftest import planted, problems, run_until, text
from tests.experiments.runs import quick, trained_here

OURS = len(default_results())
SMALL = b"Ana B-PER\nsleeps O\n\nIn O\nLima B-LOC\n\nIt O\nrains O\n\nEva B-PER\nsings O\n"


@pytest.fixture(autouse=True)
def own_store(tmp_path, monkeypatch):
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))


def listed(app) -> list[str]:
    return app.dataframe[0].value["run"].tolist()


def press(app, label: str):
    return next(button for button in app.button if button.label == label).click().run()


def labels(app) -> list[str]:
    return [button.label for button in app.button]


# The list


def test_with_no_runs_the_results_that_come_with_labseq_are_listed(open_page):
    app = open_page("history")
    assert problems(app) == []
    assert listed(app) == [found.run_id for found in default_results().values()]
    assert set(app.dataframe[0].value["state"]) == {"comes with LabSeq"}
    assert f"No runs of your own, {OURS} results that come with LabSeq" in text(app)


def test_runs_are_listed_with_state_and_best_method(open_page):
    done = trained_here(quick())
    stopped = planted("cancelled", quick(seed=1))
    pin(stopped)
    app = open_page("history")
    rows = app.dataframe[0].value.set_index("run")
    assert list(rows.index)[:2] == [stopped, done]
    assert rows.loc[stopped, "state"] == "cancelled"
    assert rows.loc[stopped, "pinned"] == "★"
    best = max(result(done).summary(), key=lambda row: row["accuracy_mean"])
    assert rows.loc[done, "best method"] == best["label"]
    assert rows.loc[done, "best accuracy"] == best["accuracy_mean"]


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("find", "L2=0.5", ["crf"]),
        ("of", "toy-pos", ["toy"]),
        ("by", "Averaged perceptron", ["plain", "toy"]),
        ("state", "failed", ["plain"]),
        ("state", "interrupted", ["crf"]),
        ("state", "finished", []),
        ("pinned", True, ["toy"]),
    ],
)
def test_every_filter(open_page, key, value, expected):
    app = open_page("history")  # a server's first visitor lets it go on with what was interrupted
    ids = {
        "plain": planted("failed", created=1.0),
        "toy": planted("cancelled", quick(dataset="toy-pos"), created=2.0, pinned=1),
        "crf": planted("running", quick(methods=(MethodChoice("crf", {"l2": 0.5}),)), created=3.0, owner="gone"),
    }
    app.run()
    kind = {"find": app.text_input, "pinned": app.toggle}.get(key, app.selectbox)
    kind(key=key).set_value(value).run()
    assert problems(app) == []
    found = [run_id for run_id in (listed(app) if app.dataframe else []) if not run_id.startswith("default:")]
    assert sorted(found) == sorted(ids[name] for name in expected)


def test_where_nothing_fits_that_is_said(open_page):
    app = open_page("history", find="nowhere to be found")
    assert problems(app) == []
    assert not app.dataframe
    assert "Take a filter away" in text(app)


def test_the_list_has_pages(open_page):
    app = open_page("history")
    n = 2 * PER_PAGE + 10
    ids = [planted("cancelled", created=float(number), id=f"{number:012x}-abcdef") for number in range(n)]
    newest = ids[::-1]
    app.run()
    assert listed(app) == newest[:PER_PAGE]
    app.pagination(key="list").set_value(2).run()
    assert listed(app) == newest[PER_PAGE : 2 * PER_PAGE]
    app.pagination(key="list").set_value(3).run()
    assert listed(app) == newest[2 * PER_PAGE :] + [found.run_id for found in default_results().values()]
    app.text_input(key="find").set_value(ids[5]).run()
    assert listed(app) == [ids[5]], "another filter begins on the first page"
    beyond = open_page("history", list="99")
    assert problems(beyond) == []
    assert listed(beyond) == newest[:PER_PAGE]


def test_the_tables_as_csv(open_page):
    done, stopped = trained_here(quick()), planted("cancelled", quick(seed=3))
    rows = list(csv.DictReader(io.StringIO(list_csv({}))))
    assert [row["run_id"] for row in rows[:2]] == [stopped, done]
    assert len(rows) == 2 + OURS
    assert len(list(csv.DictReader(io.StringIO(list_csv({"state": "cancelled"}))))) == 1
    scores = list(csv.DictReader(io.StringIO(scores_csv([done, "default:parity"]))))
    assert [float(row["accuracy"]) for row in scores if row["run_id"] == done] == [
        row["accuracy"] for row in result(done).rows
    ]
    app = open_page("history")
    assert [button.label for button in app.get("download_button")][:2] == ["List as CSV", "Scores as CSV"]


def test_a_run_of_an_uploaded_file_has_a_short_name_and_outlives_the_file(open_page, tmp_path):
    upload = store_upload(SMALL, "names.conll")
    run_id = planted("cancelled", quick(dataset=upload, folds=0))
    short = f"upload {upload.partition(':')[2][:8]}"
    app = open_page("history", of=short)
    assert listed(app) == [run_id]
    assert app.dataframe[0].value["corpus"].tolist() == [short]
    shutil.rmtree(tmp_path / "uploads")
    _load_upload_once.cache_clear()  # as after a restart
    app = open_page("history", runs=run_id)
    (message,) = problems(app)
    assert "is no longer stored here; upload it again" in message
    press(app, "Delete this run")
    assert list_runs() == []


# One run


def test_a_finished_run_says_what_it_was_and_opens_elsewhere(open_page):
    run_id = trained_here(quick())
    app = open_page("history", runs=run_id)
    assert problems(app) == []
    found = result(run_id)
    assert f"configuration {found.config.hash}, data {found.data_hash}; core " in text(app)
    assert "epochs: 2" in text(app)
    assert app.table[0].value.index.tolist() == ["HMM", "Averaged perceptron"], "what tells them apart"
    for label, page, key in (("Compare", "Compare", "run"), ("Abstain", "Abstain", "run"), ("Inside", "Inside", "run")):
        opened = press(open_page("history", runs=run_id), label)
        assert problems(opened) == []
        assert opened.title[0].value == page
        assert opened.query_params[key] in (run_id, [run_id])


def test_a_default_result_can_be_looked_at_but_not_deleted(open_page):
    app = open_page("history", runs="default:toy-pos")
    assert problems(app) == []
    assert "default:toy-pos, comes with LabSeq" in text(app)
    assert "Delete this run" not in labels(app)


def test_a_run_is_pinned_and_unpinned(open_page):
    run_id = planted("failed", error="it rained")
    app = press(open_page("history", runs=run_id), "Pin")
    assert list_runs(pinned=True)[0].run_id == run_id
    press(app, "Unpin")
    assert list_runs(pinned=True) == []


def test_a_run_is_deleted_when_asked_twice(open_page):
    run_id, other = planted("failed", error="it rained"), planted("cancelled", quick(seed=1))
    app = open_page("history", runs=run_id)
    assert len(list_runs()) == 2
    press(app, "Delete this run")
    assert problems(app) == []
    assert [run.run_id for run in list_runs()] == [other]
    assert "runs" not in app.query_params


def test_what_is_at_work_cannot_be_deleted_but_watched(open_page):
    app = open_page("history")
    from labseq_core.experiments.service import _engine

    run_id = planted("queued", owner=_engine().owner.token)
    app.query_params["runs"] = run_id
    app.run()
    assert problems(app) == []
    assert "Delete this run" not in labels(app)
    press(app, "Watch it on Train")
    assert app.title[0].value == "Train"
    assert app.query_params["job"] in (run_id, [run_id])


@pytest.mark.parametrize(
    ("state", "columns", "expected"),
    [
        ("cancelled", {}, "This run was cancelled. 1 of 4 trainings are finished and kept."),
        ("running", {"owner": "gone"}, "This run was interrupted: the process that ran it has ended. 1 of 4"),
        ("failed", {"error": "there is too little memory"}, "There is too little memory. 1 of 4 trainings"),
    ],
)
def test_why_a_run_has_no_numbers(open_page, state, columns, expected):
    app = open_page("history")
    run_id = planted(state, done=1, **columns)
    app.query_params["runs"] = run_id
    app.run()
    said = [*(each.value for each in app.warning), *(each.value for each in app.error)]
    assert [words for words in said if expected in words], said
    assert "Go on" in labels(app)


def test_a_cancelled_run_goes_on(open_page):
    run_id = planted("cancelled", quick(methods=(MethodChoice("hmm"),)))
    app = press(open_page("history", runs=run_id), "Go on")
    assert app.title[0].value == "Train"
    assert app.query_params["job"] in (run_id, [run_id])
    run_until(app, lambda app: status(run_id).state == "done")


def test_a_run_of_an_older_labseq_begins_anew(open_page):
    run_id = planted("cancelled", id=f"{quick().hash}-000000", versions={"core": "older"})
    app = open_page("history", runs=run_id)
    (button,) = [button for button in app.button if button.label == "Go on"]
    assert "run again from the beginning, under another id" in button.proto.help
    button.click().run()
    (job,) = [app.query_params["job"]] if isinstance(app.query_params["job"], str) else app.query_params["job"]
    assert job == run_id_of(quick()) != run_id
    cancel(job)
    run_until(app, lambda app: not status(job).active)


def test_methods_that_failed_are_named_with_their_error(open_page):
    run_id = trained_here(quick())
    store = RunStore()
    metrics = store.get(run_id)["metrics"]
    store.mark(run_id, metrics={**metrics, "failures": [{"label": "HM-SVM", "fold": 0, "error": "too little memory"}]})
    for page, parameters in (("history", {"runs": run_id}), ("compare", {"run": run_id}), ("train", {"job": run_id})):
        import streamlit as st

        st.cache_resource.clear()  # results do not change, so they are kept
        app = open_page(page, **parameters)
        assert problems(app) == []
        assert ["**HM-SVM**: too little memory" in each.value for each in app.warning] == [True], page


# Two runs


def test_two_runs_are_compared_in_what_differs(open_page):
    first = trained_here(quick())
    second = trained_here(quick(seed=1, methods=(MethodChoice("hmm"), MethodChoice("perceptron", {"epochs": 3}))))
    app = open_page("history", runs=f"{first},{second}")
    assert problems(app) == []
    chosen, scores = (table.value for table in app.dataframe[1:3])
    assert chosen.to_numpy().tolist() == [
        ["seed", "0", "1"],
        ["Averaged perceptron", "epochs=2", "epochs=3"],
        ["Averaged perceptron: epochs", "2", "3"],
        ["Averaged perceptron: seed", "0", "1"],
    ]
    (row,) = scores[(scores["method"] == "HMM") & (scores["score"] == "Token accuracy")].to_dict("records")
    means = [result(run_id).summary()[0]["accuracy_mean"] for run_id in (first, second)]
    assert [row["first"], row["second"]] == [f"{mean:.4f}" for mean in means]
    assert row["change"] == f"{means[1] - means[0]:+.4f}"
    app.toggle(key="differences").set_value(False).run()
    assert len(app.dataframe[1].value) > len(chosen)
    press(app, "Delete these 2 runs")
    assert list_runs() == []


def test_two_runs_of_which_one_is_not_finished(open_page):
    app = open_page("history", runs=f"default:toy-pos,{planted('cancelled')}")
    assert problems(app) == []
    assert "The second run is not finished" in text(app)
    app = open_page("history", runs=f"{planted('cancelled')},{planted('failed', quick(seed=9))}")
    assert "Neither run is finished" in text(app)


def test_a_run_beside_itself_has_no_differences(open_page):
    app = open_page("history", runs="default:toy-pos,default:toy-pos")
    assert problems(app) == []
    assert "Nothing differs" in text(app)


def test_many_chosen_runs_can_be_deleted_together(open_page):
    ids = [planted("cancelled", quick(seed=seed)) for seed in range(3)]
    app = open_page("history", runs=",".join(ids))
    assert "3 runs are chosen" in text(app)
    press(app, "Delete these 3 runs")
    assert list_runs() == []


def test_an_unknown_run_in_the_url_is_told(open_page):
    app = open_page("history", runs="20000101-abcdef")
    (message,) = problems(app)
    assert "there is no run '20000101-abcdef'" in message
    press(app, "Choose none")
    assert problems(app) == []


# Export and import


def imported(app, name: str, data: bytes):
    app.file_uploader(key="import.file").set_value((name, data, "application/zip"))
    return press(app, "Import")


def test_an_exported_run_is_imported(open_page, tmp_path, monkeypatch):
    run_id = trained_here(quick())
    packed, found = export_run(run_id), result(run_id)
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "elsewhere" / "runs.sqlite"))
    app = imported(open_page("history"), "run.zip", packed)
    assert problems(app) == []
    assert [each.value for each in app.success] == [f"Run {run_id} is in the list now."]
    assert app.dataframe[0].value["state"].tolist()[0] == "finished, imported, not recomputed"
    assert [row["accuracy"] for row in result(run_id).rows] == [row["accuracy"] for row in found.rows]
    press(app, "Delete this run")
    app.run()
    assert list_runs() == [], "the file is not imported again by itself"


def test_what_is_not_an_exported_run_is_refused(open_page):
    app = imported(open_page("history"), "run.zip", b"no zip file")
    (message,) = problems(app)
    assert "is not a run exported by LabSeq, or it is damaged; export it again" in message
    assert [each.label for each in app.button if each.label == "Cancel"] == [], "there is nothing to cancel any more"
    assert list_runs() == []


def test_importing_without_a_file_is_told(open_page):
    app = press(open_page("history"), "Import")
    assert problems(app) == ["Choose a file first."]
