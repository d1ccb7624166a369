"""From a run back to the form: the Train page opened with these choices says the same."""

from __future__ import annotations

import hypothesis
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from labseq_core.evaluation.registry import METRICS
from labseq_core.experiments import ExperimentConfig, FeatureChoice, MethodChoice, default_results
from labseq_core.learners import METHODS, method_options
from pages.ui.train.form_link import form_choices
from pages.ui.train.variants import USUAL
from tests.app.conftest import problems, text
from tests.app.form import given
from tests.experiments.random_variants import features, variants


def unusual(method: str) -> MethodChoice:
    """Every option of a method at another value than its default."""
    values = {}
    for name, option in method_options(method).items():
        if option.kind == "kernel":
            values[name] = "poly:3:0.5"
        elif option.kind == "bool":
            values[name] = not option.default
        elif option.kind == "choice":
            values[name] = next(choice for choice in option.choices if choice != option.default)
        elif option.kind == "int":
            values[name] = option.default + 1 if option.default is not None else 7
        else:
            values[name] = min((option.default or 0.5) * 0.3, option.high or 1.0)
    return MethodChoice(method, values)


COLUMNS = st.sampled_from(["pos", "log_duration"])
HELD = {
    "all methods": ExperimentConfig("toy-pos", tuple(map(unusual, METHODS))),
    "usual": ExperimentConfig("toy-pos", (MethodChoice("crf"),)),
    "a kernel of several parts": ExperimentConfig(
        "parity", (MethodChoice("hmsvm", {"kernel": "normalized(poly:2)+token"}),), FeatureChoice("prosody", window=1)
    ),
    "a kernel with a text": ExperimentConfig("toy-pos", (MethodChoice("hmsvm", {"kernel": "token:part%20of%20speech"}),)),
    "a sum that begins with a simple kernel": ExperimentConfig("toy-pos", (MethodChoice("gps", {"kernel": "rbf:2+linear"}),)),
    "search": ExperimentConfig(
        "parity", (MethodChoice("gps", {"eta": 2.0}, {"kernel": ["linear", "poly:2"], "l2": [0.25, 1.0]}),), folds=3
    ),
    "features": ExperimentConfig(
        "pitch-accent", (MethodChoice("crf", {"l2": 0.123456789012}),),
        FeatureChoice("prosody", window=5, bins=25, columns=("pos", "log_duration")), seed=7,
    ),
    "joint codes": ExperimentConfig("toy-pos", (MethodChoice("hmm"),), FeatureChoice("S3", joint=True), calibrate=True),
    "few sequences": ExperimentConfig("toy-pos", (MethodChoice("hmm"),), folds=10, sequences=100),
    "what is in no list": ExperimentConfig(
        "toy-pos", (MethodChoice("crf"), MethodChoice("crf", {"l2": 0.1}), MethodChoice("perceptron", {"seed": 4})),
        FeatureChoice("S3", window=13, bins=7), folds=12, sequences=20_000_000, metrics=("ece", "accuracy"),
    ),
    "all tuned": ExperimentConfig(
        "toy-pos", (MethodChoice("crf", search="tune"), MethodChoice("hmm", {}, {"smoothing": [0.1]}))
    ),
    "one tuned": ExperimentConfig("toy-pos", (MethodChoice("crf", search="tune"), MethodChoice("crf"))),
    "tested elsewhere": ExperimentConfig("toy-pos", (MethodChoice("crf"),), test_dataset="toy-pos"),
}  # fmt: skip


def expect_the_same(open_page, config: ExperimentConfig) -> None:
    """Whether the cards are closed or open: no widget changes what it shows."""
    link = form_choices(config)
    app = open_page("train", **link)
    for _ in range(2):
        assert problems(app) == []
        assert config.to_yaml() in text(app)
        for place in range(len(config.methods)):
            app.session_state[f"variant.{place}"] = True
        app.run()
    assert given(app) == ([] if link["variant"] == list(USUAL) else link["variant"])


@pytest.mark.parametrize("name", HELD)
def test_the_form_says_what_the_run_was(open_page, name):
    expect_the_same(open_page, HELD[name])


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@hypothesis.given(
    methods=st.lists(variants(COLUMNS), min_size=1, max_size=5, unique_by=lambda each: each.label),
    features=features(COLUMNS), folds=st.sampled_from([0, 2, 50]), seed=st.integers(0, 2**32 - 1),
    sequences=st.sampled_from([0, 50]), metrics=st.lists(st.sampled_from(list(METRICS)), max_size=2, unique=True),
)  # fmt: skip
def test_any_run_goes_into_a_link_and_comes_back(open_page, methods, **other):
    expect_the_same(open_page, ExperimentConfig("pitch-accent", tuple(methods), **other))


def test_results_that_come_with_labseq_can_be_repeated(open_page):
    for found in default_results().values():
        app = open_page("train", **form_choices(found.config))
        assert problems(app) == []
        assert found.config.to_yaml() in text(app)
