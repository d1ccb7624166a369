"""The Margins tab of the inside page: its curves and shares are those of the models on their training sentences."""

from __future__ import annotations

import json

import numpy as np
import pytest

from labseq_core.archives import LoadedArrays
from labseq_core.checks import LabSeqError
from labseq_core.experiments import ExperimentConfig, FeatureChoice, MethodChoice, model, result
from labseq_core.experiments.bundled.default_margins import default_margins, make_margins, restored_margins
from labseq_core.experiments.bundled.defaults import default_configs
from labseq_core.experiments.run.one_task import training_data
from labseq_core.explain import cumulative
from tests.app.conftest import problems, text
from tests.experiments.runs import trained_here

NAME = "margin-distribution"
RUN = f"default:{NAME}"
# Another processor may round differently; scores are sums of some hundreds of weights.
CLOSE = {"rtol": 1e-6, "atol": 1e-6}


@pytest.fixture
def no_runs(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))


def lines(app) -> list[dict]:
    return json.loads(app.get("plotly_chart")[0].proto.spec)["data"]


@pytest.mark.usefixtures("no_runs")
def test_the_default_is_shown_without_a_choice_and_without_computing(open_page, monkeypatch):
    from pages.ui.inside import cached as caching_inside

    monkeypatch.setattr(caching_inside, "margins", lambda *given: pytest.fail("these were made beforehand"))
    app = open_page("inside", tab="Margins")
    assert problems(app) == []
    assert app.selectbox(key="run").value == RUN
    known = default_margins(NAME)
    assert len(lines(app)) == len(known) == 3
    for line, own in zip(lines(app), known.values(), strict=True):
        places, shares = cumulative(own.on("length"))
        assert line["x"][0] == places[0]
        assert line["x"][-1] == places[-1]
        assert set(line["x"]) <= set(places.tolist())
        assert dict(zip(line["x"], line["y"])).items() <= dict(zip(places.tolist(), shares.tolist())).items()
    assert len({line["line"]["dash"] for line in lines(app)}) == 3, "not by colour alone"
    table = app.table[0].value
    for (_, row), own in zip(table.iterrows(), known.values(), strict=True):
        assert row["Margin > 0"] == f"{np.mean(own.values > 0):.1%}"
        assert row["Margin > 1"] == f"{np.mean(own.values > 1):.1%}"
    assert len(app.get("download_button")) == 3


def test_the_scale_and_theta_are_choices(open_page):
    app = open_page("inside", tab="Margins", run=RUN)
    app.segmented_control(key="scale").set_value("sum of weights").run()
    app.number_input(key="theta").set_value(0.002).run()
    assert problems(app) == []
    known = default_margins(NAME)
    table = app.table[0].value
    for line, (_, row), own in zip(lines(app), table.iterrows(), known.values(), strict=True):
        assert line["x"][-1] == own.on("sum").max()
        assert row["≤ θ = 0.002"] == f"{np.mean(own.on('sum') <= 0.002):.1%}"
    app.segmented_control(key="scale").set_value("scores").run()
    assert problems(app) == []
    narrowest = app.dataframe[0].value
    least = np.sort(np.min([own.values for own in known.values()], axis=0))[: len(narrowest)]
    np.testing.assert_array_equal(narrowest.iloc[:, 2:].min(axis=1), least)


@pytest.mark.usefixtures("no_runs")
def test_a_run_of_ones_own_with_methods_that_have_no_length(open_page):
    choices = (MethodChoice("hmm"), MethodChoice("crf", {"max_iter": 5}))
    config = ExperimentConfig("toy-pos", choices, FeatureChoice("S1"), folds=2)
    app = open_page("inside", tab="Margins", run=trained_here(config))
    assert problems(app) == []
    assert len(lines(app)) == 1
    assert "Not on this scale: HMM" in text(app)
    app.segmented_control(key="scale").set_value("scores").run()
    observations, labels = training_data(config, choices[0].label)
    for line, choice in zip(lines(app), choices, strict=True):
        values = model(app.selectbox(key="run").value, choice.label).margins(observations, labels)
        np.testing.assert_allclose([line["x"][0], line["x"][-1]], [values.min(), values.max()], **CLOSE)


@pytest.mark.usefixtures("no_runs")
def test_models_without_any_length_have_scores_only(open_page):
    config = ExperimentConfig("toy-pos", (MethodChoice("hmm"),), FeatureChoice("S1"))
    app = open_page("inside", tab="Margins", run=trained_here(config), scale="length")
    assert problems(app) == []
    assert app.segmented_control(key="scale").options == ["scores"]
    assert len(lines(app)) == 1


@pytest.mark.usefixtures("no_runs")
def test_large_runs_are_asked_for_first(open_page, monkeypatch):
    from pages.ui import cached as caching

    monkeypatch.setattr(caching, "QUICK_TOKENS", 10)
    config = ExperimentConfig("toy-pos", (MethodChoice("hmm"),), FeatureChoice("S1"))
    app = open_page("inside", tab="Margins", run=trained_here(config))
    assert problems(app) == []
    assert not app.get("plotly_chart")
    next(button for button in app.button if button.label == "Find the margins").click().run()
    assert problems(app) == []
    assert len(lines(app)) == 1


@pytest.mark.parametrize("name", ["toy-pos", NAME])
def test_the_margins_that_come_with_labseq_can_be_made_again(name):
    kept, again = default_margins(name), make_margins(name)
    assert list(kept) == list(again) == [choice.label for choice in result(f"default:{name}").config.methods]
    for label, own in kept.items():
        np.testing.assert_allclose(own.values, again[label].values, err_msg=label, **CLOSE)
        assert own.tokens.tolist() == again[label].tokens.tolist()
        for scale in ("length", "sum"):
            assert (own.norm(scale) is None) == (again[label].norm(scale) is None)
            assert (own.norm(scale) or 0.0) == pytest.approx(again[label].norm(scale) or 0.0, rel=1e-6)


ODD_MARGINS = {
    "short": {"0": np.zeros(2)}, "no number": {"0": np.array([1.0, np.nan, 0.0])},
    "another type": {"0": np.zeros(3, np.float32)}, "no length": {"tokens": np.array([1, -1, 2])},
    "one more": {"1": np.zeros(3)}, "too few": {"tokens": np.array([1, 2])},
}  # fmt: skip
ODD_NAMES = [{"labels": ["A", "B"]}, {"labels": [None]}, {"norms": []}, {"norms": [{"length": "x", "total": None}]},
             {"norms": [{"length": 1.0}]}, {"norms": None}, {"norms": [{"length": np.nan, "total": None}]}]  # fmt: skip


def test_altered_margins_are_refused_before_they_are_used():
    arrays = {"0": np.array([1.0, np.inf, -2.0]), "tokens": np.array([3, 1, 4])}
    meta = {"labels": ["A"], "norms": [{"length": 2.0, "total": None}]}
    (kept,) = restored_margins(LoadedArrays(arrays), meta).values()
    assert kept.on("length").tolist() == [0.5, np.inf, -1.0]
    for odd in ODD_MARGINS.values():
        with pytest.raises(LabSeqError):
            pytest.fail(str(restored_margins(LoadedArrays({**arrays, **odd}), meta)))
    for odd in ODD_NAMES:
        with pytest.raises(LabSeqError):
            pytest.fail(str(restored_margins(LoadedArrays(arrays), {**meta, **odd})))


def test_every_default_has_margins():
    for name, config in default_configs().items():
        assert list(default_margins(name)) == [choice.label for choice in config.methods], "run `labseq defaults`"
