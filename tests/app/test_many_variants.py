"""A run of twelve variants stays readable: names are whole and unique, looks differ, and lists are not endless."""

from __future__ import annotations

import json

import plotly.graph_objects as go
import pytest

from labseq_core.experiments import ExperimentConfig, FeatureChoice, MethodChoice, result
from pages.ui.choices.variant_names import short_names
from pages.ui.drawing import charts
from pages.ui.drawing.chart_margins import FEW, with_room
from pages.ui.drawing.colours import look
from tests.app.conftest import problems, text
from tests.experiments.runs import trained_here

VARIANTS = tuple(
    MethodChoice("crf", {"l2": l2, "max_iter": 10}, decode=decode)
    for l2 in (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
    for decode in ("", "posterior")
)
NAMES = [f"l2={l2}, {decode}" for l2 in ("0.03", "0.1", "0.3", "1", "3", "10") for decode in ("viterbi", "posterior")]
PAIRS = len(VARIANTS) * (len(VARIANTS) - 1) // 2


@pytest.fixture
def run_id(monkeypatch, tmp_path) -> str:
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))
    return trained_here(ExperimentConfig("toy-pos", VARIANTS, FeatureChoice("S3"), sequences=60))


def figures(app) -> dict[str, dict]:
    return {each.proto.id.rpartition("chart.")[2]: json.loads(each.proto.spec) for each in app.get("plotly_chart")}


def test_short_names_and_looks_are_unique():
    assert list(short_names(VARIANTS).values()) == NAMES
    looks = [look(place) for place in range(64)]
    assert len({(own.colour, own.marker) for own in looks}) == len({(own.colour, own.dash) for own in looks}) == 64
    assert len({(own.colour, own.pattern) for own in looks}) == 64


def test_scores_stand_below_one_another_with_their_names(open_page, run_id):
    app, run = open_page("compare", run=run_id), result(run_id)
    assert problems(app) == []
    figure = figures(app)["scores"]
    accuracy, sequences = figure["data"]
    assert [accuracy["name"], sequences["name"]] == ["Token accuracy", "Whole sequences"]
    assert accuracy["x"] == [row["accuracy_mean"] for row in run.summary()]
    assert [name.replace("<br>", "") for name in accuracy["y"]] == [choice.label for choice in VARIANTS]
    assert max(len(line) for name in accuracy["y"] for line in name.split("<br>")) <= 24, "a narrow screen has room"
    lines = [shape["x0"] for shape in figure["layout"]["shapes"]]
    assert len(lines) == 2, "Bayes by Viterbi and by posterior"
    assert figure["layout"]["height"] >= 30 * len(VARIANTS)


def test_measures_have_a_row_for_each(open_page, run_id):
    app = open_page("compare", run=run_id, view="Measures")
    assert problems(app) == []
    assert list(app.table[0].value.index) == NAMES


def test_pairs_with_the_best_come_first(open_page, run_id):
    app, run = open_page("compare", run=run_id, view="Significance"), result(run_id)
    assert problems(app) == []
    best = short_names(VARIANTS)[max(run.summary(), key=lambda row: row["accuracy_mean"])["label"]]
    assert f"The best is {best}. p values are corrected for all {PAIRS} pairs" in text(app)
    shown = list(app.table[0].value.index)
    assert len(shown) == len(VARIANTS) - 1
    assert all(best in pair.split(" against ") for pair in shown)
    app.segmented_control(key="pairs").set_value("All pairs").run()
    assert problems(app) == []
    assert len(app.table[0].value) == PAIRS


@pytest.mark.parametrize(
    ("page", "choices"), [("compare", {"view": "Sparsity"}), ("compare", {"view": "Labels"}), ("abstain", {})]
)
def test_a_legend_has_room_above_the_chart(open_page, run_id, page, choices):
    app = open_page(page, run=run_id, **choices)
    assert problems(app) == []
    figure = next(iter(figures(app).values()))
    named = [trace["name"] for trace in figure["data"] if trace.get("showlegend") is not False]
    assert [name.replace("<br>", "") for name in named] == NAMES
    # In one column on a narrow screen; plotly gives a legend half of the chart, and lets it scroll if that is not enough.
    assert figure["layout"]["height"] / 2 >= 19 * len(named)


def test_few_variants_have_the_height_they_had():
    for count in (FEW, FEW + 1):
        traces = [go.Scatter(x=[1], y=[1], name=str(number)) for number in range(count)]
        made = with_room(go.Figure(traces, {"height": 400}))
        assert made.layout.height == (400 if count == FEW else 400 + 19 * count)
    unknown = dict.fromkeys(("span_f1_mean", "span_f1_se", "sequence_accuracy_mean", "sequence_accuracy_se"))
    rows = [{**unknown, "label": name, "folds": 1, "accuracy_mean": 0.5, "accuracy_se": None} for name in NAMES]
    assert len(charts.score_bars(rows[:FEW]).data) == FEW, "a bar for each variant"
    assert len(charts.score_bars(rows).data) == 1, "a bar for each metric"


def test_one_sequence_shows_all_of_them(open_page, run_id):
    app = open_page("sequence", run=run_id)
    assert problems(app) == []
    assert app.multiselect(key="beside").value == NAMES
    (table,) = [each.proto.body for each in app.get("html") if 'aria-label="Labels of one sentence"' in each.proto.body]
    assert all(f'<th scope="row">{name}</th>' in table for name in NAMES)
