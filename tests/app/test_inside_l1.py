"""The L1 path beside the weights: of the run if it has one, else of the default result."""

from __future__ import annotations

import json

import pytest

from labseq_core.experiments import ExperimentConfig, FeatureChoice, MethodChoice, model, result
from labseq_core.experiments.results.l1_path import l1_paths
from labseq_core.explain import weight_summary
from tests.app.conftest import problems, text
from tests.experiments.runs import trained_here

DEFAULT = "default:l1-path"


@pytest.fixture
def no_runs(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))


def path_charts(app) -> tuple[list[dict], list[dict]]:
    """Weights left, scores."""
    left, scores = (json.loads(chart.proto.spec)["data"] for chart in app.get("plotly_chart"))
    return left, scores


@pytest.mark.usefixtures("no_runs")
def test_a_run_without_a_path_has_that_of_the_default(open_page):
    app = open_page("inside", weights="L1 path")
    assert problems(app) == []
    assert "the path that comes with LabSeq is shown" in text(app)
    (rows,) = l1_paths(result(DEFAULT)).values()
    (left,), scores = path_charts(app)
    assert left["x"] == [f"{row['l1']:g}" for row in rows]
    assert left["y"] == [row["nonzero"] for row in rows]
    assert [line["name"] for line in scores] == ["accuracy", "F1 of segments"]
    assert scores[0]["y"] == [row["accuracy"] for row in rows]
    assert scores[1]["y"] == [row["span_f1"] for row in rows]
    assert scores[0]["line"]["dash"] != scores[1]["line"]["dash"], "not by colour alone"
    table = app.dataframe[-1].value
    assert table["weights left"].tolist() == [f"{row['nonzero']:,.0f}" for row in rows]
    assert any(button.proto.label == "This path as CSV" for button in app.get("download_button"))


@pytest.mark.usefixtures("no_runs")
def test_ones_own_path_is_shown_with_its_numbers(open_page):
    choices = tuple(MethodChoice("crf", {"l1": l1, "max_iter": 5}) for l1 in (5.0, 0.5))
    run_id = trained_here(ExperimentConfig("toy-pos", choices, FeatureChoice("S1")))
    app = open_page("inside", run=run_id, weights="L1 path")
    assert problems(app) == []
    assert "the path that comes with LabSeq" not in text(app)
    (left,), scores = path_charts(app)
    assert left["x"] == ["0.5", "5"]
    expected = [weight_summary(model(run_id, choice.label))["nonzero"] for choice in choices[::-1]]
    assert left["y"] == pytest.approx(expected)
    assert [line["name"] for line in scores] == ["accuracy"], "parts of speech have no segments"


@pytest.mark.usefixtures("no_runs")
def test_without_any_path_the_view_says_how_to_get_one(open_page, monkeypatch):
    run_id = trained_here(ExperimentConfig("toy-pos", (MethodChoice("hmm"),), FeatureChoice("S1")))
    monkeypatch.setattr("pages.ui.cached.defaults", dict)
    app = open_page("inside", run=run_id, weights="L1 path")
    assert problems(app) == []
    assert "There is no L1 path to show" in text(app)
