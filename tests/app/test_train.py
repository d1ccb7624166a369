"""The train page: its form comes from the registry; a run goes from the form to its numbers."""

from __future__ import annotations

import json

import pytest

from labseq_core.experiments import ExperimentConfig, MethodChoice, RunStatus, TaskStatus, result, status
from labseq_core.experiments.plan.cost import Cost, expected_cost
from labseq_core.features import TEMPLATES
from labseq_core.learners import METHODS, method_options
from pages.ui.train.cost_words import duration
from pages.ui.train.cost_words import expected as expected_words
from pages.ui.train.run_panel import by_method
from tests.app.conftest import LONG, problems, run_until, text
from tests.app.form import cards, open_card, option
from tests.experiments.runs import trained_here


def start(app):
    return next(button for button in app.button if button.label == "Start training").click().run()


def press(app, label: str):
    return next(button for button in app.button if button.label == label).click().run()


def run_id(app) -> str:
    return app.query_params["job"]


def test_every_option_of_every_method_has_a_widget(open_page):
    app = open_page("train", variant=list(METHODS))
    for place in range(len(METHODS)):
        app.session_state[f"variant.{place}"] = True
    app.run()
    assert problems(app) == []
    keys = {element.key for kind in (app.selectbox, app.number_input, app.toggle) for element in kind}
    expected = {
        f"variant.{place}.{method}.{name}"
        for place, method in enumerate(METHODS)
        for name in [*method_options(method), "features", "sequences", "noise"]
    }
    assert expected <= keys
    assert not [key for key in keys if key.endswith(".loss")], "the method says which loss"
    decoded = {key.split(".")[2] for key in keys if key.endswith(".decode")}
    assert decoded == {method for method in METHODS if METHODS[method].probabilistic}


def test_a_loss_is_chosen_by_its_method(open_page):
    app = open_card(open_page("train", dataset="toy-pos", variant="exp"), 0)
    option(app, 0, "length_decay").set_value(0.25).run()
    assert problems(app) == []
    assert "--methods exp:length_decay=0.25 " in text(app)
    assert "CRF(loss='exp', length_decay=0.25)" in text(app)


def test_a_kernel_is_chosen_with_its_parameters_or_typed(open_page):
    app = open_card(open_page("train", dataset="toy-pos", variant="dual-perceptron"), 0)
    assert "--methods dual-perceptron " in text(app)
    option(app, 0, "kernel").set_value("poly").run()
    option(app, 0, "kernel.degree").set_value(3).run()
    option(app, 0, "kernel.constant").set_value(0.5).run()
    assert problems(app) == []
    assert "dual-perceptron:kernel=poly:3:0.5 " in text(app)
    assert "DualPerceptron(kernel=Polynomial(degree=3, constant=0.5)" in text(app)
    option(app, 0, "kernel").set_value("rbf").run()
    option(app, 0, "kernel.width").set_value(2.0).run()
    assert "dual-perceptron:kernel=rbf:2 " in text(app)
    option(app, 0, "kernel.width").set_value(0.0).run()
    (message,) = problems(app)
    assert "width is 0.0" in message
    option(app, 0, "kernel.width").set_value(4.0).run()
    option(app, 0, "kernel").set_value("token").run()
    option(app, 0, "kernel.attribute").set_value("part of speech").run()
    assert "dual-perceptron:kernel=token:part%20of%20speech " in text(app)
    option(app, 0, "kernel").set_value("linear").run()
    assert "--methods dual-perceptron " in text(app), "the usual one is not said"
    linked = open_page("train", variant="dual-perceptron:kernel=normalized(poly:2)+token")
    assert problems(linked) == []
    assert "kernel: normalized(poly:2)+token" in text(linked)
    wrong = open_page("train", variant="dual-perceptron:kernel=cosine")
    (message,) = problems(wrong)
    assert "Variant 1: kernel is 'cosine'" in message
    assert "poly:2" in message, "what can be written"


@pytest.mark.parametrize("template", [name for name in TEMPLATES if name != "custom"])
def test_every_template_can_be_chosen(open_page, template):
    app = open_page("train", dataset="pitch-accent")
    app.selectbox(key="features").set_value(template).run()
    assert problems(app) == []
    assert f"template: {template}" in text(app)


def test_choices_reach_configuration_command_and_script(open_page):
    app = open_card(open_page("train", dataset="toy-pos", variant="crf"), 0)
    option(app, 0, "l2").set_value("0.1").run()
    app.selectbox(key="window").set_value("5").run()
    app.selectbox(key="folds").set_value("3").run()
    app.number_input(key="seed").set_value(7).run()
    assert problems(app) == []
    assert "labseq compare --dataset toy-pos --methods crf:l2=0.1 --features S3 --window 5 --folds 3 --seed 7" in text(
        app
    )
    assert "l2: 0.1" in text(app)
    assert "CRF(l2=0.1" in text(app)


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ({"variant": ["hmm", "crf:l2=much"]}, "Variant 2: l2 is 'much'"),
        ({"variant": ["crf:l2=-1", "hmm"]}, "Variant 1: l2 is -1"),
        ({"variant": ["hmm", "hmm"]}, "Variant 2 is the same as variant 1"),
        ({"variant": "hmsvm:decode=posterior"}, "Variant 1: HM-SVM gives scores"),
        ({"window": "2"}, "window is 2; choose an odd number"),
        ({"bins": "few"}, "bins is 'few'"),
    ],
)
def test_what_cannot_be_run_is_told_and_cannot_be_started(open_page, choices, expected):
    app = open_page("train", **choices)
    (message,) = problems(app)
    assert expected in message
    assert app.number_input(key="seed"), "the rest of the form is there"
    assert next(button for button in app.button if button.label == "Start training").disabled


def test_a_run_from_the_form_to_its_numbers(open_page):
    app = start(open_page("train", dataset="toy-pos", variant="hmm"))
    assert problems(app) == []
    run_until(app, lambda app: bool(app.success))
    assert problems(app) == []
    summary = result(run_id(app)).summary()
    assert app.table[0].value["Token accuracy"].tolist() == [f"{row['accuracy_mean']:.4f}" for row in summary]

    again = start(open_page("train", dataset="toy-pos", variant="hmm"))
    assert run_id(again) == run_id(app), "the same configuration is answered from the store"

    finished = run_id(app)
    reloaded = open_page("train", job=finished)
    assert reloaded.success, "a reload finds the run by the URL"
    next(button for button in app.button if button.label == "Compare in detail").click().run()
    assert app.title[0].value == "Compare"
    assert app.selectbox(key="run").value == finished


def test_a_run_can_be_cancelled(open_page):
    app = open_page("train", **LONG)
    start(app)
    next(button for button in app.button if button.label == "Cancel").click().run()
    run_until(app, lambda app: not status(run_id(app)).active)
    app.run()
    assert status(run_id(app)).state == "cancelled"
    (warning,) = app.warning
    assert "cancelled" in warning.value
    assert problems(app) == []
    press(app, "Go on")
    assert problems(app) == []
    assert status(run_id(app)).active, "it goes on under the same id"
    press(app, "Cancel")
    run_until(app, lambda app: not status(run_id(app)).active)


def test_an_unknown_run_in_the_url_is_told_and_the_page_goes_on(open_page):
    app = open_page("train", job="20000101-000000-abcdef")
    (message,) = problems(app)
    assert "'20000101-000000-abcdef'" in message
    assert cards(app)


def test_values_can_be_chosen_on_development_data(open_page):
    app = open_card(open_page("train", dataset="parity", variant="gps"), 0)
    app.selectbox(key="features").set_value("prosody").run()
    option(app, 0, "search").set_value(["kernel", "l2"]).run()
    assert problems(app) == []
    assert "gps:kernel=linear|poly:2|poly:3:l2=0.1|1|10" in text(app)
    option(app, 0, "kernel.values").set_value("linear poly:2").run()
    option(app, 0, "l2.values").set_value("0.1 none").run()
    (message,) = problems(app)
    assert "l2 is 'none'" in message
    option(app, 0, "l2.values").set_value("0.1 1").run()
    app = run_until(start(app), lambda app: status(run_id(app)).state == "done")
    found = result(run_id(app))
    assert [(row["kernel"], row["l2"]) for row in found.searches] == [
        ("linear", 0.1), ("linear", 1.0), ("poly:2", 0.1), ("poly:2", 1.0)
    ]  # fmt: skip
    best = max(found.searches, key=lambda row: row["score"])
    chosen = json.loads(found.rows[0]["options"])
    assert {name: chosen[name] for name in ("kernel", "l2")} == {name: best[name] for name in ("kernel", "l2")}
    compared = open_page("compare", run=run_id(app))
    assert problems(compared) == []
    tables = [table.value for table in compared.dataframe if "score" in table.value.columns]
    assert len(tables) == 1
    assert tables[0]["score"].iloc[0] == best["score"]


def test_calibration_and_fewer_sequences_reach_configuration_and_command(open_page):
    app = open_page("train", dataset="toy-pos", variant="crf")
    app.number_input(key="sequences").set_value(50).run()
    app.toggle(key="calibrate").set_value(True).run()
    assert problems(app) == []
    assert "--sequences 50 --calibrate --folds 0" in text(app)
    assert "calibrate: true" in text(app)
    app.selectbox(key="folds").set_value("2").run()
    assert problems(app) == []
    assert "calibrate" not in [toggle.key for toggle in app.toggle], "folds leave no development part"
    assert "--sequences 50 --folds 2" in text(app)
    linked = open_page("train", dataset="toy-pos", variant="crf", calibrate="true", sequences="50")
    assert "--sequences 50 --calibrate --folds 0" in text(linked)


def test_the_cost_is_told_before_the_click(open_page, tmp_path, monkeypatch):
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))
    app = open_page("train", dataset="toy-pos", variant="hmm")
    alone = MethodChoice("hmm")
    assert expected_words(expected_cost(ExperimentConfig("toy-pos", (alone,)))) in text(app)
    long = MethodChoice("boost", {"rounds": 100_000})
    app = open_page("train", dataset="toy-pos", variant=["hmm", "boost:rounds=100000"])
    assert expected_words(expected_cost(ExperimentConfig("toy-pos", (alone, long)))) in text(app)
    trained_here(ExperimentConfig("toy-pos", (alone,)))
    app = open_page("train", dataset="toy-pos", variant="hmm")
    assert "in the store" in text(app)
    assert expected_words(expected_cost(ExperimentConfig("toy-pos", (alone,)))) not in text(app)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0.2, "about 1 s"), (3.4, "about 3 s"), (47.0, "about 50 s"), (100.0, "about 2 minutes"), (1500.0, "about 20 minutes"),
     (7000.0, "about 2 hours"), (400_000.0, "about 5 days")],
)  # fmt: skip
def test_durations_in_words(seconds, expected):
    assert duration(seconds) == expected


def test_much_memory_is_told():
    much, little = (expected_words(Cost(3.0, megabytes, {"CRF": 1.0})) for megabytes in (2100.0, 300.0))
    assert "2.1 GB" in much
    assert "GB" not in little
    assert duration(3.0) in little
    assert "CRF" in expected_words(Cost(600.0, 300.0, {"CRF": 500.0, "HMM": 100.0})), "what takes most of it"


def test_progress_of_a_method_counts_all_values_of_a_search():
    def task(label: str, state: str, fraction: float = 0.0, point: int | None = None, fold: int = 0) -> TaskStatus:
        return TaskStatus(label, fold, state, fraction, point=point)

    tasks = (
        task("GP", "done", 1.0, 0), task("GP", "done", 1.0, 1), task("GP", "running", 0.5, 2), task("GP", "queued", 0.0, 3),
        task("HMM", "done", 1.0), task("CRF", "queued"), task("SVM", "failed"), task("SVM", "queued", fold=1),
    )  # fmt: skip
    now = RunStatus("r", "running", 0.5, "", None, 0, tasks, 0.0)
    assert by_method(now) == [
        ("GP", 0.625, "2 of 4"), ("HMM", 1.0, "finished"), ("CRF", 0.0, "waiting"), ("SVM", 0.0, "failed"),
    ]  # fmt: skip
    over = RunStatus("r", "dead", 0.5, "", None, 0, tasks, 0.0)
    assert by_method(over)[2] == ("CRF", 0.0, "stopped")


def test_a_waiting_run_says_its_place(open_page):
    first, second = start(open_page("train", **LONG, seed="11")), start(open_page("train", **LONG, seed="12"))
    run_until(first, lambda app: status(run_id(first)).state == "running")
    second.run()
    (progress,) = [each for each in second.get("progress") if "place" in each.proto.text]
    assert "place 1" in progress.proto.text
    for app in (second, first):
        press(app, "Cancel")
        run_until(app, lambda app: not status(run_id(app)).active)
