"""The HM-SVM tab of the inside page: what it shows of support sequences is what the models have."""

from __future__ import annotations

import json

import pytest

from labseq_core import HMSVM
from labseq_core.experiments import ExperimentConfig, FeatureChoice, MethodChoice, model, result
from labseq_core.explain import support_examples, support_figure, training_rows
from pages.ui.inside.hmsvm.words import gap_line, sparseness_line
from tests.app.conftest import problems, text
from tests.experiments.runs import trained_here

RUN = "default:margins"
GAP, WORKING_SET, GROWTH = range(3)  # charts from the top of the page


@pytest.fixture
def no_runs(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))


def charts(app) -> list[list[dict]]:
    return [json.loads(chart.proto.spec)["data"] for chart in app.get("plotly_chart")]


def labels() -> list[str]:
    return [choice.label for choice in result(RUN).config.methods]


@pytest.mark.usefixtures("no_runs")
def test_the_default_model_is_shown_without_a_choice(open_page):
    app = open_page("inside", tab="HM-SVM")
    assert problems(app) == []
    assert app.selectbox(key="run").value == RUN
    learner = model(RUN, labels()[-1])
    assert f"**{learner.n_support_sequences_:,}** support sequences" in text(app)
    rows = training_rows(learner)
    primal, dual = charts(app)[GAP]
    assert (primal["y"][-1], dual["y"][-1]) == (rows[-1]["primal"], rows[-1]["dual"])
    assert charts(app)[WORKING_SET][1]["y"] == [row["support_sequences"] for row in rows]
    assert charts(app)[GROWTH][0]["y"] == [row["growth"] for row in rows]
    assert charts(app)[GROWTH][1]["y"] == [row["looked_at"] for row in rows]
    assert len(app.get("download_button")) == 2


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_sentence_with_its_rivals(open_page, place):
    learner = model(RUN, labels()[place])
    number = support_examples(learner)[3]["sequence"]
    app = open_page("inside", tab="HM-SVM", run=RUN)
    app.segmented_control(key="svm").set_value(app.segmented_control(key="svm").options[place]).run()
    app.selectbox(key="sentence").set_value(str(number + 1)).run()
    assert problems(app) == []
    shown = next(
        element.proto.body for element in app.get("html") if "Support sequences of one sentence" in element.proto.body
    )
    rows = support_figure(learner, number, 10)
    assert shown.count("<tr>") == 1 + len(rows)
    for row in rows[1:]:
        assert f"α\u00a0=\u00a0{row['alpha']:.3g}" in shown
    differing = sum(label is None for row in rows[1:] for label in row["labels"])
    assert shown.count("<td>·</td>") == differing


@pytest.mark.usefixtures("no_runs")
def test_models_that_need_no_support_or_have_none(open_page):
    trained = trained_here(ExperimentConfig("toy-pos", (MethodChoice("hmm"),), FeatureChoice("S1")))
    app = open_page("inside", tab="HM-SVM", run=trained)
    assert problems(app) == []
    assert "No method of this run is an HM-SVM" in text(app)
    assert "support sequences of" in text(app)


@pytest.mark.parametrize(
    ("options", "length", "said"),
    [
        ({"C": 1.0}, 3, "Primal objective 0.7"),
        (
            {"slack": "none", "max_iter": 1},
            3,
            "nothing bounds the optimum from above, as some margins are still closed, after 1",
        ),
        ({"slack": "labelling", "max_labellings": 1, "C": 1e-3}, 3, "Primal objective at most "),
        (
            {"slack": "labelling", "max_labellings": 1, "C": 1e-6},
            2000,
            "as too many labellings were not looked at to bound",
        ),
    ],
)
def test_what_is_said_of_the_gap(options, length, said):
    X = [[f"word{(i * t) % 3}" for t in range(length)] for i in (1, 2)]
    Y = [[word.replace("word", "label") for word in x] for x in X]
    line = gap_line(HMSVM(**options).fit(X, Y))
    assert said in line
    assert "nan" not in line
    assert "inf" not in line


def test_how_many_labellings_there_are():
    X = [["a", "b"] * 6, ["b"]]
    model = HMSVM().fit(X, [[word.upper() for word in x] for x in X])
    assert sparseness_line(model).endswith(" There are about 10⁴ wrong labellings in all.")  # 2^12 - 1 and 1
    one = HMSVM().fit([["a"]], [["A"]])
    assert sparseness_line(one).endswith("keep the margin without any.")


def test_the_sentence_stays_when_the_model_changes_and_stands_in_the_link(open_page):
    app = open_page("inside", tab="HM-SVM", run="default:margins")
    shown, models = app.selectbox(key="sentence").value, app.segmented_control(key="svm")
    assert "sentence" not in app.query_params
    models.set_value(models.options[0]).run()
    assert app.selectbox(key="sentence").value == app.query_params["sentence"] == shown
    assert app.selectbox(key="sentence").options[0].partition(":")[0] != shown
