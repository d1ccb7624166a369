"""A run that is submitted again keeps its id and gets new numbers: pages show the new ones. And finished runs are found
however many others are newer.
"""

from __future__ import annotations

import ast
import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st

from labseq_core.evaluation import AbstentionCurve
from labseq_core.experiments import ExperimentConfig, FeatureChoice, MethodChoice, predictions, result
from labseq_core.experiments.results.learning_curve import learning_curve_configs
from labseq_core.experiments.store.run_store import RunStore
from labseq_core.learners.crf import CRF
from labseq_core.serving.settings import app_path
from pages.ui import cached as caching
from tests.app.conftest import planted, problems, text
from tests.experiments.runs import finished_run, quick, trained_here

CONFIG = ExperimentConfig("toy-pos", (MethodChoice("hmm"), MethodChoice("crf", {"max_iter": 5})), FeatureChoice("S1"))
FEW = 10  # training sequences of the run that comes in its place
EARLY, LATE = 1_000_000.0, 2_000_000.0
# Where numbers of the run stand.
VIEWS = [
    ("compare", {"view": "Scores"}), ("compare", {"view": "Measures"}), ("compare", {"view": "Significance"}),
    ("compare", {"view": "Labels"}), ("compare", {"view": "Sentences", "differ": "false"}),
    ("abstain", {}), ("abstain", {"below": "Reliability"}), ("inside", {"tab": "Weights"}), ("inside", {"tab": "Margins"}),
    ("sequence", {}), ("sequence", {"show": "Why this label"}), ("history", {}),
]  # fmt: skip


@pytest.fixture
def own_store(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))


def put(config: ExperimentConfig, finished: float, trained_as: ExperimentConfig | None = None) -> str:
    """A finished run in the store, with the numbers of another configuration if that is given; one before it is replaced."""
    own, (row, tasks, blobs) = finished_run(config)[0], finished_run(trained_as or config)
    RunStore().insert({**own, "metrics": row["metrics"], "finished": finished}, tasks, blobs)
    return own["id"]


@pytest.fixture
def saved(monkeypatch) -> dict:
    """What the buttons of the page save, by the name of the file."""
    files, offered = {}, st.download_button

    def offer(label, data, file_name, *more, **named):
        files[file_name] = data
        return offered(label, data, file_name, *more, **named)

    monkeypatch.setattr(st, "download_button", offer)
    return files


def shown(app, files: dict) -> dict:
    """Everything on a page that has numbers."""
    assert problems(app) == []
    return {
        "tables": [table.value.to_csv() for table in (*app.table, *app.dataframe)],
        "charts": [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")],
        "texts": text(app),
        "files": {name: data() if callable(data) else data for name, data in files.items() if name.endswith(".csv")},
    }


@pytest.mark.usefixtures("own_store")
@pytest.mark.parametrize("view", VIEWS, ids=lambda view: " ".join([view[0], *view[1].values()]))
def test_new_numbers_under_the_same_id_are_shown(open_page, saved, view):
    page, choices = view
    run_id = put(CONFIG, EARLY)
    choices = {"runs" if page == "history" else "run": run_id, **choices}
    before = shown(open_page(page, **choices), saved)
    assert put(CONFIG, LATE, replace(CONFIG, sequences=FEW)) == run_id
    saved.clear()
    after = shown(open_page(page, **choices), saved)
    saved.clear()
    st.cache_data.clear()
    st.cache_resource.clear()
    assert shown(open_page(page, **choices), saved) == after, "as a server says that has just been started"
    changed = {kind for kind in after if after[kind] != before[kind]}
    assert changed >= {kind for kind in ("tables", "charts", "files") if after[kind]} - _same(page, choices)


def _same(page: str, choices: dict) -> set[str]:
    """What a page shows that does not depend on the numbers of the run."""
    return {"tables"} if page == "sequence" else set()


@pytest.mark.usefixtures("own_store")
def test_scores_confusion_and_abstention_are_those_of_the_store(open_page, saved):
    run_id = put(CONFIG, EARLY)
    old = result(run_id)
    old_risk = kept_curve(run_id, list(old.per_label)[-1]).risk.tolist()
    for page, view in (("compare", "Scores"), ("compare", "Labels"), ("abstain", "")):
        open_page(page, run=run_id, view=view, method=list(old.per_label)[-1])
    put(CONFIG, LATE, replace(CONFIG, sequences=FEW))
    new, label = result(run_id), list(old.per_label)[-1]
    assert new.confusion[label] != old.confusion[label]
    app = open_page("compare", run=run_id, view="Scores")
    means = {row["label"]: row["accuracy_mean"] for row in new.summary()}
    bars = json.loads(app.get("plotly_chart")[0].proto.spec)["data"]
    assert {trace["name"]: trace["y"][0] for trace in bars} == means
    assert all(app.table[0].value.loc[each, "Token accuracy"] == f"{mean:.4f}" for each, mean in means.items())
    assert saved[next(name for name in saved if "scores" in name)] == new.csv()
    app = open_page("compare", run=run_id, view="Labels", method=label)
    drawn = {chart.proto.id.rpartition("chart.")[2]: json.loads(chart.proto.spec) for chart in app.get("plotly_chart")}
    assert drawn["confusion"]["data"][0]["customdata"] == new.confusion[label]["counts"]
    risks = [
        curve.risk.tolist()
        for curve in (caching.abstention(caching.finished(run_id), label), kept_curve(run_id, label))
    ]
    assert risks[0] == risks[1] != old_risk


def kept_curve(run_id: str, label: str) -> AbstentionCurve:
    """By what the store has."""
    return predictions(run_id, label).abstention()


@pytest.mark.usefixtures("own_store")
def test_a_learning_curve_follows_each_of_its_runs(open_page):
    config = replace(CONFIG, methods=(MethodChoice("hmm"),))
    sizes = learning_curve_configs(config)
    run_id = [put(each, EARLY) for each in sizes][-1]
    before = open_page("compare", run=run_id, view="Learning curve").table[0].value.iloc[0].tolist()
    put(sizes[1], LATE, sizes[-1])
    after = open_page("compare", run=run_id, view="Learning curve").table[0].value.iloc[0].tolist()
    assert [place for place, (old, new) in enumerate(zip(before, after, strict=True)) if old != new] == [1]
    assert after[1] == after[-1]


@pytest.mark.usefixtures("own_store")
def test_a_run_that_is_trained_again_has_no_result_meanwhile(open_page):
    run_id = put(CONFIG, EARLY)
    assert problems(open_page("compare", run=run_id)) == []
    RunStore().mark(run_id, state="cancelled")
    (message,) = problems(open_page("compare", run=run_id))
    assert "is cancelled; it has no result yet" in message


def test_no_memory_of_pages_is_keyed_by_the_id_of_a_run_alone():
    """A parameter that is a run's id is not enough of a key: cached functions take the run."""
    found = []
    for path in sorted(Path(app_path()).parent.joinpath("pages").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            cached = isinstance(node, ast.FunctionDef) and any("cache" in ast.unparse(d) for d in node.decorator_list)
            names = {arg.arg for arg in node.args.args} if cached else set()
            if names & {"run_id", "run_ids", "ids"} and "finish" not in names:
                found.append(f"{path.name}: {node.name}")
    assert found == []


# Finished runs among many others


@pytest.mark.usefixtures("own_store")
@pytest.mark.parametrize("state", ["cancelled", "failed"])
def test_a_finished_run_is_offered_however_many_others_are_newer(open_page, state):
    run_id, now = trained_here(CONFIG), time.time()
    for number in range(150):
        planted(state, quick(seed=number), id=f"{number:012d}-aaaaaa", created=now + 1 + number)
    app = open_page("compare")
    assert problems(app) == []
    assert app.selectbox(key="run").value == run_id, "the newest finished one"
    for page in ("compare", "abstain", "sequence", "inside"):
        app = open_page(page, run=run_id)
        assert problems(app) == []
        (line,) = [line for line in app.selectbox(key="run").options if run_id in line]
        assert line.startswith("toy-pos: HMM, CRF"), "told by what it is, not by its id alone"
    app = open_page("inside", run=run_id, tab="GPSC")
    assert any("toy-pos: HMM, CRF" in each.value for each in app.info), "what is said of a run that cannot be shown"
    assert any("toy-pos: HMM, CRF" in each.value for each in open_page("train", job=run_id).caption)


@pytest.mark.usefixtures("own_store")
def test_a_run_of_a_rare_method_is_offered_among_many_finished_ones(open_page):
    run_id, row = trained_here(CONFIG), finished_run(CONFIG)[0]
    hmm = replace(CONFIG, methods=(MethodChoice("hmm"),))
    for number in range(caching.RUNS_OFFERED + 5):
        planted("done", hmm, id=f"{number:012d}-bbbbbb", created=time.time() + 1 + number, metrics=row["metrics"])
    offered = open_page("compare").selectbox(key="run").options
    assert not any(run_id in line for line in offered)
    assert run_id in caching.finished_runs(lambda learner: learner is CRF)
    told = [each.value for each in open_page("compare").caption]
    assert any(f"The list has the newest {caching.RUNS_OFFERED} finished runs" in each for each in told)
