"""Runs in real processes, with a real store: progress, cancel, memory of what was done."""

import csv
import io
import json
import time

import pytest

from labseq_core.checks import LabSeqError
from labseq_core.evaluation import evaluate
from labseq_core.experiments import (
    FeatureChoice,
    MethodChoice,
    Predictions,
    cancel,
    comparisons,
    delete,
    list_runs,
    model,
    pin,
    predictions,
    result,
    resume,
    status,
    submit,
)
from labseq_core.experiments.plan.tasks import tasks_of
from labseq_core.experiments.run.executors.local import LocalProcesses
from labseq_core.experiments.run.one_task import scored_part
from labseq_core.experiments.service import close_engines
from labseq_core.experiments.store.owners import owners_directory
from labseq_core.experiments.store.run_store import RunStore
from tests.experiments.runs import at_work, development_part, endless, finished, outcomes_here, quick, wait

PERCEPTRON = "Averaged perceptron (epochs=2)"


@pytest.fixture(autouse=True)
def own_store(tmp_path, monkeypatch):
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))
    yield
    close_engines()


def test_a_run_from_submission_to_table():
    config = quick()
    run_id = submit(config)
    seen = wait(run_id, finished)
    assert seen[-1].state == "done", seen[-1].error
    assert seen[0].state in ("queued", "running")
    fractions = [now.fraction for now in seen]
    assert fractions == sorted(fractions)
    assert [(task.label, task.fold) for task in seen[-1].tasks] == [(t.label, t.fold) for t in tasks_of(config)]
    assert all(task.state == "done" and task.curve for task in seen[-1].tasks)

    found, direct = result(run_id), outcomes_here(config)
    assert found.config == config
    assert [row["accuracy"] for row in found.rows] == [one.row["accuracy"] for one in direct.values()]
    parts = [Predictions.from_bytes(one.blobs["predictions"]) for one in direct.values() if one.row["label"] == "HMM"]
    said = predictions(run_id, "HMM")
    assert said.labellings("predicted") == [row for part in parts for row in part.labellings("predicted")]
    truth = [row for fold in range(2) for row in scored_part(config, fold).labels]
    assert said.labellings("truth") == truth
    pooled = evaluate(truth, said.labellings("predicted"))
    assert found.confusion["HMM"]["counts"] == pooled.confusion.counts.tolist()
    assert [row["f1"] for row in found.per_label["HMM"]] == [score.f1 for score in pooled.per_label]
    assert found.examples[0]["predictions"]["HMM"] == said.labellings("predicted")[0]
    kept = model(run_id, PERCEPTRON)
    assert kept.predict(scored_part(config)) == predictions(run_id, PERCEPTRON).labellings("predicted")[:200]
    for ask in (model, predictions):
        with pytest.raises(LabSeqError, match="'CRF'"):
            ask(run_id, "CRF")
    values = [row["span_f1"] for row in found.rows if row["label"] == "HMM"]
    summary = found.summary()[0]
    assert summary["span_f1_mean"] == pytest.approx(sum(values) / 2, rel=1e-12)
    assert summary["span_f1_se"] == pytest.approx(abs(values[0] - values[1]) / 2, rel=1e-12)

    table = list(csv.DictReader(io.StringIO(found.csv())))
    assert [float(row["accuracy"]) for row in table] == [row["accuracy"] for row in found.rows]
    assert {row["run_id"] for row in table} == {run_id}
    assert {row["config_hash"] for row in table} == {config.hash}
    assert not any("seconds" in name for name in table[0])
    times = list(csv.DictReader(io.StringIO(found.times_csv())))
    assert [float(row["train_seconds"]) for row in times] == [row["train_seconds"] for row in found.rows]
    assert all(float(row["peak_megabytes"]) > 10 for row in times)
    listed = [(run.run_id, run.state, run.labels) for run in list_runs()]
    assert listed == [(run_id, "done", ("HMM", PERCEPTRON))]

    assert submit(quick()) == run_id, "the same question is answered from the store"
    assert status(run_id).state == "done"
    assert submit(quick(seed=1)) != run_id


def test_rows_of_methods_with_and_without_probabilities():
    run_id = submit(quick(folds=0))
    wait(run_id, finished)
    counted, scored = result(run_id).rows
    for name in ("log_loss", "brier", "ece"):
        assert counted[name] > 0.0
        assert scored[name] is None
    assert counted["aurc"] > 0.0
    assert scored["aurc"] > 0.0
    said = predictions(run_id, "HMM")
    assert said.abstention().aurc == pytest.approx(counted["aurc"], rel=1e-12)
    bins = said.reliability()
    ece = sum(row.tokens * abs(row.accuracy - row.confidence) for row in bins if row.tokens) / len(said.truth)
    assert ece == pytest.approx(counted["ece"], rel=1e-9)
    with pytest.raises(LabSeqError, match="no probabilities"):
        predictions(run_id, PERCEPTRON).reliability()


def test_calibrated_scores_are_probabilities():
    run_id = submit(quick(folds=0, calibrate=True))
    wait(run_id, finished)
    for row in result(run_id).rows:
        assert row["temperature"] > 0.0
        assert 0.0 < row["log_loss"] < 1.0
        assert predictions(run_id, row["label"]).probability


def test_methods_are_compared_over_sequences():
    run_id = submit(quick())
    wait(run_id, finished)
    (pair,) = comparisons(run_id, "span_f1")
    rows = {row["label"]: row for row in result(run_id).summary()}
    assert (pair["method_a"], pair["method_b"]) == ("HMM", PERCEPTRON)
    assert pair["difference"] < 0.0
    assert rows["HMM"]["span_f1_mean"] < rows[PERCEPTRON]["span_f1_mean"]
    assert pair["low"] <= pair["difference"] <= pair["high"]
    assert 0.0 < pair["p"] <= pair["p_holm"] <= 1.0


def test_a_search_is_many_tasks_and_gives_what_a_search_gives():
    from labseq_core import CRF
    from labseq_core.experiments.run.one_task import training_data
    from labseq_core.learners.search import search

    choice = MethodChoice("crf", {"max_iter": 20}, {"l2": [0.1, 30.0], "start_stop": [False, True]})
    for folds in (0, 2):
        config = quick(methods=(choice,), folds=folds)
        run_id = submit(config)
        assert wait(run_id, finished)[-1].state == "done"
        assert len(status(run_id).tasks) == (10 if folds else 4)
        rows = result(run_id).rows
        assert [row["fold"] for row in rows] == list(range(folds or 1))
        X, y = training_data(config, choice.label)
        grid = {"l2": [0.1, 30.0], "start_stop": [False, True]}
        dev = None if folds else development_part(config)
        direct = search(CRF(max_iter=20), grid, X, y, dev=dev)
        tried = [row for row in result(run_id).searches if row["fold"] == 0]
        assert [row["score"] for row in tried] == [row["score"] for row in direct.table]
        assert json.loads(rows[0]["options"]) == {"max_iter": 20, **direct.best}
        assert model(run_id, choice.label).predict(X) == direct.learner.predict(X)
        assert rows[0]["train_seconds"] > sum(row["seconds"] for row in tried) * 0.9


def test_cancel_stops_a_running_and_a_waiting_run(monkeypatch):
    monkeypatch.setattr(LocalProcesses, "capacity", lambda self: 1)  # however many cores there are
    running, waiting = submit(endless()), submit(quick(seed=7))
    wait(running, at_work)
    assert status(waiting).queue_position == 1
    assert status(waiting).message == "waiting, place 1 in the queue"
    cancel(waiting)
    cancel(running)
    began = time.monotonic()
    assert wait(running, finished)[-1].state == "cancelled"
    assert time.monotonic() - began < 10.0
    assert wait(waiting, finished)[-1].state == "cancelled"
    with pytest.raises(LabSeqError, match="is cancelled; it has no result"):
        result(running)
    after = submit(quick())
    assert wait(after, finished)[-1].state == "done", "the queue goes on after a cancel"
    cancel(after)
    assert status(after).state == "done"
    assert resume(waiting) == waiting
    assert wait(waiting, finished)[-1].state == "done"


def test_cancel_at_any_moment_of_the_start():
    """Queued, being started, compiling, training: a cancel is never lost."""
    for seed, delay in enumerate((0.0, 0.002, 0.01, 0.05, 0.3)):
        run_id = submit(endless(seed=seed))
        time.sleep(delay)
        cancel(run_id)
        assert wait(run_id, finished)[-1].state == "cancelled", delay


def test_a_run_that_is_asked_for_while_it_is_being_cancelled_begins_again_with_what_it_had_finished():
    methods = (MethodChoice("hmm"), *endless().methods)
    run_id = submit(quick(methods=methods, folds=0))
    wait(run_id, at_work)
    cancel(run_id)
    assert status(run_id).active, "it has not ended yet"
    assert resume(run_id) == run_id
    assert RunStore().get(run_id)["attempts"] == 2
    now = wait(run_id, at_work)[-1]
    assert now.tasks[0].state == "done"
    assert not RunStore().get(run_id)["cancelling"]
    close_engines()
    assert status(run_id).state == "dead", "nobody is at work on it any more"
    assert status(run_id).tasks[0].state == "done"
    assert list(owners_directory(RunStore().path).iterdir()) == []


def test_a_method_that_cannot_be_trained_does_not_take_the_others_with_it():
    wrong = submit(quick(features=FeatureChoice("custom", columns=("nonsense",))))
    now = wait(wrong, finished)[-1]
    assert now.state == "failed"
    assert "no column 'nonsense'" in now.error

    hard = MethodChoice("gps", {"kernel": "rbf:1", "route": "gram", "memory": 0.001})
    run_id = submit(quick(methods=(MethodChoice("hmm"), hard)))
    now = wait(run_id, finished)[-1]
    assert now.state == "done"
    assert {task.label: task.state for task in now.tasks} == {"HMM": "done", hard.label: "failed"}
    found = result(run_id)
    assert {row["label"] for row in found.rows} == {"HMM"}
    (failure,) = found.failures
    assert failure["label"] == hard.label
    assert "memory" in failure["error"]
    submit(found.config)
    now = wait(run_id, finished)[-1]
    assert now.state == "done"
    assert RunStore().get(run_id)["attempts"] == 2, "asked for again, the method is tried again"


def test_runs_are_pinned_found_and_deleted():
    first, second = submit(quick(folds=0)), submit(quick(folds=0, dataset="toy-pos"))
    for run_id in (first, second):
        wait(run_id, finished)
    pin(first)
    assert [run.run_id for run in list_runs(pinned=True)] == [first]
    assert [run.run_id for run in list_runs(dataset="toy-pos")] == [second]
    assert [run.run_id for run in list_runs(method="hmm", limit=1)] == [second]
    assert [run.run_id for run in list_runs(method="hmm", limit=1, skip=1)] == [first]
    assert list_runs(method="hm") == []
    assert [run.run_id for run in list_runs(text="SPANISH")] == [first]
    assert list_runs(state="failed") == []
    pin(first, False)
    assert list_runs(pinned=True) == []
    delete(first)
    assert [run.run_id for run in list_runs()] == [second]
    with pytest.raises(LabSeqError, match="there is no run"):
        result(first)
    busy = submit(endless())
    wait(busy, at_work)
    with pytest.raises(LabSeqError, match="cancel it first"):
        delete(busy)
    cancel(busy)
    wait(busy, finished)


def test_unknown_runs_are_named():
    for ask in (status, result, cancel, delete, resume, pin):
        with pytest.raises(LabSeqError, match="there is no run 'nobody'"):
            ask("nobody")
    with pytest.raises(LabSeqError, match="there is no default result 'nobody'"):
        result("default:nobody")


def test_the_same_configuration_gives_the_same_bytes(tmp_path, monkeypatch):
    tables = []
    for place in ("one", "two"):
        monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / place / "runs.sqlite"))
        run_id = submit(quick(methods=(MethodChoice("crf"), MethodChoice("perceptron"), MethodChoice("hmsvm"))))
        wait(run_id, finished)
        tables.append(result(run_id).csv().encode())
    assert tables[0] == tables[1]
