"""Two views of the GPSC tab: influential observations and Gram matrix are those of the models."""

from __future__ import annotations

import json

import pytest

from labseq_core.experiments import ExperimentConfig, FeatureChoice, MethodChoice, model, result
from labseq_core.experiments.run.one_task import scored_data, training_data, training_tokens_of
from labseq_core.explain import TrainingView, coefficients, gram_sample, influences, spectrum
from tests.app.conftest import problems, text
from tests.experiments.runs import trained_here

RUN = "default:sparseness"
DECIDES, GRAM = {"tab": "GPSC", "gpsc": "Who decides"}, {"tab": "GPSC", "gpsc": "Gram matrix"}
DENSE, SPARSE = (result(RUN).config.methods[place].label for place in (0, 1))


@pytest.fixture
def no_runs(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))


@pytest.fixture(scope="module")
def view() -> TrainingView:
    config = result(RUN).config
    return TrainingView(*training_data(config, DENSE), training_tokens_of(config, DENSE))


def charts(app) -> list[dict]:
    """Influence, or Gram matrix and spectrum."""
    return [json.loads(chart.proto.spec)["data"][0] for chart in app.get("plotly_chart")]


def show(app, view: dict[str, str]) -> None:
    app.segmented_control(key="gpsc").set_value(view["gpsc"]).run()
    assert problems(app) == []


def expected(view: TrainingView, label: str, sentence: int, word: int, for_label: str | None = None):
    learner, own = model(RUN, label), scored_data(result(RUN).config, label)[0].select([sentence - 1])
    return influences(learner, view, coefficients(learner, view), own, word - 1, for_label)


@pytest.mark.usefixtures("no_runs")
def test_the_default_model_is_shown_without_a_choice(open_page, view):
    app = open_page("inside", **DECIDES)
    assert problems(app) == []
    found = expected(view, DENSE, 1, int(app.selectbox(key="token").value))
    (bars,) = charts(app)
    assert bars["x"] == pytest.approx([row["difference"] for row in found.largest("difference")[:12]])
    assert f"is **{found.score:+.3f}**" in text(app)
    assert len(set(bars["y"])) == len(bars["y"]), "bars of one name would fall together"
    assert app.dataframe[0].value["difference"].tolist() == pytest.approx(
        [row["difference"] for row in found.largest("difference")[:100]]
    )
    assert f"an average word has {found.average:+.3f}" in text(app)
    show(app, GRAM)
    matrix, eigenvalues = charts(app)
    sample = gram_sample(model(RUN, DENSE).kernel, view, 60)
    assert matrix["z"] == pytest.approx(sample.values)
    values = spectrum(sample.values)
    assert eigenvalues["y"] == pytest.approx(values.eigenvalues[: len(eigenvalues["y"])].tolist())
    assert f"**Effective rank {values.effective_rank:.1f}** of 60" in text(app)


def test_model_sentence_word_and_label_are_choices_that_stay(open_page, view):
    app = open_page("inside", run=RUN, **DECIDES)
    app.segmented_control(key="gp").set_value("sparse: random, last").run()
    app.number_input(key="text").set_value(4).run()
    app.selectbox(key="token").set_value("2").run()
    other = model(RUN, SPARSE).classes_[0]
    app.selectbox(key="for").set_value(other).run()
    app.toggle(key="against").set_value(False).run()
    assert problems(app) == []
    found = expected(view, SPARSE, 4, 2, other)
    shown = pytest.approx([row["contribution"] for row in found.largest("contribution")[:12]])
    assert charts(app)[0]["x"] == shown
    show(app, GRAM)
    assert app.segmented_control(key="gp").value == "sparse: random, last"
    app.slider(key="sample").set_value(30).run()
    app.toggle(key="cosine").set_value(True).run()
    show(app, {"gpsc": "Fit"})
    show(app, DECIDES)
    assert charts(app)[0]["x"] == shown
    show(app, GRAM)
    assert len(charts(app)[0]["z"]) == 30
    assert app.toggle(key="cosine").value


def test_the_sample_can_be_smaller_and_of_one_length(open_page):
    app = open_page("inside", run="default:parity", **GRAM)
    app.slider(key="sample").set_value(20).run()
    app.toggle(key="cosine").set_value(True).run()
    assert problems(app) == []
    matrix = charts(app)[0]
    assert len(matrix["z"]) == 20
    assert [matrix["z"][place][place] for place in range(20)] == pytest.approx([1.0] * 20)


@pytest.mark.usefixtures("no_runs")
def test_a_fit_by_features_and_a_short_sentence_after_a_long_one(open_page):
    choice = MethodChoice("gps", {"route": "explicit", "max_iter": 5})
    config = ExperimentConfig("toy-pos", (choice,), FeatureChoice("S1", window=1))
    app = open_page("inside", run=trained_here(config), text="99999", token="1000", **{"for": "NoSuchLabel"}, **DECIDES)
    assert problems(app) == []
    lengths = scored_data(config, choice.label)[1].lengths.tolist()
    app.number_input(key="text").set_value(lengths.index(max(lengths)) + 1).run()
    app.selectbox(key="token").set_value(str(max(lengths))).run()
    app.number_input(key="text").set_value(lengths.index(min(lengths)) + 1).run()
    assert problems(app) == []
    assert "is left: the fit is not exactly at the minimum" in text(app), "five iterations are not enough"


@pytest.mark.usefixtures("no_runs")
def test_large_runs_are_asked_for_first(open_page, monkeypatch):
    from pages.ui import cached as caching

    monkeypatch.setattr(caching, "QUICK_TOKENS", 10)
    for view in (DECIDES, GRAM):
        app = open_page("inside", run=RUN, **view)
        assert problems(app) == []
        assert not charts(app)
        next(button for button in app.button if button.label == "Look at the training observations").click().run()
        assert problems(app) == []
        assert charts(app)
    show(app, DECIDES)
    assert charts(app), "asked for once is enough"
