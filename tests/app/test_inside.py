"""The inside page: what it shows of a model is what the model has."""

from __future__ import annotations

import json

import pytest

from labseq_core.experiments import model
from labseq_core.explain import label_weights, transition_table, weight_summary
from tests.app.conftest import problems, text

RUN = "default:spanish-ner"


def charts(app) -> list[dict]:
    return [json.loads(chart.proto.spec)["data"][0] for chart in app.get("plotly_chart")]


def test_the_default_model_is_shown_without_a_choice(open_page):
    app = open_page("inside")
    assert problems(app) == []
    run, method = app.selectbox(key="run.choice").value, app.segmented_control(key="method").value
    learner = model(run, method)
    assert f"**{weight_summary(learner)['zero']:,}** of them" in text(app)
    bars, heat_map = charts(app)
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
    assert charts(app)[0]["x"] == [row["weight"] for row in label_weights(model(RUN, "CRF"), label)]


def test_another_method_shows_its_own_numbers(open_page):
    app = open_page("inside", run=RUN)
    for method in ("Averaged perceptron", "HMM"):
        app.segmented_control(key="method").set_value(method).run()
        assert problems(app) == []
        assert charts(app)[-1]["z"] == transition_table(model(RUN, method))[1].tolist()
    expected = label_weights(model(RUN, "HMM"), app.selectbox(key="label").value)
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


def test_an_unknown_run_in_the_url_is_told_and_the_page_goes_on(open_page):
    app = open_page("inside", run="nonsense")
    (message,) = problems(app)
    assert "there is no run" in message
    assert len(charts(app)) == 2


def test_a_label_of_another_corpus_is_left(open_page):
    app = open_page("inside", run="default:toy-pos", label="B-PER", method="No such method")
    assert problems(app) == []
    assert app.selectbox(key="label").value in model("default:toy-pos", "CRF").classes_


def test_a_run_without_a_stored_model_is_told(open_page, monkeypatch):
    from labseq_core.experiments import service
    from pages.ui import caching

    caching.trained.clear()
    monkeypatch.setattr(service, "default_model", lambda dataset, label: None)
    app = open_page("inside", run=RUN)
    (message,) = problems(app)
    assert "run it again" in message
    assert app.selectbox(key="run.choice").value == RUN
