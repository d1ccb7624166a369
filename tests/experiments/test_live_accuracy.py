"""Accuracy while a method learns: cheap, on sequences held out, and without any influence on what is learned."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from labseq_core.experiments import ExperimentConfig, MethodChoice, export_run, import_run, result, status, submit
from labseq_core.experiments.plan.tasks import tasks_of
from labseq_core.experiments.results.training_curves import CURVE_POINTS, add_points
from labseq_core.experiments.run import live_accuracy
from labseq_core.experiments.run.live_accuracy import EVERY, MOST_SEQUENCES, MOST_TOKENS, LiveAccuracy, sample_places
from labseq_core.experiments.run.one_task import Cancelled, run_task
from labseq_core.experiments.service import model, predictions
from labseq_core.experiments.store.run_store import RunStore
from labseq_core.features import encode_attributes
from labseq_core.learners.base import SequenceLearner
from labseq_core.progress import Progress
from tests.experiments import runs
from tests.experiments.runs import finished, quick, trained_here, wait

SHARE = 0.05  # of the training time, at most


class Simulated:
    """Time that passes only by training and by labelling; labels are all right."""

    def __init__(self, per_token: float, fixed: float, step: float, growth: float = 0.0):
        self.now, self.per_token, self.fixed, self.step, self.growth = 0.0, per_token, fixed, step, growth
        self.labels = [["A"] * 10 for _ in range(1000)]
        encoded = encode_attributes([["word"] * 10 for _ in range(1000)])
        self.live = LiveAccuracy(encoded, self.labels, clock=lambda: self.now, work=lambda: self.now)
        self.moments: list[float] = []

    def predict(self, encoded, decode=None) -> list[list[str]]:
        self.now += self.fixed + self.per_token * encoded.n_positions
        return [["A"] * int(length) for length in np.diff(encoded.offsets)]

    def train(self, seconds: float) -> None:
        iteration = 0
        while self.now - self.live.seconds < seconds:
            self.now += self.step
            iteration += 1
            if self.live.measured(Progress(iteration, 1.0, 0.5, self.predict)) is not None:
                self.moments.append(self.now)
            self.per_token += self.growth * self.step


@pytest.mark.parametrize(
    ("per_token", "fixed", "at_least"),
    [
        (1e-7, 1e-4, 55),
        (1e-6, 1e-3, 55),
        (1e-5, 1e-2, 25),
        (1e-4, 0.0, 3),
        (0.0, 0.2, 5),
        (1e-3, 0.0, 0),
        (1e-3, 1.0, 0),
    ],
)
@pytest.mark.parametrize("step", [0.001, 0.1, 3.0])
def test_measuring_costs_little_whatever_labelling_costs(per_token, fixed, at_least, step):
    simulated = Simulated(per_token, fixed, step)
    simulated.train(60.0)
    guess = 3 * fixed + (2 * 10 + 19 * 10) * per_token  # the first look at the cost itself
    assert simulated.live.seconds <= SHARE * 60.0 + guess
    assert len(simulated.moments) >= (at_least if step < 1.0 else min(at_least, 3))
    late = [moment for moment in simulated.moments if moment > 4 * EVERY]
    assert all(after - before >= EVERY for before, after in pairwise(late))


@pytest.mark.parametrize("share", [0.001, 0.01, 0.05])
def test_a_model_that_grows_is_asked_less_often(share):
    """To label the sample takes a share of all time so far."""
    simulated = Simulated(0.0, 0.0, 0.01, growth=share / MOST_TOKENS)
    for seconds in (10.0, 30.0, 100.0, 300.0):
        simulated.train(seconds)
        assert simulated.live.seconds <= SHARE * seconds
    assert len(simulated.moments) >= 2
    assert np.diff(simulated.moments)[-1] > 5 * EVERY


def test_nothing_is_asked_of_a_fit_that_has_nothing_to_say():
    simulated = Simulated(0.0, 0.0, 0.1)
    for iteration in (0, 5):
        simulated.now += 10.0
        predict = simulated.predict if iteration == 0 else None
        assert simulated.live.measured(Progress(iteration, 1.0, 0.5, predict)) is None


@pytest.mark.parametrize("lengths", [[3] * 10, [30] * 5000, [20_000] * 4, [1] * 900, [1, 9000, 1], [4, 7, 2]])
def test_a_sample_is_small_and_spread_over_all_that_is_held_out(lengths):
    lengths = np.array(lengths)
    places = sample_places(lengths)
    assert len(set(places)) == len(places) > 0
    assert places == sorted(places)
    assert len(places) <= MOST_SEQUENCES
    assert len(places) == 1 or lengths[places].sum() <= MOST_TOKENS
    if lengths.sum() <= MOST_TOKENS and len(lengths) <= MOST_SEQUENCES:
        assert places == list(range(len(lengths)))
    elif lengths.max() == lengths.min() < MOST_TOKENS:
        assert places[-1] >= 0.9 * len(lengths)
    assert sample_places(np.zeros(0, dtype=np.int64)) == []


METHODS = ("crf", "perceptron", "dual-perceptron", "hmsvm", "gps", "sgps", "boost")
SMALL = ExperimentConfig("toy-pos", tuple(map(MethodChoice, METHODS)), sequences=60)


def always(monkeypatch) -> None:
    """At every step, whatever it costs."""
    for name, value in {"SHARE": np.inf, "EVERY": 0.0, "NOT_BEFORE": 0.0}.items():
        monkeypatch.setattr(live_accuracy, name, value)


def never(monkeypatch) -> None:
    monkeypatch.setattr(LiveAccuracy, "measured", lambda live, progress: None)


def found(run_id: str) -> tuple:
    """All that a run says but for times and memory, which its CSV leaves out too."""
    said = [predictions(run_id, choice.label).to_bytes() for choice in SMALL.methods]
    arrays = [model(run_id, choice.label)._arrays() for choice in SMALL.methods]
    return result(run_id).csv(), said, [{name: array.tobytes() for name, array in each.items()} for each in arrays]


def test_results_are_the_same_to_the_byte_with_and_without(monkeypatch):
    with monkeypatch.context() as patched:
        never(patched)
        without = found(trained_here(SMALL))
    asked = []
    with monkeypatch.context() as patched:
        always(patched)
        patched.setattr(runs, "_finished_runs", {})  # trained once more
        measured = LiveAccuracy.measured
        patched.setattr(LiveAccuracy, "measured", lambda *given: asked.append(measured(*given)) or asked[-1])
        assert found(trained_here(SMALL)) == without
    assert sum(accuracy is not None for accuracy in asked) > 50


@pytest.mark.parametrize("folds", [0, 3])
@pytest.mark.parametrize("choice", SMALL.methods, ids=METHODS)
def test_accuracies_are_told_and_end_at_that_of_the_model(monkeypatch, choice, folds):
    always(monkeypatch)
    config = ExperimentConfig("toy-pos", (choice,), folds=folds, sequences=60)
    told: list[Progress] = []
    row = run_task(config, tasks_of(config)[0], lambda progress: told.append(progress) or True).row
    accuracies = [progress.accuracy for progress in told if progress.accuracy is not None]
    assert len(accuracies) > 2
    assert all(0.0 <= accuracy <= 1.0 for accuracy in accuracies)
    # The sample is all that is held out, but for the few sequences of the development part that are too many.
    final = row["accuracy"] if folds else row["dev_accuracy"]
    assert accuracies[-1] == pytest.approx(final, abs=0.0 if folds else 0.02)
    assert abs(accuracies[-2] - accuracies[-1]) < 0.05
    assert all(progress.predict is None for progress in told), "what the fit holds is not kept alive"


def test_what_is_measured_is_decoded_as_the_variant_is(monkeypatch):
    always(monkeypatch)
    asked, label = [], SequenceLearner._predict_by

    def watched(learner, scores, X, decode=None):
        asked.append(decode)
        return label(learner, scores, X, decode)

    monkeypatch.setattr(SequenceLearner, "_predict_by", watched)
    config = ExperimentConfig("toy-pos", (MethodChoice("crf", {"max_iter": 5}, decode="posterior"),), sequences=20)
    run_task(config, tasks_of(config)[0], lambda progress: True)
    assert len(asked) > 3
    assert set(asked) == {"posterior"}


def test_values_of_a_search_are_measured_on_what_they_are_chosen_by(monkeypatch):
    always(monkeypatch)
    choice = MethodChoice("crf", search={"l2": [0.1, 1.0]})
    config = ExperimentConfig("toy-pos", (choice,), folds=2, sequences=60)
    task, told = tasks_of(config)[0], []
    assert task.point is not None
    tried = run_task(config, task, lambda progress: told.append(progress.accuracy) or True).tried
    assert told[-1] == pytest.approx(tried["score"]), "toy-pos has no spans: it is chosen by accuracy"


def test_time_to_measure_is_no_training_time(monkeypatch):
    always(monkeypatch)
    times = iter(range(0, 10**9, 1000))
    monkeypatch.setattr(LiveAccuracy, "measured", lambda live, progress: setattr(live, "seconds", 50.0))
    monkeypatch.setattr("labseq_core.experiments.run.one_task.time.perf_counter", lambda: float(next(times)))
    config = ExperimentConfig("toy-pos", (MethodChoice("hmm"),), sequences=60)
    row = run_task(config, tasks_of(config)[0], lambda progress: True).row
    assert row["train_seconds"] % 1000 == 950


def test_a_run_can_be_cancelled_when_only_its_accuracy_is_left_to_tell(monkeypatch):
    never(monkeypatch)
    config = ExperimentConfig("toy-pos", (MethodChoice("crf"),), sequences=60)
    with pytest.raises(Cancelled):
        run_task(config, tasks_of(config)[0], lambda progress: progress.accuracy is None)


def test_a_curve_keeps_its_beginning_its_end_and_its_accuracies():
    curve: list = []
    for iteration in range(50_000):
        accuracy = 0.5 if iteration % 5000 == 333 else None
        add_points(curve, [(iteration, 1.0 / (1 + iteration), accuracy)])
        assert len(curve) <= CURVE_POINTS
        assert curve[-1][0] == iteration
    iterations = [point[0] for point in curve]
    assert iterations[:50] == list(range(50))
    assert [point[0] for point in curve if point[2] is not None] == list(range(333, 50_000, 5000))
    assert all(before < after <= 1.3 * before for before, after in pairwise(iterations[50:])), "even on a log scale"


def test_a_fit_that_starts_anew_again_and_again_has_a_short_curve_too():
    curve: list = []
    for _ in range(50):
        add_points(curve, ((iteration, 1.0, None) for iteration in range(200)))
        assert len(curve) <= CURVE_POINTS
    assert curve[-1] == (199, 1.0, None)


def test_an_iteration_has_one_point():
    curve: list = []
    add_points(curve, [(1, 5.0, None), (1, 4.0, 0.7), (1, 3.0, None), (2, 2.0, None), (2, 2.0, 0.8)])
    assert curve == [(1, 3.0, 0.7), (2, 2.0, 0.8)]


def test_a_run_has_its_curves_when_it_is_over_and_in_another_store(monkeypatch, tmp_path):
    run_id = submit(quick(seed=12))  # a run that no test has trained without the engine
    (*_, now) = wait(run_id, finished)
    scored = {(row["label"], row["fold"]): row["accuracy"] for row in result(run_id).rows}
    for task in now.tasks:
        assert task.curve[-1] == (task.iteration, task.objective)
        iteration, accuracy = task.accuracies[-1]
        assert iteration == task.iteration
        assert accuracy == pytest.approx(scored[task.label, task.fold], abs=0.02), "of a sample of the same sequences"
    packed = export_run(run_id)
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "other.sqlite"))
    assert status(import_run(packed)).tasks == now.tasks


def test_a_store_of_an_earlier_version_is_read():
    run_id = trained_here(quick())
    store = RunStore()
    store.update(run_id, {0: {"curve": [[1, 3.5], [2, 2.5]]}}, {})
    task = status(run_id).tasks[0]
    assert task.curve == ((1, 3.5), (2, 2.5))
    assert task.accuracies == ()
