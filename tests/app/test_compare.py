"""The compare page: the same numbers in chart, table and CSV, each against what the core says."""

from __future__ import annotations

import csv
import io
import json
import math
from statistics import fmean, stdev

import pytest

from labseq_core.evaluation import METRICS, compare_all
from labseq_core.experiments import (
    ExperimentConfig,
    FeatureChoice,
    MethodChoice,
    default_results,
    predictions,
    result,
    status,
    submit,
)
from labseq_core.experiments.results.learning_curve import (
    curve_status,
    default_curve,
    learning_curve,
    learning_curve_configs,
)
from labseq_core.experiments.run.one_task import scored_parts
from pages.ui.choices.variant_names import short_names
from pages.ui.compare.measures import on_front
from pages.ui.compare.words import listed, verdict
from tests.app.conftest import SECONDS_TO_TRAIN, problems, run_until, text
from tests.experiments.runs import trained_here

DECIMALS = 4
RUN, CRF = "default:spanish-ner", "CRF (tuned)"


def figures(app) -> dict[str, dict]:
    """The charts of the page by what they are called."""
    return {chart.proto.id.rpartition("chart.")[2]: json.loads(chart.proto.spec) for chart in app.get("plotly_chart")}


def spoken(app) -> str:
    return "".join(html.proto.body for html in app.get("html"))


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
    assert app.selectbox(key="run").value == "default:spanish-ner"


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


def test_any_measure_is_drawn_and_written_as_the_folds_have_it(open_page):
    app, found = open_page("compare", run=RUN, view="Measures"), result(RUN)
    names = short_names(found.config.methods)
    options = app.selectbox(key="metric").options
    measured = [metric for metric in METRICS.values() if metric.needs != "development"]  # which folds leave out
    assert options == [metric.title for metric in measured]
    for metric in measured:
        name = metric.name
        app.selectbox(key="metric").set_value(name).run()
        assert problems(app) == []
        drawn = {trace["name"]: trace for trace in figures(app)[name.replace("_", "-")]["data"]}
        table = app.table[0].value
        for choice in found.config.methods:
            values = [row[name] for row in found.rows if row["label"] == choice.label]
            if None in values:
                assert name in ("log_loss", "brier", "ece")
                assert choice.method == "hmsvm", "only a method without probabilities may lack a measure"
                assert choice.label not in drawn
                continue
            mean, error = fmean(values), stdev(values) / math.sqrt(len(values))
            assert drawn[choice.label]["x"][0] == pytest.approx(mean, rel=1e-12)
            assert drawn[choice.label]["error_x"]["array"][0] == pytest.approx(error, rel=1e-9)
            assert drawn[f"{choice.label}, folds"]["x"] == values
            assert table[names[choice.label]].tolist() == list(map(metric.written, [mean, error, *values]))


def test_the_front_has_who_is_neither_slower_nor_worse(open_page):
    app, summary = open_page("compare", run=RUN, view="Measures", score="Span F1"), result(RUN).summary()
    front, *marks = figures(app)["front"]["data"]
    points = [(row["train_seconds_mean"], row["span_f1_mean"]) for row in summary]
    expected = [p for p in points if not any(q != p and q[0] <= p[0] and q[1] >= p[1] for q in points)]
    assert list(zip(front["x"], front["y"])) == sorted(expected)
    assert [(mark["x"][0], mark["y"][0]) for mark in marks] == points
    filled = [not mark["marker"]["symbol"].endswith("-open") for mark in marks]
    assert filled == [point in expected for point in points]
    named = listed([f"**{mark['name']}**" for mark, chosen in zip(marks, filled) if chosen])
    assert f"On the front: {named}." in text(app)


@pytest.mark.parametrize(("score", "metric"), [("Token accuracy", "accuracy"), ("Span F1", "span_f1")])
def test_significance_is_that_of_the_predictions(open_page, score, metric):
    app, found = open_page("compare", run=RUN, view="Significance", score=score), result(RUN)
    assert problems(app) == []
    names = short_names(found.config.methods)
    counts = {label: predictions(RUN, label).counts() for label in names}
    expected = compare_all(counts, metric, seed=found.config.seed)
    table = app.table[0].value
    assert len(table) == len(expected) == 3
    for row, (pair, shown) in zip(expected, table.iterrows()):
        assert pair == f"{names[row['method_a']]} against {names[row['method_b']]}"
        assert shown["Difference"] == f"{row['difference']:+.4f}"
        assert shown["95 % interval"] == f"{row['low']:+.4f} to {row['high']:+.4f}"
        assert (shown["p"], shown["p (Holm)"]) == (f"{row['p']:.4f}", f"{row['p_holm']:.4f}")
        assert shown["Significant"] == ("yes" if row["significant"] else "no")
    drawn = [x for trace in figures(app)["significance"]["data"] for x in trace["x"] if x is not None]
    assert sorted(drawn) == sorted(row["difference"] for row in expected)
    ends = {row["difference"]: (row["low"], row["high"]) for row in expected}
    for trace in figures(app)["significance"]["data"]:
        for x, below, above in zip(trace["x"], trace["error_x"]["arrayminus"], trace["error_x"]["array"]):
            assert (x - below, x + above) == pytest.approx(ends[x], abs=1e-12), "whiskers are drawn from the mark on"
    assert verdict(expected, names, METRICS[metric]) in text(app)


def test_the_verdict_is_a_plain_sentence():
    def pair(a: str, b: str, difference: float, p: float) -> dict:
        return {"method_a": a, "method_b": b, "difference": difference, "p_holm": p, "significant": p <= 0.05}

    names = {"c": "CRF", "h": "HMM", "s": "HM-SVM"}
    pairs = [pair("c", "h", 0.1, 0.0003), pair("c", "s", -0.01, 0.4), pair("h", "s", -0.2, 0.012)]
    assert verdict(pairs, names, METRICS["accuracy"]).splitlines() == [
        "- **CRF** is better than **HMM** (p < 0.001).",
        "- **HM-SVM** is better than **HMM** (p = 0.012).",
        "- **CRF** and **HM-SVM** cannot be told apart (p = 0.400).",
    ]
    assert verdict(pairs, names, METRICS["hamming_risk"]).splitlines() == [
        "- **HMM** is better than **CRF** (p < 0.001) and **HM-SVM** (p = 0.012).",
        "- **CRF** and **HM-SVM** cannot be told apart (p = 0.400).",
    ], "the lower, the better"


def test_the_front_knows_which_way_is_better():
    summary = [
        {"train_seconds_mean": seconds, "accuracy_mean": 1.0 - risk, "hamming_risk_mean": risk}
        for seconds, risk in ((1.0, 0.3), (2.0, 0.1), (3.0, 0.2))
    ]
    for name in ("accuracy", "hamming_risk"):
        assert on_front(summary, METRICS[name]) == [True, True, False]


def test_a_run_of_one_method_has_nothing_to_compare(open_page):
    run_id = trained_here(ExperimentConfig("toy-pos", (MethodChoice("hmm"),), FeatureChoice("S1")))
    app = open_page("compare", run=run_id, view="Significance")
    assert problems(app) == []
    assert "one method only" in text(app)
    app = open_page("compare", run=run_id, view="Sentences")
    assert problems(app) == []
    assert "Sentence 1 of the test part" in spoken(app)


def test_labels_of_all_methods_are_in_one_chart(open_page):
    app, found = open_page("compare", run=RUN, view="Labels"), result(RUN)
    for trace, rows in zip(figures(app)["labels"]["data"], found.per_label.values(), strict=True):
        assert dict(zip(trace["y"], trace["x"])) == {row["label"]: row["f1"] for row in rows}


def test_every_method_has_its_labels_and_confusions(open_page, finished_run):
    app = open_page("compare", run=finished_run, view="Labels")
    found = result(finished_run)
    for label in found.per_label:
        app.segmented_control(key="method").set_value(label).run()
        assert problems(app) == []
        heat_map, marks = figures(app)["confusion"]["data"]
        counts = found.confusion[label]["counts"]
        assert heat_map["customdata"] == counts
        assert len(marks["customdata"]) == sum(count > 0 for row in counts for count in row)
        assert app.dataframe[0].value["label"].tolist() == [row["label"] for row in found.per_label[label]]


def test_a_cell_lists_its_sentences(open_page):
    label = CRF
    app = open_page("compare", run=RUN, view="Labels", method=label, cell="B-PER → B-LOC")
    assert problems(app) == []
    said, found = predictions(RUN, label), result(RUN)
    rows = list(zip(said.labellings("truth"), said.labellings("predicted")))
    places = [place for place, row in enumerate(rows) if ("B-PER", "B-LOC") in zip(*row)]
    tokens = [words for part in scored_parts(found.config) for words in part.tokens]
    count = sum(cell == ("B-PER", "B-LOC") for row in rows for cell in zip(*row))
    (line,) = app.get("text")
    assert line.value == f"{CRF} takes B-PER for B-LOC {count} times, in {len(places)} sentences."
    shown = spoken(app)
    assert shown.count("<table") == 5
    assert all(f">{word}<" in shown for place in places[:5] for word in tokens[place] if word.isalnum())
    app.number_input(key="mistakes").set_value(2).run()
    assert all(f">{word}<" in spoken(app) for place in places[5:10] for word in tokens[place] if word.isalnum())


def test_another_cell_begins_on_its_first_page(open_page):
    app = open_page("compare", run=RUN, view="Labels", method=CRF, cell="B-PER → B-LOC", mistakes="2")
    assert app.number_input(key="mistakes").value == 2
    app.selectbox(key="cell").set_value("B-LOC → B-ORG").run()
    assert problems(app) == []
    assert app.number_input(key="mistakes").value == 1


def test_sentences_on_which_methods_disagree_come_first(open_page):
    app, found = open_page("compare", run="default:toy-pos", view="Sentences"), result("default:toy-pos")
    labellings = [predictions(found.run_id, label).labellings("predicted") for label in found.per_label]
    differ = [sum(len(set(labels)) > 1 for labels in zip(*rows)) for rows in zip(*labellings)]
    disagree = sum(count > 0 for count in differ)
    assert f"The methods disagree in **{disagree}** of {len(differ)} sentences" in text(app)
    tokens = [words for part in scored_parts(found.config) for words in part.tokens]
    most = tokens[differ.index(max(differ))]
    assert all(f">{word}<" in spoken(app) for word in most if word.isalnum())
    pages = -(-disagree // 5)
    assert app.number_input(key="page").max == pages
    app.toggle(key="differ").set_value(False).run()
    assert problems(app) == []
    assert all(f">{word}<" in spoken(app) for word in tokens[0] if word.isalnum())
    app.number_input(key="page").set_value(80).run()
    assert "Fold 5, sentence 80" in spoken(app)


def test_the_default_learning_curve_is_there_without_a_click(open_page):
    app = open_page("compare", run=RUN, view="Learning curve", score="Span F1")
    assert problems(app) == []
    kept = default_curve()
    for trace, choice in zip(figures(app)["learning-curve"]["data"], kept.config.methods, strict=True):
        own = [row for row in kept.rows if row["label"] == choice.label]
        assert trace["x"] == [row["sequences"] for row in own]
        assert trace["y"] == [row["span_f1"] for row in own]
        assert trace["error_y"]["array"] == [row["span_f1_se"] for row in own]
        written = app.table[0].value.loc[short_names(kept.config.methods)[choice.label]].tolist()
        assert written == [f"{row['span_f1']:.4f} ±\u00a0{row['span_f1_se']:.4f}" for row in own]
    assert not [button for button in app.button if button.label == "Make the learning curve"]


def test_a_learning_curve_is_made_on_the_page(open_page):
    config = ExperimentConfig("toy-pos", (MethodChoice("hmm"),), FeatureChoice("S1"), seed=3)
    app = open_page("compare", run=trained_here(config), view="Learning curve")
    assert "Meanwhile: one that comes with LabSeq" in text(app)
    assert len(figures(app)["learning-curve"]["data"]) == 3
    next(button for button in app.button if button.label == "Make the learning curve").click().run()
    run_until(app, lambda app: curve_status(config).done)
    app.run()
    (trace,) = figures(app)["learning-curve"]["data"]
    rows = learning_curve(config)
    assert (trace["x"], trace["y"]) == ([row["sequences"] for row in rows], [row["accuracy"] for row in rows])
    assert f"--sequences {learning_curve_configs(config)[0].sequences} " in text(app)


def test_metrics_are_defined_beside_the_numbers(open_page):
    app = open_page("compare", run=RUN)
    explained = " ".join(markdown.value for markdown in app.markdown)
    assert "share of all tokens that got the right label" in explained
    assert "rules of conlleval" in explained


def test_runs_on_a_part_of_the_training_data_are_told_apart(open_page):
    config = ExperimentConfig("toy-pos", (MethodChoice("hmm"),), FeatureChoice("S1"), sequences=50)
    app = open_page("compare", run=trained_here(config))
    assert "first 50 sequences" in app.selectbox(key="run").options[0]


@pytest.mark.parametrize("view", ["Scores", "Significance", "Labels", "Sentences", "Learning curve"])
@pytest.mark.parametrize("name", default_results())
def test_every_default_result_fills_every_tab(open_page, name, view):
    app = open_page("compare", run=f"default:{name}", view=view)
    assert problems(app) == []
    assert app.get("plotly_chart") or spoken(app)


@pytest.mark.parametrize("run", ["nonsense", "default:nonsense", "20000101-000000-abcdef"])
def test_an_unknown_run_in_the_url_is_told_and_the_page_goes_on(open_page, run):
    app = open_page("compare", run=run)
    (message,) = problems(app)
    assert "there is no" in message
    assert app.table
