"""The inside page: what it shows of a model is what the model has."""

from __future__ import annotations

import json

import pytest

from labseq_core.experiments import ExperimentConfig, FeatureChoice, MethodChoice, model
from labseq_core.explain import label_weights, transition_table, weight_summary
from tests.app.conftest import problems, text
from tests.experiments.runs import trained_here

RUN, CRF = "default:spanish-ner", "CRF (tuned)"


def charts(app) -> list[dict]:
    return [json.loads(chart.proto.spec)["data"][0] for chart in app.get("plotly_chart")]


@pytest.fixture
def no_runs(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))


@pytest.mark.usefixtures("no_runs")
def test_the_default_model_is_shown_without_a_choice(open_page):
    app = open_page("inside")
    assert problems(app) == []
    assert app.selectbox(key="run").value == RUN
    assert app.segmented_control(key="weigh").value == CRF
    learner = model(RUN, CRF)
    assert f"**{weight_summary(learner)['zero']:,}** of them" in text(app)
    bars, heat_map, *_ = charts(app)
    shown = [{"attribute": name, "weight": weight} for name, weight in zip(bars["y"], bars["x"])]
    assert shown == label_weights(learner, app.selectbox(key="label").value)
    labels, table = transition_table(learner)
    assert heat_map["x"] == labels
    assert heat_map["z"] == table.tolist()
    assert app.get("download_button")


@pytest.mark.parametrize("label", ["B-PER", "O"])
def test_a_label_can_be_chosen_and_stands_in_the_url(open_page, label):
    app = open_page("inside", run=RUN, label=label)
    assert problems(app) == []
    assert app.selectbox(key="label").value == label
    assert charts(app)[0]["x"] == [row["weight"] for row in label_weights(model(RUN, CRF), label)]


def test_another_method_shows_its_own_numbers(open_page):
    run_id = trained(
        MethodChoice("crf", {"max_iter": 5}), MethodChoice("perceptron", {"epochs": 1}), MethodChoice("hmm")
    )
    app = open_page("inside", run=run_id)
    for method in app.segmented_control(key="weigh").options[1:]:
        app.segmented_control(key="weigh").set_value(method).run()
        assert problems(app) == []
        assert charts(app)[-1]["z"] == transition_table(model(run_id, method))[1].tolist()
    expected = label_weights(model(run_id, "HMM"), app.selectbox(key="label").value)
    assert app.dataframe[0].value["weight"].tolist() == [row["weight"] for row in expected]


def test_the_filter_keeps_attributes_with_the_text(open_page):
    app = open_page("inside", run=RUN)
    app.text_input(key="attribute").set_value("CAP_INI").run()
    assert problems(app) == []
    names = charts(app)[0]["y"]
    assert names
    assert all("cap_ini" in name for name in names)
    app.text_input(key="attribute").set_value("no such attribute").run()
    assert problems(app) == []
    assert "No nonzero weight" in text(app)


@pytest.mark.usefixtures("no_runs")
def test_an_unknown_run_in_the_url_is_told_and_the_page_goes_on(open_page):
    app = open_page("inside", run="nonsense")
    (message,) = problems(app)
    assert "there is no run" in message
    assert len(charts(app)) == 2


def test_a_label_of_another_corpus_is_left(open_page):
    app = open_page("inside", run="default:toy-pos", label="B-PER", method="No such method")
    assert problems(app) == []
    assert app.selectbox(key="label").value in model("default:toy-pos", CRF).classes_


def test_a_run_without_a_stored_model_is_told(open_page, monkeypatch):
    from labseq_core.experiments import service
    from pages.ui import cached as caching

    caching.trained.clear()
    monkeypatch.setattr(service, "default_model", lambda dataset, label: None)
    app = open_page("inside", run=RUN)
    (message,) = problems(app)
    assert "run it again" in message
    assert app.selectbox(key="run").value == RUN


def trained(*methods: MethodChoice) -> str:
    return trained_here(ExperimentConfig("spanish-ner", methods, FeatureChoice("S1")))


def test_zeros_of_l1_and_forbidden_transitions_are_told(open_page):
    sparse = MethodChoice("crf", {"l1": 1.0, "constraints": "bio", "max_iter": 20})
    run_id = trained(MethodChoice("naive-bayes"), sparse, MethodChoice("maxent", {"max_iter": 5}))
    app = open_page("inside", run=run_id)
    assert problems(app) == []
    control = app.segmented_control(key="weigh")
    assert len(control.options) == 2  # not naive Bayes
    learner = model(run_id, control.value)
    zero = weight_summary(learner)["zero"]
    assert zero > 0
    assert f"**{zero:,}** of them" in text(app)
    labels, _ = transition_table(learner)
    heat_map = charts(app)[1]
    place = labels.index("O"), labels.index("I-PER")
    assert heat_map["z"][place[0]][place[1]] is None
    assert heat_map["text"][place[0]][place[1]] == "✕"
    assert "forbidden by the constraints" in text(app)
    control.set_value(control.options[1]).run()
    assert problems(app) == []
    assert "sees every token by itself" in text(app)


def test_what_cannot_be_shown_is_said(open_page):
    app = open_page("inside", run=trained(MethodChoice("naive-bayes")))
    assert problems(app) == []
    assert "No method of this run has weights" in text(app)
    app = open_page("inside", run=trained(MethodChoice("hmm", {"emissions": "attributes"})))
    assert problems(app) == []
    assert "only transitions" in text(app)
    assert len(charts(app)) == 1
