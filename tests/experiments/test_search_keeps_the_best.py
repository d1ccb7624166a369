"""Of a search only the model that is chosen is kept, in memory and in the store, at every moment and across a kill."""

import itertools
import random
import threading
import time
from concurrent.futures import Future

import pytest

from labseq_core.experiments import ExperimentConfig, MethodChoice, model, predictions, result, status, submit
from labseq_core.experiments.plan.tasks import Task, best_point, tasks_of
from labseq_core.experiments.results.collecting import beaten_tasks, final_tasks
from labseq_core.experiments.run.active_run import artefact_name
from labseq_core.experiments.run.engine import Engine
from labseq_core.experiments.run.one_task import TaskOutcome
from labseq_core.experiments.service import close_engines, run_row
from labseq_core.experiments.store.run_ids import run_id_of
from labseq_core.experiments.store.run_store import RunStore, run_store
from tests.experiments.runs import PATIENCE, finished, outcomes_here, quick, wait
from tests.experiments.test_faults import end, start_owner, undisturbed_csv

GRID = {"l2": [0.1, 3.0, 30.0], "start_stop": [False, True]}
POINTS = 6


@pytest.fixture(autouse=True)
def own_store(tmp_path, monkeypatch):
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))
    yield
    close_engines()


def searching(**changes) -> ExperimentConfig:
    choice = MethodChoice("crf", {"max_iter": 15}, GRID)
    return quick(**{"methods": (choice, MethodChoice("hmm")), "folds": 0, **changes})


def outcome(number: int, score: float | None) -> TaskOutcome:
    """What a task with a model may find."""
    facts = {
        "data_hash": "d" * 12, "row": {"label": str(number), "train_seconds": 1.0}, "examples": [],
        "confusion": {"labels": ["O"], "counts": [[1]]},
    }  # fmt: skip
    tried = {} if score is None else {"tried": {"l2": number, "score": score, "seconds": 2.0}}
    return TaskOutcome({**facts, **tried}, {"predictions": b"p%d" % number, "model": b"m%d" % number})


class ByHand:
    """An executor whose tasks are finished by the test."""

    name, remote = "hands of a test", False

    def __init__(self):
        self.jobs: dict[int, Future] = {}
        self.came = threading.Condition()

    def capacity(self) -> int:
        return 100

    def submit(self, job, listener) -> Future:
        with self.came:
            future = self.jobs[job.task] = Future()
            self.came.notify_all()
            return future

    def wait_for(self, *numbers: int) -> None:
        with self.came:
            assert self.came.wait_for(lambda: set(numbers) <= self.jobs.keys(), PATIENCE)

    def cancel(self, job_id: str) -> None: ...

    def trouble(self):
        return None

    def tick(self) -> None: ...

    def close(self) -> None: ...


def until(condition) -> None:
    give_up = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < give_up
        time.sleep(0.01)


def stored(run_id: str) -> dict[int, dict]:
    return {row["number"]: row["outcome"] for row in run_store().tasks(run_id, outcomes=True) if row["outcome"]}


def begin(config: ExperimentConfig) -> tuple[Engine, ByHand, str]:
    engine, run_id = Engine(run_store(), ByHand()), run_id_of(config)
    engine.submit(run_id, run_row(config), config)
    return engine, engine.executor, run_id


def held(engine: Engine, run_id: str) -> dict[str, bytes]:
    """All the blobs in the memory of the engine."""
    return {
        artefact_name(kind, number): data
        for number, found in engine._runs[run_id].outcomes.items()
        for kind, data in found.blobs.items()
    }


def expected(*numbers: int) -> dict[str, bytes]:
    """The blobs of these tasks."""
    return {artefact_name(kind, n): data for n in numbers for kind, data in outcome(n, None).blobs.items()}


def test_beaten_is_beaten_whatever_comes():
    """Forgetting as soon as possible, in any order, leaves exactly the one that is chosen when all is known."""
    chance = random.Random(0)
    tasks = [Task("m", 0, 0, point) for point in range(5)]
    for _ in range(300):
        scores = [chance.choice((0.1, 0.2, 0.3)) for _ in tasks]  # equal ones too: the first wins
        kept: dict[int, TaskOutcome] = {}
        for number in chance.sample(range(5), 5):
            kept[number] = outcome(number, scores[number])
            for lost in beaten_tasks(tasks, kept):
                kept[lost] = kept[lost].beaten()
            assert sum(bool(one.blobs) for one in kept.values()) == 1
        (winner,) = [number for number, one in kept.items() if one.blobs]
        assert winner == best_point(dict(enumerate(scores)))
        assert all(one.tried["score"] == scores[number] and one.tried["seconds"] for number, one in kept.items())


def test_methods_without_a_search_and_searches_on_folds_lose_nothing():
    tasks = tasks_of(searching(folds=2))
    found = {n: TaskOutcome({"data_hash": "", "tried": {"score": 0.1 * n}}) if task.point is not None
             else outcome(n, None) for n, task in enumerate(tasks)}  # fmt: skip
    beaten = beaten_tasks(tasks, found)
    assert len(beaten) == 2 * (POINTS - 1)
    assert all(tasks[number].point is not None for number in beaten)


def test_at_every_moment_there_is_one_model_of_a_search():
    config = searching()
    engine, hands, run_id = begin(config)
    hands.wait_for(*range(POINTS + 1))
    hands.jobs[POINTS].set_result(outcome(POINTS, None))  # the method without a search
    best = None
    for number, score in ((2, 0.5), (0, 0.4), (4, 0.5), (1, 0.9), (3, 0.9)):
        hands.jobs[number].set_result(outcome(number, score))
        until(lambda number=number: number in stored(run_id))
        best = {2: 2, 0: 2, 4: 2, 1: 1, 3: 1}[number]
        assert held(engine, run_id) == expected(best, POINTS)
        assert run_store().artefacts(run_id) == expected(best, POINTS)
        assert [n for n, facts in stored(run_id).items() if "row" in facts and n < POINTS] == [best]
    hands.jobs[5].set_result(outcome(5, 0.1))
    until(lambda: run_store().get(run_id)["state"] == "done")
    assert run_store().artefacts(run_id) == expected(1, POINTS)
    metrics = run_store().get(run_id)["metrics"]
    assert [row["label"] for row in metrics["rows"]] == ["1", str(POINTS)]
    assert metrics["rows"][0]["train_seconds"] == 1.0 + 2.0 * (POINTS - 1), "those that lost are still in the time"
    assert [row["score"] for row in metrics["searches"]] == [0.4, 0.9, 0.5, 0.9, 0.5, 0.1]
    engine.close()


@pytest.mark.parametrize("finished_before", [1, 3, 5])
def test_a_search_goes_on_with_the_best_so_far(finished_before):
    config, scores = searching(), [0.5, 0.9, 0.4, 0.6, 0.95, 0.2]
    engine, hands, run_id = begin(config)
    hands.wait_for(*range(POINTS + 1))
    for number in range(finished_before):
        hands.jobs[number].set_result(outcome(number, scores[number]))
    until(lambda: len(stored(run_id)) == finished_before)
    engine.close()
    engine, hands, _ = begin(config)
    best = scores.index(max(scores[:finished_before]))
    hands.wait_for(*range(finished_before, POINTS + 1))
    assert held(engine, run_id) == expected(best)
    assert not set(range(finished_before)) & hands.jobs.keys(), "nothing is trained twice"
    for number in range(finished_before, POINTS):
        hands.jobs[number].set_result(outcome(number, scores[number]))
    hands.jobs[POINTS].set_result(outcome(POINTS, None))
    until(lambda: run_store().get(run_id)["state"] == "done")
    assert run_store().artefacts(run_id) == expected(4, POINTS)
    assert [row["score"] for row in run_store().get(run_id)["metrics"]["searches"]] == scores
    engine.close()


def test_an_interrupted_search_of_an_earlier_version_loses_its_losers_when_it_goes_on():
    config, scores = searching(), [0.5, 0.9, 0.4]
    engine, hands, run_id = begin(config)
    hands.wait_for(0)
    engine.close()
    for number, score in enumerate(scores):  # as all were kept
        found = outcome(number, score)
        blobs = {artefact_name(kind, number): data for kind, data in found.blobs.items()}
        run_store().update(run_id, {number: {"state": "done", "outcome": found.facts}}, blobs)
    engine, hands, _ = begin(config)
    hands.wait_for(3, 4, 5, 6)
    until(lambda: run_store().artefacts(run_id) == expected(1))
    assert held(engine, run_id) == expected(1)
    assert [n for n, facts in stored(run_id).items() if "row" in facts] == [1]
    engine.close()


def test_a_best_one_whose_model_is_not_there_is_trained_again():
    config = searching()
    engine, hands, run_id = begin(config)
    hands.wait_for(0)
    engine.close()
    for number, score in enumerate([0.5, 0.9]):
        beaten = outcome(number, score).beaten().facts
        run_store().update(run_id, {number: {"state": "done", "outcome": beaten}}, {})
    engine, hands, _ = begin(config)
    hands.wait_for(1, 2)
    assert 0 not in hands.jobs, "it has lost, with a model or without"
    for number in range(1, POINTS):
        hands.jobs[number].set_result(outcome(number, 0.9 if number == 1 else 0.1))
    hands.jobs[POINTS].set_result(outcome(POINTS, None))
    until(lambda: run_store().get(run_id)["state"] == "done")
    assert run_store().artefacts(run_id) == expected(1, POINTS)
    engine.close()


def test_a_store_that_is_removed_during_a_search_gets_the_best_again():
    config = searching()
    engine, hands, run_id = begin(config)
    hands.wait_for(*range(POINTS + 1))
    for number, score in ((0, 0.3), (1, 0.6)):
        hands.jobs[number].set_result(outcome(number, score))
    until(lambda: len(stored(run_id)) == 2)
    for part in run_store().path.parent.glob("runs.sqlite*"):
        if part.is_file():
            part.unlink()
    hands.jobs[2].set_result(outcome(2, 0.5))
    until(lambda: len(stored(run_id)) == 3)
    assert run_store().artefacts(run_id) == expected(1)
    engine.close()


@pytest.mark.parametrize("folds", [0, 2])
def test_a_finished_search_has_one_model_and_the_same_numbers(folds):
    config = searching(folds=folds)
    run_id = submit(config)
    assert wait(run_id, finished)[-1].state == "done"
    final = final_tasks(config, {number: TaskOutcome(facts) for number, facts in stored(run_id).items()})
    tasks = tasks_of(config)
    assert [(tasks[n].label, tasks[n].fold) for n in final] == list(
        itertools.chain.from_iterable([(choice.label, fold) for choice in config.methods] for fold in range(folds or 1))
    )
    wanted = {f"predictions.{n}" for n in final} | {f"model.{n}" for n in final if tasks[n].fold == 0}
    assert run_store().artefacts(run_id).keys() == wanted
    assert result(run_id).csv() == undisturbed_csv(config, run_id)
    direct, label = outcomes_here(config), config.methods[0].label
    assert [row["score"] for row in result(run_id).searches] == [
        one.tried["score"] for one in direct.values() if one.tried
    ]
    assert run_store().artefact(run_id, f"predictions.{final[0]}") == direct[final[0]].blobs["predictions"]
    assert model(run_id, label).classes_
    assert len(predictions(run_id, label).truth) > 0
    assert all(task.curve for task in status(run_id).tasks), "how a loser learned is still drawn"


def test_a_search_that_is_killed_in_the_middle_gives_the_same(tmp_path):
    config = searching(methods=(MethodChoice("crf", {"max_iter": 40, "tol": 0.0}, GRID),))
    owner, run_id = start_owner(config)
    for already in (1, 3):
        wait(run_id, lambda now, already=already: sum(task.state == "done" for task in now.tasks) > already)
        end(owner)
        kept = RunStore(tmp_path / "runs.sqlite").artefacts(run_id).keys()
        assert len(kept) == 2, "the predictions and the model of the best so far"
        owner, again = start_owner(config)
        assert again == run_id
    assert wait(run_id, finished)[-1].state == "done"
    owner.wait()
    owner.stdout.close()
    assert result(run_id).csv() == undisturbed_csv(config, run_id)
    assert len(run_store().artefacts(run_id)) == 2
