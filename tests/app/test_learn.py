"""The Learn page: every lesson has its picture, its sentences say the numbers of the results, its links lead where they say."""

from __future__ import annotations

import json

import pytest

from labseq_core.data.catalogue import dataset_info
from labseq_core.evaluation import AbstentionPoint
from labseq_core.experiments import default_results, model, predictions, result
from labseq_core.experiments.bundled.lessons import lessons
from labseq_core.explain import sparse_path
from labseq_core.explain.loss_curves import losses_at
from labseq_core.warm_up import ahead
from pages.ui.learn.lessons import LESSONS
from tests.app.conftest import problems, text
from tests.app.form import cards, command, given


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """A page may not take as long as compiling does."""
    ahead.load("boost")


def pictures(app) -> dict[str, dict]:
    """The figure of every chart by its name; each must have a text for those who cannot see it."""
    assert all(chart.proto.alt for chart in app.get("plotly_chart"))
    return {chart.proto.id.rpartition("chart.")[2]: json.loads(chart.proto.spec) for chart in app.get("plotly_chart")}


def points(trace: dict) -> list[tuple]:
    return list(zip(trace["x"], trace["y"], strict=True))


def own(method: str, features: str) -> dict:
    return next(row for row in lessons()["clues"] if (row["method"], row["features"]) == (method, features))


def test_lessons_are_in_the_order_of_the_course_and_each_has_a_picture():
    assert list(LESSONS) == ["generative", "losses", "margin", "boosting", "kernel", "sparse", "abstain"]


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_lesson_opens_by_its_link_with_a_picture_and_its_numbers(open_page, lesson):
    app = open_page("learn", lesson=lesson)
    assert problems(app) == []
    assert LESSONS[lesson].title in text(app)
    assert LESSONS[lesson].question in text(app)
    assert pictures(app)
    assert app.get("download_button")


@pytest.mark.parametrize(
    ("lesson", "place"), [(key, place) for key, lesson in LESSONS.items() for place in range(len(lesson.links))]
)
def test_links_lead_to_pages_that_work(open_page, lesson, place):
    link = LESSONS[lesson].links[place]
    app = open_page(link.page, **link.choices)
    assert problems(app) == []
    if link.page == "train":
        assert given(app) == link.choices["variant"]
        assert f"--dataset {link.choices['dataset']} --methods {','.join(link.choices['variant'])} " in command(app)
    if link.page == "inside":
        for name in {"tab", "boosting", "gpsc"} & set(link.choices):
            assert app.session_state[name] == link.choices[name]


def test_a_click_carries_the_choices_over(open_page):
    app = open_page("learn", lesson="kernel")
    next(button for button in app.button if button.label == "Linear against degree 2").click().run()
    assert problems(app) == []
    assert app.title[0].value == "Train"
    assert cards(app) == ["CRF", "GP sequence classification · linear", "GP sequence classification"]


def test_generative_shows_what_clues_buy(open_page):
    app = open_page("learn", lesson="generative")
    rows = lessons()["clues"]
    for chart, score in (("clues-0", "span_f1"), ("clues-1", "log_loss")):
        for trace, method in zip(pictures(app)[chart]["data"], ("hmm", "crf"), strict=True):
            assert trace["y"] == [row[score] for row in rows if row["method"] == method]
    said = text(app)
    first = max(("hmm", "crf"), key=lambda method: own(method, "S1")["span_f1"])
    assert f"With the **word alone** the {first.upper()} is ahead" in said
    for method in ("hmm", "crf"):
        assert f"{own(method, 'S1')['span_f1']:.3f}" in said
        assert f"{own(method, 'S2')['span_f1'] - own(method, 'S1')['span_f1']:+.3f}" in said
        assert f"{own(method, 'S3')['log_loss']:.3f}" in said
    assert f"{own('hmm', 'S3')['log_loss'] / own('crf', 'S3')['log_loss']:.1f} times" in said


def test_the_margin_slider_gives_the_losses(open_page):
    app = open_page("learn", lesson="losses", margin="-1.0")
    assert app.dataframe[0].value.to_dict("records") == losses_at(-1.0)
    assert "on the wrong side. It costs: log **1.89**, exp **2.72**, hinge **2.00**. **Exp** pulls hardest" in text(app)
    app.slider(key="margin").set_value(2.0).run()
    assert app.dataframe[0].value.to_dict("records") == losses_at(2.0)
    assert "hinge **0.00**" in text(app)
    assert "Hinge has let go of it" in text(app)


def test_mistakes_are_shown_with_their_bound(open_page):
    app = open_page("learn", lesson="margin")
    rows = lessons()["mistakes"]
    assert app.dataframe[0].value.to_dict("records") == rows
    made, bound = pictures(app)["mistakes"]["data"]
    assert points(made) == [(row["sentences"], row["mistakes"]) for row in rows]
    assert points(bound) == [(row["sentences"], row["bound"]) for row in rows]
    assert f"made **{rows[-1]['mistakes']:,}** mistakes" in text(app)
    assert f"allows **{rows[-1]['bound']:,.0f}**" in text(app)


def test_boosting_is_shown_beside_a_crf_with_an_absolute_penalty(open_page):
    app = open_page("learn", lesson="boosting")
    label = result("default:boosting").config.methods[-1].label
    rounds = model("default:boosting", label).rounds_
    boosted, crf = pictures(app)["few-weights"]["data"]
    chosen = rounds["feature"].nunique()
    assert points(boosted)[-1] == pytest.approx((chosen, 1.0 - rounds["dev_accuracy"].iloc[-1]))
    assert len(points(boosted)) == len(rounds)
    path = result("default:l1-path").rows
    known = sorted((row["used_share"] * row["n_parameters"], 1.0 - row["dev_accuracy"]) for row in path)
    assert [pytest.approx(point) for point in known] == points(crf)
    early = rounds.iloc[:50]
    assert f"uses **{early['feature'].nunique()}** weights, and {1 - early['dev_accuracy'].iloc[-1]:.1%}" in text(app)
    assert f"**{chosen}** of {path[0]['n_parameters']:,.0f} weights" in text(app)
    assert f"**{1 - rounds['dev_accuracy'].iloc[-1]:.1%}**. The CRF uses" in text(app)


def test_a_kernel_is_shown_beside_a_linear_method_and_a_guess(open_page):
    app = open_page("learn", lesson="kernel")
    found = result("default:parity")
    bars = pictures(app)["kernels"]["data"]
    assert [bar["y"][0] for bar in bars] == [row["accuracy_mean"] for row in found.summary()]
    said = text(app)
    for row in found.summary():
        assert f"{row['accuracy_mean']:.1%}" in said
    supports = [row["support"] for row in found.per_label["CRF (tuned)"]]
    assert f"most frequent label always would get {max(supports) / sum(supports):.1%}" in said
    assert f"decoded by Viterbi ({dataset_info('parity').bayes_test_accuracy['viterbi']:.1%})" in said


def test_sparse_models_are_shown_on_their_way_to_the_dense_one(open_page):
    app = open_page("learn", lesson="sparse")
    dense, *sparse = result("default:sparseness").rows
    *traces, line = pictures(app)["sparseness"]["data"]
    assert set(line["y"]) == {dense["dev_accuracy"]}
    for trace, row in zip(traces, sparse, strict=True):
        path = sparse_path(model("default:sparseness", row["label"]))
        assert points(trace) == [(step["fraction"], step["dev_accuracy"]) for step in path]
        near = [step for step in path if step["dev_accuracy"] >= dense["dev_accuracy"] - 0.01]
        if near:
            assert f"**{near[0]['coordinates']:,}** coordinates: **{near[0]['fraction']:.1%}**" in text(app)


def gain(point: AbstentionPoint) -> str:
    return f"withholds **{1 - point.coverage:.1%}** of the tokens; of the rest **{point.precision:.1%}** are right"


def test_the_slider_of_answers_gives_what_is_gained(open_page):
    app = open_page("learn", lesson="abstain", answered="70")
    labels = [choice.label for choice in result("default:abstention").config.methods]
    curves = [predictions("default:abstention", label).abstention() for label in labels]
    assert all(gain(curve.at_coverage(0.7)) in text(app) for curve in curves)
    app.slider(key="answered").set_value(90).run()
    assert all(gain(curve.at_coverage(0.9)) in text(app) for curve in curves)
    marks = [trace for trace in pictures(app)["coverage"]["data"] if trace["mode"] == "lines+markers"]
    assert [mark["y"][0] for mark in marks] == [curve.at_coverage(0.9).risk for curve in curves]


def test_without_default_results_a_lesson_says_so(open_page, monkeypatch):
    monkeypatch.setattr("pages.ui.cached.defaults", lambda: {})
    monkeypatch.setattr("pages.ui.cached.lesson_table", lambda name: [])
    app = open_page("learn", lesson="boosting")
    for lesson in LESSONS:
        if lesson != "losses":
            app.selectbox(key="lesson").select(lesson).run()
            assert problems(app) == []
            assert "numbers of this lesson are missing" in text(app)
    assert default_results()


def test_buttons_lead_through_all_lessons_and_back(open_page):
    app = open_page("learn")
    order = [*(lesson.title for lesson in LESSONS.values()), "What each method has"]
    for title in order:
        assert title in [header.value for header in app.header]
        before, after = (button for button in app.button if button.label.endswith(" lesson"))
        assert before.disabled == (title == order[0])
        assert after.disabled == (title == order[-1])
        if not after.disabled:
            after.click().run()
            assert problems(app) == []
    assert app.query_params["lesson"] == "properties"
    next(button for button in app.button if button.label == "Previous lesson").click().run()
    assert app.query_params["lesson"] == "abstain"
    assert "Lesson 7 of 8" in text(app)


def test_an_unknown_lesson_opens_the_first(open_page):
    app = open_page("learn", lesson="nonsense")
    assert problems(app) == []
    assert next(iter(LESSONS.values())).title in text(app)
