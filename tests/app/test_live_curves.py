"""Objective and accuracy of a run by iteration: what is drawn while it trains, and what stays of it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from labseq_core.experiments import ExperimentConfig, MethodChoice, TaskStatus, status
from labseq_core.experiments.store.run_store import RunStore
from pages.ui.train import live_charts
from tests.app.conftest import LONG, problems, run_until
from tests.experiments.runs import trained_here

CRF = TaskStatus(
    "CRF", 0, "running", 0.5, 3, 10.0, ((0, 90.0), (1, 40.0), (2, 20.0), (3, 10.0)), accuracies=((1, 0.5), (3, 0.75))
)
BOOST = TaskStatus("Boosting", 0, "running", 0.1, 200, 1e3, ((1, 1e9), (200, 1e3)))
HMM = TaskStatus("HMM", 0, "done", 1.0, 1, 500.0, ((1, 500.0),), accuracies=((1, 0.9),))


def drawn(app) -> dict[str, list[dict]]:
    """The traces of both charts, by what they say of themselves."""
    charts = {chart.proto.alt.split()[0]: json.loads(chart.proto.spec) for chart in app.get("plotly_chart")}
    return {name: spec["data"] for name, spec in charts.items() if name in ("Objective", "Accuracy")}


def test_each_method_has_a_panel_with_its_name_and_its_own_scale():
    figure = live_charts.objective_curves((CRF, BOOST, HMM))
    assert [note.text for note in figure.layout.annotations] == ["CRF", "Boosting"], "what only counts has no curve"
    crf, boost = figure.data
    assert list(crf.x) == [1, 2, 3], "the start has no place on a log scale"
    assert list(crf.y) == [40.0, 20.0, 10.0]
    assert (figure.layout.yaxis.type, figure.layout.yaxis2.type) == ("linear", "log")
    assert crf.line.dash != boost.line.dash, "colour is not the only cue"
    assert crf.marker.symbol != boost.marker.symbol
    assert live_charts.latest_objectives((CRF, BOOST, HMM)) == "CRF 10, Boosting 1000"


def test_accuracies_share_one_scale():
    figure = live_charts.accuracy_curves((CRF, BOOST, HMM))
    assert [(line.name, list(line.x), list(line.y)) for line in figure.data] == [
        ("CRF", [1, 3], [0.5, 0.75]), ("HMM", [1], [0.9]),
    ]  # fmt: skip
    assert figure.layout.yaxis.title.text == "token accuracy"
    low, high = figure.layout.yaxis.range
    assert 0.5 < low < 0.75, "what lies far below does not squeeze what matters"
    assert 0.9 < high <= 1.01
    assert live_charts.latest_accuracies((CRF, BOOST, HMM)) == "CRF 0.750, HMM 0.900"
    (note,) = live_charts.accuracy_curves((BOOST,)).layout.annotations
    assert note.text == "not measured yet"


def test_what_is_saved_has_every_point_of_both_charts():
    rows = live_charts.curve_rows((CRF, HMM))
    assert [(row["label"], row["iteration"], row["objective"], row["accuracy"]) for row in rows] == [
        ("CRF", 0, 90.0, None), ("CRF", 1, 40.0, 0.5), ("CRF", 2, 20.0, None), ("CRF", 3, 10.0, 0.75), ("HMM", 1, 500.0, 0.9),
    ]  # fmt: skip


def test_nothing_is_drawn_of_a_run_that_only_counts():
    assert not live_charts.iterates((HMM,))
    assert live_charts.iterates((HMM, CRF))


def test_folds_and_values_of_a_search_are_lines_of_one_method():
    tasks = tuple(replace(CRF, fold=fold, point=point) for fold in range(3) for point in range(10))
    for figure, shown in ((live_charts.objective_curves(tasks), 0), (live_charts.accuracy_curves(tasks), 1)):
        assert 1 < len(figure.data) < len(tasks), "of very many lines the newest are drawn"
        assert figure.data[-1].meta == "CRF, fold 3, combination 10"
        assert sum(line.showlegend for line in figure.data) == shown
        assert {line.name for line in figure.data} == {"CRF"}


@pytest.mark.parametrize(("folds", "where"), [(0, "the development part."), (2, "what each fold leaves out.")])
def test_a_finished_run_shows_both_curves(open_page, folds, where):
    config = ExperimentConfig("toy-pos", (MethodChoice("crf"), MethodChoice("perceptron")), folds=folds, sequences=60)
    run_id = trained_here(config)
    points = [[1, 9.0, None], [2, 5.0, 0.6], [3, 4.0, 0.8]]
    changes = {"curve": points, "iteration": 3, "objective": 4.0}
    RunStore().update(run_id, dict.fromkeys(range(len(status(run_id).tasks)), changes), {})
    app = open_page("train", job=run_id)
    assert problems(app) == []
    curves = drawn(app)
    assert {line["name"] for line in curves["Objective"]} == {"CRF", "Averaged perceptron"}
    assert all(line["y"] == [9.0, 5.0, 4.0] for line in curves["Objective"])
    assert all((line["x"], line["y"]) == ([2, 3], [0.6, 0.8]) for line in curves["Accuracy"])
    captions = "\n".join(caption.value for caption in app.caption)
    assert f"Latest: CRF 0.800, Averaged perceptron 0.800. On a sample of {where}" in captions
    assert "Latest: CRF 4, Averaged perceptron 4." in captions
    assert "Objectives and accuracies as CSV" in [button.proto.label for button in app.get("download_button")]


def test_a_run_of_an_earlier_version_shows_its_objectives(open_page):
    config = ExperimentConfig("toy-pos", (MethodChoice("crf"),), sequences=61)
    run_id = trained_here(config)
    RunStore().update(run_id, {0: {"curve": [[1, 9.0], [2, 5.0]]}}, {})
    app = open_page("train", job=run_id)
    assert problems(app) == []
    assert list(drawn(app)) == ["Objective"]


def test_the_curves_grow_while_a_run_trains(open_page):
    app = open_page("train", **LONG)
    next(button for button in app.button if button.label == "Start training").click().run()

    def longest(app, name: str) -> int:
        return max((len(line["x"]) for line in drawn(app).get(name, [])), default=0)

    run_until(app, lambda app: longest(app, "Objective") > 1 and longest(app, "Accuracy") > 0)
    before = {name: longest(app, name) for name in ("Objective", "Accuracy")}
    run_until(app, lambda app: all(longest(app, name) > points for name, points in before.items()))
    assert " at accuracy 0." in next(each.proto.text for each in app.get("progress") if "Training" in each.proto.text)
    next(button for button in app.button if button.label == "Cancel").click().run()
    run_until(app, lambda app: not status(app.query_params["job"]).active)
    app.run()
    assert longest(app, "Accuracy") > before["Accuracy"], "what was reached stays"
