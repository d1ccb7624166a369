"""Learning curves: the runs they are made of, their numbers, and the one that is there before any click."""

from dataclasses import replace

import numpy as np
import pytest

from labseq_core.data.catalogue import load_dataset
from labseq_core.evaluation.metric import Metric
from labseq_core.evaluation.registry import METRICS
from labseq_core.experiments import MethodChoice, cancel, status
from labseq_core.experiments.bundled.defaults import default_configs
from labseq_core.experiments.plan.tasks import tasks_of
from labseq_core.experiments.results.learning_curve import (
    _rows,
    cancel_curve,
    curve_key,
    curve_sizes,
    curve_status,
    default_curve,
    learning_curve,
    learning_curve_configs,
    submit_curve,
)
from labseq_core.experiments.results.run_results import FIRST
from labseq_core.experiments.run.one_task import data_hash, run_task
from labseq_core.experiments.store.run_ids import run_id_of
from labseq_core.features import FeatureTemplate
from labseq_core.learners.registry import make_learner
from tests.experiments.runs import endless, finished, quick, trained_here, wait

ACCURACY = 0.01  # another processor may flip a label or two of some hundreds


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))


def test_a_run_from_before_there_was_a_timed_metric_has_none_of_it():
    config = quick(folds=0, methods=(MethodChoice("hmm"),))
    trained_here(config)
    METRICS._things["joules"] = Metric("joules", "Joules", "energy", "timing", of=lambda timing: 1.0, share=False)
    try:
        (row,) = _rows(config)
    finally:
        del METRICS._things["joules"]
    assert row["joules"] is None
    assert row["train_seconds"] > 0.0


def test_sizes_double_up_to_all_sequences():
    assert curve_sizes(400) == (12, 25, 50, 100, 200, 400)
    assert curve_sizes(21) == (5, 10, 21)
    assert curve_sizes(3) == (3,)


def test_configurations_differ_in_the_training_data_only():
    config = quick(seed=4)
    made = learning_curve_configs(config, (10, 100, 400, 1000))
    assert [each.sequences for each in made] == [10, 100, 0, 0], "all of them is written as in any other run"
    assert all(replace(each, folds=config.folds, sequences=0) == config for each in made)
    assert {each.folds for each in made} == {0}, "one test part for all"
    assert [each.sequences for each in learning_curve_configs(config)] == [12, 25, 50, 100, 200, 0]
    assert {curve_key(each) for each in made} == {curve_key(config)} != {curve_key(quick(seed=5))}


def test_a_row_is_what_a_training_on_so_many_sequences_gives():
    config = quick()
    assert curve_status(config).runs == (None,) * 6
    for each in learning_curve_configs(config):
        assert not curve_status(config).done
        trained_here(each)
    assert curve_status(config).done
    assert curve_status(config).fraction == 1.0
    rows = learning_curve(config)
    assert [row["sequences"] for row in rows if row["label"] == "HMM"] == [12, 25, 50, 100, 200, 400]
    corpus = load_dataset(config.dataset)
    row = next(row for row in rows if row["sequences"] == 50 and row["label"] == "HMM")
    train = corpus.train.select(range(50))
    learner = make_learner("hmm").fit(FeatureTemplate("S3").encode(train), train.labels)
    said = learner.predict(corpus.test)
    right = [np.equal(a, b) for a, b in zip(said, corpus.test.labels)]
    share = np.concatenate(right).mean()
    assert row["accuracy"] == share
    assert row["tokens"] == train.n_tokens
    n, total = len(right), sum(map(len, right))
    spread = sum((each.sum() - share * len(each)) ** 2 for each in right)
    assert row["accuracy_se"] == pytest.approx(np.sqrt(n / (n - 1) * spread) / total, rel=1e-12)
    assert (row["metric_mode"], row["seed"]) == ("conlleval", 0)
    assert row["run_id"] == run_id_of(learning_curve_configs(config)[2])


def test_a_curve_is_made_by_the_engine_and_can_be_cancelled():
    config = quick(methods=(MethodChoice("hmm"),))
    ids = submit_curve(config)
    for run_id in ids:
        wait(run_id, finished)
    assert curve_status(config).done
    assert [row["label"] for row in learning_curve(config)] == ["HMM"] * 6
    assert submit_curve(config) == ids, "what is there is not made again"

    long = endless()
    ids = submit_curve(long)
    assert curve_status(long).active
    cancel_curve(long)
    for run_id in ids:
        wait(run_id, finished)
    assert {status(run_id).state for run_id in ids} == {"cancelled"}
    assert not curve_status(long).active
    assert len(curve_status(long).errors) == 6
    cancel(ids[0])


def test_the_default_curve_belongs_to_the_present_data_and_configuration():
    kept = default_curve()
    assert kept.config == default_configs()[FIRST], "run `labseq defaults learning-curve`"
    assert kept.data_hash == data_hash(FIRST)
    configs = learning_curve_configs(kept.config)
    labels = [choice.label for choice in kept.config.methods]
    assert [(row["config_hash"], row["label"]) for row in kept.rows] == [
        (each.hash, label) for each in configs for label in labels
    ]
    place = 3 * 2  # the first method on the third size
    again = run_task(configs[2], tasks_of(configs[2])[0], lambda progress: True).row
    assert kept.rows[place]["accuracy"] == pytest.approx(again["accuracy"], abs=ACCURACY)
    assert kept.rows[place]["span_f1"] == pytest.approx(again["span_f1"], abs=ACCURACY)
