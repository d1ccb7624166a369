"""From a run back to the form: the Train page opened with these choices says the same."""

from __future__ import annotations

import pytest

from labseq_core.experiments import ExperimentConfig, FeatureChoice, MethodChoice, default_results
from labseq_core.learners import METHODS, method_options
from pages.ui.train.form_link import form_choices
from tests.app.conftest import problems, text


def unusual(method: str) -> MethodChoice:
    """Every option of a method that the form has, at another value than its default."""
    values = {}
    for name, option in method_options(method).items():
        if name == "seed":
            continue
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
}  # fmt: skip


@pytest.mark.parametrize("name", HELD)
def test_the_form_says_what_the_run_was(open_page, name):
    choices, left_out = form_choices(HELD[name])
    assert left_out == []
    app = open_page("train", **choices)
    assert problems(app) == []
    assert HELD[name].cli_command() in text(app)


def test_what_the_form_cannot_hold_is_told():
    config = ExperimentConfig(
        "toy-pos", (MethodChoice("crf"), MethodChoice("crf", {"l2": 0.1}), MethodChoice("perceptron", {"seed": 4})),
        FeatureChoice("S3", window=13, bins=7), folds=12, sequences=20_000_000,
    )  # fmt: skip
    choices, left_out = form_choices(config)
    assert left_out == [
        "CRF (l2=0.1)", "Averaged perceptron (seed=4): seed", "window 13", "bins 7", "folds 12", "20000000 training sequences",
    ]  # fmt: skip
    assert choices["methods"] == ["CRF", "Averaged perceptron"]


def test_results_that_come_with_labseq_can_be_repeated(open_page):
    for found in default_results().values():
        choices, left_out = form_choices(found.config)
        app = open_page("train", **choices)
        assert problems(app) == []
        if not left_out:
            assert found.config.cli_command() in text(app)
