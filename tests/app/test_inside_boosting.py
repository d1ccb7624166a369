"""The Boosting tab of the inside page: what it shows of the rounds is what the models have."""

from __future__ import annotations

import json

import pytest

from labseq_core.data.catalogue import store_upload
from labseq_core.experiments import ExperimentConfig, FeatureChoice, MethodChoice, model, result
from labseq_core.experiments.run.one_task import training_data
from labseq_core.explain import bound_curves, largest_weights, repeated_features, round_rows
from labseq_core.learners.registry import METHODS
from labseq_core.warm_up import ahead
from tests.app.conftest import problems, run_until, text
from tests.experiments.runs import trained_here

RUN = "default:boosting"
ROUNDING = 1e-9  # of powers of ten
# Charts and files of each view.
VIEWS = {
    "Round by round": (["steps", "boosted-weights"], ["These weights as CSV", "All rounds as CSV"]),
    "Bounds": (["bounds"], ["These bounds as CSV"]),
    "Losses": (["losses", "development", "promised"], ["These curves as CSV"]),
    "Chosen again": ([], ["This table as CSV"]),
}


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """A page may not take as long as compiling does."""
    ahead.load("boost")


@pytest.fixture
def no_runs(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))


def charts(app) -> dict[str, list[dict]]:
    """The traces of every chart by its name."""
    drawn = app.get("plotly_chart")
    return {chart.proto.id.rpartition("chart.")[2]: json.loads(chart.proto.spec)["data"] for chart in drawn}


def show(app, view: str) -> None:
    app.segmented_control(key="boosting").set_value(view).run()
    assert problems(app) == []


def labels() -> list[str]:
    return [choice.label for choice in result(RUN).config.methods]


def trained(*methods: MethodChoice, dataset: str = "spanish-ner", folds: int = 0) -> str:
    return trained_here(ExperimentConfig(dataset, methods, FeatureChoice("S1"), folds))


def table(app) -> list[dict]:
    return app.dataframe[0].value.to_dict("records")


@pytest.mark.usefixtures("no_runs")
def test_the_default_models_are_shown_without_a_choice(open_page):
    app = open_page("inside", tab="Boosting")
    assert problems(app) == []
    assert app.selectbox(key="run").value == RUN
    assert app.segmented_control(key="boosted").options == ["loose", "tight", "exact"]
    assert app.segmented_control(key="boosted").value == "exact"
    number, rows = app.slider(key="round").value, round_rows(model(RUN, labels()[2]))
    assert app.slider(key="round").max == len(rows)
    assert [row["feature"] for row in table(app)] == [row["feature"] for row in rows[:number][::-1]]
    show(app, "Losses")
    losses = charts(app)["losses"]
    assert [trace["name"] for trace in losses] == ["loose", "tight", "exact"]
    assert all(len(trace["x"]) == model(RUN, label).n_rounds_ for trace, label in zip(losses, labels()))
    assert charts(app)["development"][0]["y"][-1] == model(RUN, labels()[0]).rounds_["dev_f1"].iloc[-1]
    for place in range(3):
        kept, promised = charts(app)["promised"][2 * place : 2 * place + 2]
        assert all(low <= high + ROUNDING for low, high in zip(kept["y"], promised["y"]))
    show(app, "Chosen again")
    models = {name: model(RUN, label) for name, label in zip(("loose", "tight", "exact"), labels())}
    assert table(app) == repeated_features(models, 100)


def test_each_view_draws_its_charts_and_no_others(open_page):
    app = open_page("inside", tab="Boosting", run=RUN)
    assert app.segmented_control(key="boosting").options == list(VIEWS)
    assert app.segmented_control(key="boosting").value == next(iter(VIEWS)), "a link that names no view shows the first"
    for view, (drawn, files) in VIEWS.items():
        show(app, view)
        assert list(charts(app)) == drawn
        assert [button.proto.label for button in app.get("download_button")] == files
        assert app.header
        linked = open_page("inside", tab="Boosting", run=RUN, boosting=view)
        assert problems(linked) == []
        assert list(charts(linked)) == drawn


def test_a_view_asks_only_for_what_it_shows(open_page, monkeypatch):
    from pages.ui import cached as caching

    for name in ("bounds_of_round", "promised"):
        monkeypatch.setattr(caching, name, lambda *given: pytest.fail("this is another view"))
    for view in ("Round by round", "Chosen again"):
        assert problems(open_page("inside", tab="Boosting", run=RUN, boosting=view)) == []


def test_the_round_and_the_first_rounds_stay_in_other_views_and_in_the_url(open_page):
    app = open_page("inside", tab="Boosting", run=RUN)
    app.slider(key="round").set_value(57).run()
    show(app, "Bounds")
    assert app.slider(key="round").value == 57
    assert "Round **57** of" in text(app)
    app.slider(key="round").set_value(58).run()
    show(app, "Chosen again")
    app.number_input(key="first").set_value(60).run()
    show(app, "Losses")
    assert not app.slider
    assert not {"round", "first"} & set(app.query_params), "a link to this view is not about them"
    show(app, "Round by round")
    assert app.slider(key="round").value == len(table(app)) == 58
    show(app, "Chosen again")
    assert app.number_input(key="first").value == 60
    linked = open_page("inside", tab="Boosting", run=RUN, boosting="Losses", round="58", first="60")
    show(linked, "Bounds")
    assert linked.slider(key="round").value == 58
    show(linked, "Chosen again")
    assert linked.number_input(key="first").value == 60


@pytest.mark.parametrize("number", [1, 57, 500])
def test_the_slider_replays_the_rounds(open_page, number):
    app = open_page("inside", tab="Boosting", run=RUN, boosted="tight")
    app.slider(key="round").set_value(number).run()
    assert problems(app) == []
    learner = model(RUN, labels()[1])
    rows = round_rows(learner)
    shown = table(app)
    assert len(shown) == number
    for name in ("round", "feature", "step", "pseudo_accuracy", "bound", "z", "loss", "dev_accuracy", "dev_f1"):
        assert shown[0][name] == rows[number - 1][name]
    assert f"Round **{number}** of {len(rows)} moved the weight of `{rows[number - 1]['feature']}`" in text(app)
    bars = charts(app)["boosted-weights"][0]
    expected = largest_weights(learner, number, 12)
    assert [*zip(bars["y"], bars["x"])] == [(row["feature"], row["weight"]) for row in expected]
    past = [trace for trace in charts(app)["steps"] if trace["marker"]["opacity"] == 1.0]
    assert sum(len(trace["x"]) - 1 for trace in past) == number


def test_the_bounds_are_those_of_the_round_at_the_model_before_it(open_page):
    app = open_page("inside", tab="Boosting", run=RUN, boosting="Bounds", boosted="exact", round="1")
    assert problems(app) == []
    learner, (observations, truth) = model(RUN, labels()[2]), training_data(result(RUN).config, labels()[2])
    row = round_rows(learner)[0]
    lines = {trace["name"]: trace for trace in charts(app)["bounds"] if trace["mode"] == "lines"}
    steps = lines["tight bound"]["x"]
    expected = bound_curves(
        learner, observations, truth, label=row["label"], attribute=row["attribute"], after=0, steps=steps
    )
    for bound, name in {"loose": "loose bound", "tight": "tight bound", "exact": "the loss itself (Z)"}.items():
        assert lines[name]["y"] == pytest.approx(expected[bound], rel=1e-9)
    marks = [trace["x"][0] for trace in charts(app)["bounds"] if trace["mode"] == "markers"]
    assert marks == pytest.approx([expected["minimisers"][bound] for bound in ("loose", "tight", "exact")], rel=1e-5)
    assert marks[2] == pytest.approx(row["step"], rel=1e-5)


def test_the_bounds_of_much_data_are_drawn_on_request(open_page, monkeypatch):
    from pages.ui import cached as caching

    monkeypatch.setattr(caching, "QUICK_TOKENS", 100)
    app = open_page("inside", tab="Boosting", run=RUN, boosting="Bounds")
    assert problems(app) == []
    assert "4,472 tokens of the training data" in text(app)
    assert not charts(app)
    next(button for button in app.button if button.label.startswith("Draw it")).click().run()
    assert problems(app) == []
    assert charts(app)
    show(app, "Losses")
    show(app, "Bounds")
    assert charts(app), "what was asked for stays"
    app.slider(key="round").set_value(3).run()
    assert not charts(app)


def test_more_rounds_give_more_repeats(open_page):
    app = open_page("inside", tab="Boosting", run=RUN, boosting="Chosen again")
    app.number_input(key="first").set_value(1).run()
    assert problems(app) == []
    assert "No model has chosen a feature twice" in text(app)
    app.number_input(key="first").set_value(500).run()
    assert len(table(app)) > 20


def test_a_run_without_rounds_is_told_and_another_is_shown(open_page):
    app = open_page("inside", tab="Boosting", run="default:toy-pos")
    assert problems(app) == []
    assert "No method of this run boosts" in text(app)
    assert "toy-pos" in app.info[0].value
    assert app.selectbox(key="run").value != "default:toy-pos"
    assert charts(app)
    assert app.query_params["run"] in ("default:toy-pos", ["default:toy-pos"]), "the other tab still shows it"


def test_choices_of_another_run_are_left(open_page):
    app = open_page("inside", tab="Boosting", run=RUN, boosted="nonsense", boosting="nonsense", round="100000")
    assert problems(app) == []
    assert app.segmented_control(key="boosted").value == "exact"
    assert app.segmented_control(key="boosting").value == "Round by round"
    assert 1 <= app.slider(key="round").value <= 500
    assert "round" not in app.query_params
    app = open_page("inside", tab="Boosting", run=RUN, boosting="Chosen again", first="0")
    assert problems(app) == []
    assert app.number_input(key="first").value == 100


def test_from_the_form_to_the_tab(open_page, no_runs):
    methods = ("boost", "adaboost-mr", "viterbi-boost", "logitboost")
    titles = [METHODS[method].title for method in methods]
    app = open_page(
        "train", dataset="spanish-ner", features="S1", variant=[f"{method}:rounds=12" for method in methods]
    )
    next(button for button in app.button if button.label == "Start training").click().run()
    run_until(app, lambda app: any("Finished" in success.value for success in app.success))
    run_id = app.query_params["job"]

    app = open_page("inside", tab="Boosting")
    assert problems(app) == []
    assert app.selectbox(key="run").value == run_id
    assert app.segmented_control(key="boosted").options == titles
    for title in titles:
        app.segmented_control(key="boosted").set_value(title).run()
        assert problems(app) == []
        label = next(choice.label for choice in result(run_id).config.methods if choice.label.startswith(title))
        rows = round_rows(model(run_id, label))
        assert [row["feature"] for row in table(app)] == [row["feature"] for row in rows[: len(table(app))][::-1]]
        assert rows[0]["dev_f1"] is not None
        show(app, "Bounds")
        assert ("There is no picture of this round" in text(app)) == (title == "Sequence LogitBoost")
        show(app, "Round by round")


def test_folds_have_no_development_data_and_a_single_round_no_slider(open_page):
    app = open_page("inside", tab="Boosting", run=trained(MethodChoice("boost", {"rounds": 1}), folds=2))
    assert problems(app) == []
    assert not app.slider
    assert len(table(app)) == 1
    assert "dev_f1" not in table(app)[0]
    show(app, "Bounds")
    assert not app.slider
    assert list(charts(app)) == ["bounds"]
    show(app, "Losses")
    assert list(charts(app)) == ["losses", "promised"]
    assert "Train without folds" in text(app)


def test_a_model_without_rounds_is_told(open_page):
    dataset = store_upload(b"a\tX\nb\tX\n\n" * 20, "same.conll")
    run_id = trained(MethodChoice("boost"), MethodChoice("boost", {"bound": "loose"}), dataset=dataset)
    app = open_page("inside", tab="Boosting", run=run_id)
    assert problems(app) == []
    assert "no rounds to show: no feature reduces the bound any more" in text(app)


def test_any_text_in_an_attribute_is_shown_as_it_is(open_page):
    words = b"`*x*`$\\alpha$\tA\n\n<b>y</b>\tB\n\n" * 20
    run_id = trained(MethodChoice("boost", {"rounds": 3}), dataset=store_upload(words, "odd.conll"))
    app = open_page("inside", tab="Boosting", run=run_id)
    assert problems(app) == []
    assert {row["feature"] for row in table(app)} & {r"y_t = A, word = `*x*`$\alpha$", "y_t = B, word = <b>y</b>"}
    lines = [line.value for line in (*app.markdown, *app.caption) if "word = " in line.value and "y_t" in line.value]
    spans = [line.split("`")[1] for line in lines]
    assert any(span.endswith(("ˋ*x*ˋ$\\alpha$", "<b>y</b>")) for span in spans), "markup only where it is code"


def test_a_replay_shows_round_after_round_and_begins_anew_at_the_end(open_page):
    app = open_page("inside", tab="Boosting", run="default:boosting", round="3")
    assert not app.toggle(key="replay").value
    app.toggle(key="replay").set_value(True).run()
    seen = [app.slider(key="round").value]
    for _ in range(3):
        app.run()  # as the page does by itself after a second
        assert problems(app) == []
        seen.append(app.slider(key="round").value)
    assert seen == [3, 4, 5, 6]
    assert app.query_params["round"] == "6"
    last = app.slider(key="round").max
    app.slider(key="round").set_value(last - 1).run()
    for _ in range(3):
        app.run()
    assert app.slider(key="round").value == last, "and there it stays"
    app.toggle(key="replay").set_value(False).run()
    assert app.slider(key="round").value == last
    app.toggle(key="replay").set_value(True).run()
    assert app.slider(key="round").value == 1
