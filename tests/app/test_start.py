"""The start page shows a finished comparison before any click."""

from __future__ import annotations

import json
import re

import pytest

from labseq_core.data.catalogue import dataset_info
from labseq_core.data.sequences import Sequences
from labseq_core.experiments import default_results, model
from pages.ui.choices.variant_names import short_names
from pages.ui.drawing.metrics import most_telling
from pages.ui.train.presets import to_try
from tests.app.conftest import problems, text

BUNDLED = {name: found for name, found in default_results().items() if name == found.config.dataset}


def bars(app) -> list[dict]:
    (chart,) = app.get("plotly_chart")
    return json.loads(chart.proto.spec)["data"]


def start_with(open_page, corpus: str):
    app = open_page()
    return app.segmented_control(key="corpus").set_value(corpus).run()


def test_the_default_comparison_is_there_without_a_click(open_page):
    app = open_page()
    assert problems(app) == []
    shown = default_results()["spanish-ner"].summary()
    assert [trace["name"] for trace in bars(app)] == ["CRF", "HM-SVM", "GP sequence classification"]
    assert [trace["y"][0] for trace in bars(app)] == [row["accuracy_mean"] for row in shown]
    assert [trace["error_y"]["array"][1] for trace in bars(app)] == [row["span_f1_se"] for row in shown]


def test_the_best_possible_accuracy_is_a_line_and_a_number(open_page):
    (chart,) = open_page().get("plotly_chart")
    layout = json.loads(chart.proto.spec)["layout"]
    (line,) = layout["shapes"]
    assert line["y0"] == line["y1"]
    assert line["y0"] == dataset_info("spanish-ner").bayes_test_accuracy["viterbi"]
    assert f"{line['y0']:.3f}" in layout["annotations"][0]["text"]


def test_every_default_can_be_chosen(open_page):
    app = open_page()
    assert app.segmented_control(key="corpus").options == list(BUNDLED)
    for name, found in BUNDLED.items():
        app.segmented_control(key="corpus").set_value(name).run()
        assert problems(app) == []
        assert [trace["y"][0] for trace in bars(app)] == [row["accuracy_mean"] for row in found.summary()]
        table, names = app.table[0].value, short_names(found.config.methods)
        for row in found.summary():
            mean, error = row["accuracy_mean"], row["accuracy_se"]
            assert table.loc[names[row["label"]], "Token accuracy"] == f"{mean:.4f} ±\u00a0{error:.4f}"
        assert ("Bayes, " in str(app.get("plotly_chart")[0].proto.spec)) == ("Dashed: what" in text(app))


def test_one_sentence_shows_truth_and_every_method(open_page):
    (sentence,) = open_page().get("html")
    found = BUNDLED["spanish-ner"]
    example = found.examples[most_telling(found.examples)]
    assert all(f">{word}<" in sentence.proto.body for word in example["tokens"] if word.isalnum())
    assert ">truth</th>" in sentence.proto.body
    for name in short_names(found.config.methods).values():
        assert f">{name}</th>" in sentence.proto.body


def test_a_typed_sentence_is_labelled_by_all_three(open_page):
    app = open_page()
    app.text_input(key="typed").set_value("Ana vive en Lima").run()
    assert problems(app) == []
    (sentence,) = app.get("html")
    assert ">truth</th>" not in sentence.proto.body, "nobody knows it"
    one = Sequences.from_lists([["Ana", "vive", "en", "Lima"]])
    rows = re.findall(r"<tr>.*?</tr>", sentence.proto.body)[1:]
    for choice, row in zip(BUNDLED["spanish-ner"].config.methods, rows, strict=True):
        (labels,) = model("default:spanish-ner", choice.label).predict(one)
        assert re.findall(r"<td[^>]*>([A-Z-]+)", row) == labels


@pytest.mark.parametrize("name", BUNDLED)
def test_to_train_ones_own_begins_with_the_shown_comparison(open_page, name):
    app = start_with(open_page, name)
    next(button for button in app.button if button.label == "Train your own").click().run()
    assert app.title[0].value == "Train"
    assert problems(app) == []
    assert BUNDLED[name].config.cli_command() in text(app)


@pytest.mark.parametrize("name", BUNDLED)
def test_a_preset_changes_one_thing(open_page, name):
    config = BUNDLED[name].config
    assert len(to_try(config)) == 3
    for preset in to_try(config):
        app = start_with(open_page, name)
        assert preset.question in text(app)
        next(button for button in app.button if button.label == preset.title).click().run()
        assert app.title[0].value == "Train"
        assert problems(app) == []
        page = text(app)
        assert config.cli_command() not in page
        context = [f"--features {config.features.template} --window {config.features.window}"]
        expected = {
            "Take the kernel away": [*context, "gps:kernel=linear"],
            "Insist on the training data": [*context, "hmsvm:C=100"],
            "Take the context away": ["--features S1 --window 1"],
            "Look around": [f"--features {config.features.template} --window 3"],
        }[preset.title]
        assert all(part in page for part in [*expected, "--folds 5", f"--dataset {name}"]), page
