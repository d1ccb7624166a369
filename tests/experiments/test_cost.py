"""What is said of the cost of a run beforehand, beside times that were measured (`labseq bench cost`)."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from benchmarks.cost import FEATURES, predicted_seconds
from labseq_core.experiments import ExperimentConfig, FeatureChoice, MethodChoice
from labseq_core.experiments.plan.cost import START_SECONDS, TASK_SECONDS, data_size, expected_cost, fit_cost
from labseq_core.kernels import Observations
from labseq_core.learners import SequenceLearner
from labseq_core.learners.registry import METHODS, method_options

FACTOR = 4.0
with open(Path(__file__).with_name("measured_fits.csv"), encoding="utf-8", newline="") as file:
    MEASURED = list(csv.DictReader(file))


def is_usual(row: dict) -> bool:
    """Default options, with features that the corpus is shown with or that the form begins with."""
    return row["options"] == "{}" and row["template"] != "S1"


def test_every_learner_was_measured():
    measured = {METHODS[row["method"]].learner for row in MEASURED}
    assert measured == {method.learner for method in METHODS.values()}


@pytest.mark.parametrize("method", dict.fromkeys(row["method"] for row in MEASURED))
def test_the_usual_fits_of_every_method_take_what_is_expected(method):
    rows = [row for row in MEASURED if row["method"] == method and is_usual(row)]
    assert {row["dataset"] for row in rows} == set(FEATURES)
    for row in rows:
        assert 1 / FACTOR < float(row["seconds"]) / predicted_seconds(row) < FACTOR, row


def test_hardly_any_fit_is_far_from_what_is_expected():
    far = [row for row in MEASURED if not 1 / FACTOR < float(row["seconds"]) / predicted_seconds(row) < FACTOR]
    assert len(far) <= 0.03 * len(MEASURED), far


def test_kernels_and_other_options_were_measured_too():
    options = {(row["method"], name) for row in MEASURED for name in json.loads(row["options"])}
    assert {("hmsvm", "kernel"), ("gps", "kernel"), ("crf", "l1"), ("boost", "bound")} <= options


def test_data_are_counted():
    from labseq_core.data.catalogue import load_dataset

    size = data_size("toy-pos", FeatureChoice("S3"))
    train = load_dataset("toy-pos").train
    encoded = FeatureChoice("S3").make().encode(train)
    assert (size.sequences, size.tokens, size.labels) == (
        len(train),
        train.n_tokens,
        len(load_dataset("toy-pos").labels),
    )
    assert size.attributes == len(encoded.indices) / encoded.n_positions
    assert size.vocabulary == encoded.n_attributes
    assert size.observations == len(Observations.of(encoded))
    few = data_size("toy-pos", FeatureChoice("S3"), 100)
    assert few.tokens == train.offsets[100]
    assert 0 < few.observations < size.observations


def test_folds_searches_and_workers_are_counted():
    one = expected_cost(ExperimentConfig("toy-pos", (MethodChoice("crf"),)), workers=1)
    searched = MethodChoice("crf", {}, {"l2": [0.1, 1.0, 10.0]})
    three = expected_cost(ExperimentConfig("toy-pos", (searched,)), workers=1)
    (seconds,) = one.by_label.values()
    assert three.by_label == {searched.label: pytest.approx(3 * seconds)}
    assert three.seconds == pytest.approx(START_SECONDS + 3 * seconds + 3 * TASK_SECONDS)
    folds = expected_cost(ExperimentConfig("toy-pos", (searched,), folds=5), workers=1)
    assert folds.by_label[searched.label] == pytest.approx(5 * 4 * 0.8 * seconds, rel=0.01)
    parallel = expected_cost(ExperimentConfig("toy-pos", (searched,), folds=5), workers=10)
    assert parallel.seconds - START_SECONDS == pytest.approx((folds.seconds - START_SECONDS) / 10)


@pytest.mark.parametrize("method", METHODS)
def test_more_data_and_more_work_cost_more(method):
    size = data_size("spanish-ner", FeatureChoice("S3"))
    seconds, megabytes = fit_cost(MethodChoice(method), size)
    more_seconds, more_megabytes = fit_cost(MethodChoice(method), size.share(10))
    assert more_seconds > 5 * seconds
    assert more_megabytes > megabytes
    for name in ("epochs", "rounds"):
        if name in method_options(method):
            usual = method_options(method)[name].default
            assert fit_cost(MethodChoice(method, {name: 2 * usual}), size)[0] == pytest.approx(2 * seconds)


def test_kernels_do_not_take_more_memory_than_they_may():
    size = data_size("spanish-ner", FeatureChoice("S3")).share(100)
    for method in ("dual-perceptron", "hmsvm", "gps", "sgps"):
        seconds, megabytes = fit_cost(MethodChoice(method, {"kernel": "rbf:8"}), size)
        assert 1000 < megabytes <= 2 * 1024 * 1.05, method
        assert seconds > 60
    low_rank = fit_cost(MethodChoice("gps", {"kernel": "rbf:8", "rank": 10}), size)
    assert low_rank[0] < fit_cost(MethodChoice("gps", {"kernel": "rbf:8"}), size)[0]


@pytest.mark.parametrize("method", [method for method in METHODS if "route" in method_options(method)])
def test_a_route_that_a_kernel_does_not_have_is_estimated_too(method):
    """The training then says what is wrong; a form that is not complete yet must not break."""
    size = data_size("toy-pos", FeatureChoice("S3"))
    for kernel in ("rbf:1", "linear+rbf:1", "poly:9", "normalized(poly:2)", "token"):
        assert min(fit_cost(MethodChoice(method, {"kernel": kernel, "route": "explicit"}), size)) > 0


def test_a_method_that_says_nothing_costs_like_a_crf():
    size = data_size("toy-pos", FeatureChoice("S3"))
    assert SequenceLearner.cost({}, size) == fit_cost(MethodChoice("crf"), size)
