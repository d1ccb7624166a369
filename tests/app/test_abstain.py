"""The Abstain page: chart, table and sentences say what the models say."""

from __future__ import annotations

import json
from math import floor

import pytest

from labseq_core.evaluation import abstention_curve, compare_at
from labseq_core.evaluation.calibration import Probabilities, ece_of, log_loss_of, reliability
from labseq_core.experiments import ExperimentConfig, FeatureChoice, MethodChoice, model, result
from labseq_core.experiments.run.one_task import scored_part
from labseq_core.explain import withheld_rows
from tests.app.conftest import problems, text
from tests.experiments.runs import answers_of, trained_here

RUN = "default:abstention"
CRF, DENSE, SPARSE = "CRF", "GP sequence classification", "Sparse GP sequence classification"
GAP = "HM-SVM · score gap, not a probability"
PRECISION_RECALL, RISK_COVERAGE, RELIABILITY = range(3)  # charts from the top of the page


@pytest.fixture
def no_runs(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))


def charts(app) -> list[list[dict]]:
    return [json.loads(chart.proto.spec)["data"] for chart in app.get("plotly_chart")]


def curve(place: int):
    found = result(RUN)
    test, given = scored_part(found.config), answers_of(RUN, found.config.methods[place].label)
    return given, abstention_curve(test.labels, given.predicted, given.confidence, calibrated=given.probability)


@pytest.mark.usefixtures("no_runs")
def test_the_default_is_shown_without_a_choice(open_page):
    app = open_page("abstain")
    assert problems(app) == []
    assert app.selectbox(key="run").value == RUN
    assert app.slider(key="threshold").value == 0.7
    assert not app.toggle(key="gaps").value
    assert [trace["name"] for trace in charts(app)[PRECISION_RECALL][::3]] == [CRF, DENSE, SPARSE]
    assert app.segmented_control(key="model").options == [CRF, DENSE, SPARSE]
    assert len(app.get("download_button")) == 4
    assert "1,371 tokens in 200 sequences" in text(app)


@pytest.mark.parametrize("threshold", ["0.0", "0.62", "0.9"])
def test_figures_at_the_threshold_in_chart_and_table(open_page, threshold):
    app = open_page("abstain", run=RUN, threshold=threshold)
    assert problems(app) == []
    _, found = curve(1)
    point = found.at(float(threshold))
    row = app.table[0].value.loc[DENSE]
    assert row["Answered"] == f"{point.coverage:.1%}"
    assert row["Precision"] == f"{point.precision:.1%}"
    assert row["Recall"] == f"{point.recall:.1%}"
    assert row["Error falls by"] == f"{point.error_reduction:.1%}"
    assert row["AURC"] == f"{found.aurc:.4f}"
    line, mark, _ = (trace for trace in charts(app)[PRECISION_RECALL] if trace["name"] == DENSE)
    assert (mark["x"], mark["y"]) == ([point.recall], [point.precision])
    assert (line["x"][-1], line["y"][-1]) == (found.recall[-1], found.precision[-1])
    line, mark, _ = (trace for trace in charts(app)[RISK_COVERAGE] if trace["name"] == DENSE)
    assert (mark["x"], mark["y"]) == ([point.coverage], [point.risk])
    assert set(line["y"]) <= set(found.risk.tolist())


def test_small_marks_are_where_a_click_puts_the_threshold(open_page):
    app = open_page("abstain", run=RUN, gaps="true")
    for chart, x, y in ((PRECISION_RECALL, "recall", "precision"), (RISK_COVERAGE, "coverage", "risk")):
        for place, name in enumerate((CRF, DENSE, SPARSE)):
            _, _, marks = (trace for trace in charts(app)[chart] if trace["name"] == name)
            assert len(marks["x"]) > 10
            for across, up, (method, at, own) in zip(marks["x"], marks["y"], marks["customdata"], strict=True):
                point = curve(place)[1].at(at)
                assert (method, own) == (name, at)
                assert (across, up) == (getattr(point, x), getattr(point, y))
        _, _, marks = (trace for trace in charts(app)[chart] if trace["name"] == GAP)
        expected = compare_at({CRF: curve(0)[1], GAP: curve(3)[1]}, 0.5)[1]
        own = next(point for point in marks["customdata"] if point[1] == 0.5)
        assert own == [GAP, 0.5, expected["threshold"]]


def test_withheld_tokens_stand_in_their_sentences(open_page):
    app = open_page("abstain", run=RUN)
    app.segmented_control(key="model").set_value(CRF).run()
    app.slider(key="threshold").set_value(0.6).run()
    assert problems(app) == []
    test, (given, _) = scored_part(result(RUN).config), curve(0)
    rows = withheld_rows(test.tokens, test.labels, given, 0.6)
    assert f"**{len(rows)}** of 1,371 tokens are withheld" in text(app)
    (shown,) = [html.proto.body for html in app.get("html") if "ls-withheld" in html.proto.body]
    first = sorted({row["sequence"] for row in rows})[:10]
    assert shown.count("ls-withheld") == sum(row["sequence"] in first for row in rows)
    for row in (row for row in rows if row["sequence"] in first):
        cross = "" if row["right"] else "✗ "
        assert (
            f"<small>{cross}<bdi>{row['predicted']}</bdi> {floor(100 * row['confidence']) / 100:.2f}</small>" in shown
        )
    pages = -(-len({row["sequence"] for row in rows}) // 10)
    app.number_input(key="withheld").set_value(pages).run()
    assert problems(app) == []
    last = max(row["sequence"] for row in rows)
    assert any(f'<span class="ls-number">{last}</span>' in html.proto.body for html in app.get("html"))
    app.slider(key="threshold").set_value(0.55).run()
    assert problems(app) == [], "fewer pages than the one that was shown"


def test_nothing_withheld_and_nothing_answered(open_page):
    app = open_page("abstain", run=RUN, threshold="0.0")
    assert "Nothing is withheld" in text(app)
    app.slider(key="threshold").set_value(1.0).run()
    assert problems(app) == []
    assert "answers nothing" in text(app)
    assert app.table[0].value.loc[CRF, "Precision"] == "–"


def test_methods_without_probabilities_enter_by_choice_and_are_marked(open_page):
    app = open_page("abstain", run=RUN)
    assert "Threshold" not in app.table[0].value, "it is the slider's for all"
    app.toggle(key="gaps").set_value(True).run()
    assert problems(app) == []
    assert [trace["name"] for trace in charts(app)[PRECISION_RECALL][::3]] == [CRF, DENSE, SPARSE, GAP]
    expected = compare_at({CRF: curve(0)[1], GAP: curve(3)[1]}, 0.7)[1]
    row = app.table[0].value.loc[GAP]
    assert row["Threshold"] == f"gap {expected['threshold']:.3g}"
    assert app.table[0].value.loc[CRF, "Threshold"] == "0.70"
    assert row["Answered"] == f"{expected['coverage']:.1%}"
    app.segmented_control(key="model").set_value(GAP).run()
    assert problems(app) == []
    app.toggle(key="gaps").set_value(False).run()
    assert problems(app) == []
    assert app.segmented_control(key="model").value == SPARSE


def test_calibration(open_page):
    app = open_page("abstain", run=RUN, below="Reliability", gaps="true")
    assert problems(app) == []
    config = result(RUN).config
    part, learner = scored_part(config), model(RUN, config.methods[2].label)
    given = Probabilities.of(part.labels, learner.marginals(part), learner.classes_, learner.predict(part, "viterbi"))
    row = app.table[1].value.loc[SPARSE]
    assert (row["Log loss"], row["ECE"]) == (f"{log_loss_of(given):.4f}", f"{ece_of(given):.4f}")
    assert len(charts(app)[RELIABILITY]) == 1 + 3, "a gap promises nothing"
    trace = next(trace for trace in charts(app)[RELIABILITY] if trace["name"] == SPARSE)
    bins = reliability(given.of_predicted, given.pairs.true == given.pairs.predicted)
    assert trace["y"] == [bin.accuracy for bin in bins if bin.tokens]


def test_other_runs_with_folds_and_without_scores_only(open_page):
    app = open_page("abstain", run="default:spanish-ner")
    assert problems(app) == []
    found = result("default:spanish-ner")
    one_method = [row for row in found.rows if row["label"] == found.rows[0]["label"]]
    assert len(one_method) == found.config.folds > 1
    assert f"all {found.config.folds} folds" in text(app)
    assert f"{sum(row['n_tokens'] for row in one_method):,} tokens" in text(app)
    app.toggle(key="gaps").set_value(True).run()
    assert problems(app) == []
    assert GAP in app.table[0].value.index


@pytest.mark.usefixtures("no_runs")
def test_a_run_without_probabilities_is_told_and_another_shown(open_page):
    choices = (MethodChoice("perceptron", {"epochs": 1}),)
    trained = trained_here(ExperimentConfig("toy-pos", choices, FeatureChoice("S1")))
    app = open_page("abstain", run=trained)
    assert problems(app) == []
    assert "No method of this run gives probabilities" in text(app)
    assert app.table


@pytest.mark.usefixtures("no_runs")
def test_a_run_with_probabilities_only_offers_no_gaps(open_page):
    trained = trained_here(ExperimentConfig("toy-pos", (MethodChoice("hmm"),), FeatureChoice("S1")))
    app = open_page("abstain")
    assert problems(app) == []
    assert app.selectbox(key="run").value == trained, "the newest run comes first"
    assert not app.toggle


def test_an_unknown_run_in_the_url_is_told_and_the_page_goes_on(open_page):
    app = open_page("abstain", run="nonsense")
    (message,) = problems(app)
    assert "there is no" in message
    assert app.table


@pytest.mark.usefixtures("no_runs")
def test_without_any_result_the_page_says_what_to_do(open_page, monkeypatch):
    monkeypatch.setattr("pages.ui.cached.defaults", dict)
    app = open_page("abstain")
    assert problems(app) == []
    assert "no finished run to show" in text(app)
