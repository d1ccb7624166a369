"""The GPSC tab of the inside page: sparseness and certificate are those of the models."""

from __future__ import annotations

import json

import pytest

from labseq_core.evaluation import token_accuracy
from labseq_core.experiments import ExperimentConfig, FeatureChoice, MethodChoice, model, result
from labseq_core.explain import certificate_rows, sparse_path
from tests.app.conftest import problems, text
from tests.experiments.runs import development_part, trained_here

RUN = "default:sparseness"
NAMES = ["sparse: random, last", "sparse: sample, growth", "sparse: best, all"]
# Charts and files of each view.
VIEWS = {
    "Sparseness": (["sparseness", "objective"], ["This table as CSV", "The whole way as CSV"]),
    "Fit": (["certificate"], ["These numbers as CSV"]),
    "Who decides": (["influence"], ["All contributions as CSV"]),
    "Gram matrix": (["gram", "spectrum"], ["This matrix as CSV", "These eigenvalues as CSV"]),
}


@pytest.fixture
def no_runs(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))


def charts(app) -> dict[str, list[dict]]:
    """The traces of every chart by its name."""
    drawn = app.get("plotly_chart")
    return {chart.proto.id.rpartition("chart.")[2]: json.loads(chart.proto.spec)["data"] for chart in drawn}


def show(app, view: str) -> None:
    app.segmented_control(key="gpsc").set_value(view).run()
    assert problems(app) == []


def models() -> list:
    return [model(RUN, choice.label) for choice in result(RUN).config.methods]


@pytest.mark.usefixtures("no_runs")
def test_the_default_models_are_shown_without_a_choice(open_page):
    app = open_page("inside", tab="GPSC")
    assert problems(app) == []
    assert app.selectbox(key="run").value == RUN
    dense, *sparse = models()
    *lines, across = charts(app)["sparseness"]
    assert [line["name"] for line in lines] == NAMES
    for line, learner in zip(lines, sparse, strict=True):
        path = sparse_path(learner)
        assert line["x"] == [row["fraction"] for row in path]
        assert line["y"] == [row["dev_accuracy"] for row in path]
    assert across["name"] == "dense"
    assert across["y"] == [result(RUN).rows[0]["dev_accuracy"]] * 2
    assert charts(app)["objective"][-1]["y"] == [dense.objective_] * 2
    show(app, "Fit")
    (certificate,) = charts(app)["certificate"]
    assert certificate["y"] == [row["relative_gap"] for row in certificate_rows(dense)]
    assert f"Route **{dense.route_}**" in text(app)


def test_each_view_draws_its_charts_and_no_others(open_page):
    app = open_page("inside", tab="GPSC", run=RUN)
    assert app.segmented_control(key="gpsc").options == list(VIEWS)
    assert app.segmented_control(key="gpsc").value == next(iter(VIEWS)), "a link that names no view shows the first"
    for view, (drawn, files) in VIEWS.items():
        show(app, view)
        assert list(charts(app)) == drawn
        assert [button.proto.label for button in app.get("download_button")] == files
        assert app.header
        linked = open_page("inside", tab="GPSC", run=RUN, gpsc=view)
        assert problems(linked) == []
        assert list(charts(linked)) == drawn


def test_a_view_asks_only_for_what_it_shows(open_page, monkeypatch):
    from pages.ui import cached as caching
    from pages.ui.inside import cached as caching_inside

    other = {"accuracy_on": caching, "training_view": caching_inside, "new_observations": caching_inside}
    for name, module in other.items():
        monkeypatch.setattr(module, name, lambda *given: pytest.fail("this is another view"))
    assert problems(open_page("inside", tab="GPSC", run=RUN, gpsc="Fit")) == []


def test_the_axis_can_count_observations(open_page):
    app = open_page("inside", tab="GPSC", run=RUN)
    app.segmented_control(key="across").set_value("observations touched").run()
    assert problems(app) == []
    path = sparse_path(models()[1])
    assert charts(app)["sparseness"][0]["x"] == [row["observations"] for row in path]
    assert charts(app)["objective"][0]["y"] == [row["objective"] for row in path]


def test_the_table_says_what_is_left(open_page):
    app = open_page("inside", tab="GPSC", run=RUN)
    found, table = result(RUN), app.table[0].value
    assert table.index.tolist() == ["dense", *NAMES]
    for name, learner, row in zip(table.index, models(), found.rows, strict=True):
        assert table.loc[name, "Test accuracy"] == f"{row['accuracy']:.4f}"
        if name != "dense":
            assert table.loc[name, "% parameters"] == f"{learner.fraction_:.1%}"
            assert f"**{learner.n_support_:,}** of {learner.n_observations_:,} observations" in text(app)


@pytest.mark.usefixtures("no_runs")
def test_a_dense_model_alone_and_a_sparse_one_alone(open_page):
    usual = FeatureChoice("S1", window=1)
    alone = trained_here(ExperimentConfig("toy-pos", (MethodChoice("gps", {"max_iter": 3}),), usual))
    app = open_page("inside", tab="GPSC", run=alone)
    assert problems(app) == []
    assert "no sparse GP" in text(app)
    assert app.segmented_control(key="gpsc").options == [*VIEWS][1:]
    for view in app.segmented_control(key="gpsc").options:
        show(app, view)
        assert list(charts(app)) == VIEWS[view][0]
        assert "no sparse GP" in text(app)
        assert any(button.label == "Train a sparse one" for button in app.button)
    linked = open_page("inside", tab="GPSC", run=alone, gpsc="Sparseness")
    assert problems(linked) == []
    assert list(charts(linked)) == VIEWS["Fit"][0], "what this run does not have is the first view"
    few = (MethodChoice("sgps", {"fraction": 0.01}),)
    alone = trained_here(ExperimentConfig("toy-pos", few, usual, folds=2))
    app = open_page("inside", tab="GPSC", run=alone)
    assert problems(app) == []
    assert "no dense GP" in text(app)
    assert "accuracy on the **training** sentences is shown" in text(app), "folds leave no development part"
    assert app.segmented_control(key="gpsc").options == ["Sparseness", "Who decides", "Gram matrix"]
    for view in app.segmented_control(key="gpsc").options:
        show(app, view)
        assert list(charts(app)) == VIEWS[view][0]


@pytest.mark.usefixtures("no_runs")
def test_the_dense_line_of_a_new_run_is_its_accuracy_on_development_data(open_page):
    choices = (MethodChoice("gps", {"max_iter": 3}), MethodChoice("sgps", {"fraction": 0.01}))
    config = ExperimentConfig("toy-pos", choices, FeatureChoice("S1", window=1))
    trained = trained_here(config)
    app = open_page("inside", tab="GPSC", run=trained)
    assert problems(app) == []
    part = development_part(config)
    predicted = model(trained, choices[0].label).predict(part)
    assert charts(app)["sparseness"][-1]["y"] == [token_accuracy(part.labels, predicted)] * 2


@pytest.mark.usefixtures("no_runs")
def test_folds_and_other_problems_compare_accuracy_only(open_page):
    choices = (
        MethodChoice("gps", {"max_iter": 3}), MethodChoice("gps", {"l2": 10.0, "max_iter": 3}),
        MethodChoice("sgps", {"l2": 5.0, "fraction": 0.01}),
    )  # fmt: skip
    trained = trained_here(ExperimentConfig("toy-pos", choices, FeatureChoice("S1", window=1), folds=2))
    app = open_page("inside", tab="GPSC", run=trained)
    assert problems(app) == []
    assert [trace["name"] for trace in charts(app)["sparseness"]] == ["sparse", "dense: l2=1", "dense: l2=10"]
    assert [trace["name"] for trace in charts(app)["objective"]] == ["sparse"]
    show(app, "Fit")
    assert len(charts(app)["certificate"]) == 2


@pytest.mark.usefixtures("no_runs")
def test_a_run_without_gaussian_processes_is_told_and_another_shown(open_page):
    app = open_page("inside", tab="GPSC", run="default:boosting")
    assert problems(app) == []
    assert "No method of this run is a Gaussian process" in text(app)
    assert charts(app)
