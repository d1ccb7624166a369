"""The start page shows a finished comparison before any click."""

from __future__ import annotations

import json

from labseq_core.experiments import default_results
from tests.app.conftest import problems, text


def bars(app) -> list[dict]:
    (chart,) = app.get("plotly_chart")
    return json.loads(chart.proto.spec)["data"]


def test_the_default_comparison_is_there_without_a_click(open_page):
    app = open_page()
    assert problems(app) == []
    shown = default_results()["spanish-ner"].summary()
    assert [trace["name"] for trace in bars(app)] == [row["label"] for row in shown]
    assert [trace["y"][0] for trace in bars(app)] == [row["accuracy_mean"] for row in shown]
    assert [trace["error_y"]["array"][1] for trace in bars(app)] == [row["span_f1_se"] for row in shown]


def test_the_best_possible_accuracy_is_a_line_and_a_number(open_page):
    (chart,) = open_page().get("plotly_chart")
    layout = json.loads(chart.proto.spec)["layout"]
    (line,) = layout["shapes"]
    assert line["y0"] == line["y1"]
    assert f"{line['y0']:.3f}" in layout["annotations"][0]["text"]


def test_every_default_can_be_chosen(open_page):
    app = open_page()
    bundled = {name: found for name, found in default_results().items() if name == found.config.dataset}
    assert app.segmented_control(key="corpus").options == list(bundled)
    for name, found in bundled.items():
        app.segmented_control(key="corpus").set_value(name).run()
        assert problems(app) == []
        assert bars(app)[0]["y"][0] == found.summary()[0]["accuracy_mean"]


def test_one_sentence_shows_truth_and_every_method(open_page):
    (sentence,) = open_page().get("html")
    assert "truth" in sentence.proto.body
    for row in default_results()["spanish-ner"].summary():
        assert f">{row['label']}</th>" in sentence.proto.body


def test_a_preset_opens_the_train_page_with_its_choice(open_page):
    app = open_page()
    next(button for button in app.button if button.label == "Take the context away").click().run()
    assert app.title[0].value == "Train"
    assert problems(app) == []
    assert "--features S1" in text(app)
