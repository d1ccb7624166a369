"""The compare page: the same numbers in chart, table and CSV."""

from __future__ import annotations

import csv
import io
import json

import pytest

from labseq_core.experiments import ExperimentConfig, MethodChoice, default_results, result, status, submit
from tests.app.conftest import SECONDS_TO_TRAIN, problems

DECIMALS = 4


@pytest.fixture(scope="module")
def finished_run() -> str:
    import time

    run_id = submit(
        ExperimentConfig("toy-pos", (MethodChoice("hmm"), MethodChoice("perceptron", {"epochs": 2})), folds=2)
    )
    give_up = time.monotonic() + SECONDS_TO_TRAIN
    while status(run_id).active:
        assert time.monotonic() < give_up
        time.sleep(0.1)
    assert status(run_id).state == "done", status(run_id).error
    return run_id


def test_a_default_result_is_there_without_a_run(open_page):
    app = open_page("compare", run="default:spanish-ner")
    assert problems(app) == []
    assert app.selectbox(key="run.choice").value == "default:spanish-ner"


def test_chart_table_and_csv_agree(open_page, finished_run):
    app = open_page("compare", run=finished_run)
    assert problems(app) == []
    rows = list(csv.DictReader(io.StringIO(result(finished_run).csv())))
    bars = json.loads(app.get("plotly_chart")[0].proto.spec)["data"]
    table = app.table[0].value
    for trace in bars:
        values = [float(row["accuracy"]) for row in rows if row["label"] == trace["name"]]
        mean = sum(values) / len(values)
        assert trace["y"][0] == mean
        assert table.loc[trace["name"], "Token accuracy"].startswith(f"{mean:.{DECIMALS}f}")


def test_the_csv_names_run_seed_and_configuration(finished_run):
    for row in csv.DictReader(io.StringIO(result(finished_run).csv())):
        assert row["run_id"] == finished_run
        assert row["seed"] == "0"
        assert row["config_hash"] == result(finished_run).config.hash


def test_every_method_has_its_labels_and_confusions(open_page, finished_run):
    app = open_page("compare", run=finished_run)
    found = result(finished_run)
    for label in found.per_label:
        app.segmented_control(key="method").set_value(label).run()
        assert problems(app) == []
        heat_map = json.loads(app.get("plotly_chart")[1].proto.spec)["data"][0]
        assert heat_map["customdata"] == found.confusion[label]["counts"]
        assert app.dataframe[1].value["label"].tolist() == [row["label"] for row in found.per_label[label]]


def test_metrics_are_defined_beside_the_numbers(open_page):
    app = open_page("compare", run="default:spanish-ner")
    explained = " ".join(markdown.value for markdown in app.markdown)
    assert "share of all tokens that got the right label" in explained
    assert "rules of conlleval" in explained


def test_sentences_can_be_leafed_through(open_page):
    app = open_page("compare", run="default:toy-pos")
    app.number_input(key="sentence").set_value(2).run()
    assert problems(app) == []
    (shown,) = app.get("html")
    assert all(
        f"<bdi>{word}</bdi></th>" in shown.proto.body
        for word in default_results()["toy-pos"].examples[1]["tokens"]
        if word.isalnum()
    )


@pytest.mark.parametrize("run", ["nonsense", "default:nonsense", "20000101-000000-abcdef"])
def test_an_unknown_run_in_the_url_is_told_and_the_page_goes_on(open_page, run):
    app = open_page("compare", run=run)
    (message,) = problems(app)
    assert "there is no" in message
    assert app.table
