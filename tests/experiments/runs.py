"""Small runs for tests, and waiting for them."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

from labseq_core.data.catalogue import dataset_info, load_dataset
from labseq_core.data.sequences import Sequences
from labseq_core.experiments import ExperimentConfig, MethodChoice, RunStatus, predictions, status
from labseq_core.experiments.plan.tasks import best_point, searches_before, tasks_of
from labseq_core.experiments.results.collecting import collect
from labseq_core.experiments.run.active_run import artefact_name
from labseq_core.experiments.run.one_task import TaskOutcome, run_task
from labseq_core.experiments.service import run_row
from labseq_core.experiments.store.run_ids import run_id_of
from labseq_core.experiments.store.run_store import RunStore
from labseq_core.explain import Answers

PATIENCE = 180.0  # seconds; a machine that is busy with other tests may need long to start a process


def quick(**changes) -> ExperimentConfig:
    methods = (MethodChoice("hmm"), MethodChoice("perceptron", {"epochs": 2}))
    return ExperimentConfig(**{"dataset": "spanish-ner", "methods": methods, "folds": 2, **changes})


def endless(**changes) -> ExperimentConfig:
    """One that has to be cancelled."""
    choice = MethodChoice("crf", {"max_iter": 100_000, "tol": 0.0, "l2": 1e-6})
    return quick(**{"methods": (choice,), "folds": 0, **changes})


def wait(run_id: str, until: Callable[[RunStatus], bool]) -> list[RunStatus]:
    """All that was seen of a run until then."""
    seen, end = [], time.monotonic() + PATIENCE
    while time.monotonic() < end:
        seen.append(status(run_id))
        if until(seen[-1]):
            return seen
        time.sleep(0.04)
    raise AssertionError(f"gave up waiting; last seen: {seen[-1]}")


def finished(now: RunStatus) -> bool:
    return not now.active


def at_work(now: RunStatus) -> bool:
    return now.state == "running" and any(task.iteration > 3 for task in now.tasks)


def worker_ids(parent: int) -> list[int]:
    """The processes that train for another one."""
    listing = subprocess.run(["ps", "-wweo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listing.splitlines() if "labseq_core.experiments.run.worker" in line]
    return [int(words[0]) for words in rows if int(words[1]) == parent]


def outcomes_here(config: ExperimentConfig) -> dict[int, TaskOutcome]:
    """What the tasks of a run find, performed one after another in this process."""
    tasks, found = tasks_of(config), {}
    for number, needed in enumerate(searches_before(tasks)):
        chosen = best_point({tasks[n].point: found[n].tried["score"] for n in needed}) if needed else None
        found[number] = run_task(config, tasks[number], lambda progress: True, chosen)
    return found


def finished_run(config: ExperimentConfig) -> tuple[dict, list[dict], dict[str, bytes]]:
    """What a store keeps of a run when it is finished; trained in this process, which is sooner there, and only once."""
    run_id = run_id_of(config)
    if run_id not in _finished_runs:
        _finished_runs[run_id] = _finished_run(config, run_id)
    return _finished_runs[run_id]


_finished_runs: dict[str, tuple[dict, list[dict], dict[str, bytes]]] = {}  # by id, which says all that a run depends on


def _finished_run(config: ExperimentConfig, run_id: str) -> tuple[dict, list[dict], dict[str, bytes]]:
    found = outcomes_here(config)
    tasks = [
        {"label": task.label, "fold": task.fold, "point": task.point, "state": "done", "outcome": found[number].facts}
        for number, task in enumerate(tasks_of(config))
    ]
    blobs = {artefact_name(kind, n): data for n, outcome in found.items() for kind, data in outcome.blobs.items()}
    metrics = collect(config, found, {})
    row = {**run_row(config), "id": run_id, "state": "done", "metrics": metrics, "data_hash": metrics["data_hash"]}
    return row, tasks, blobs


def trained_here(config: ExperimentConfig) -> str:
    """The id of a finished run that was trained in this process: for pages, the same as one of a worker."""
    run = finished_run(config)
    RunStore().insert(*run)
    return run[0]["id"]


def development_part(config: ExperimentConfig) -> Sequences:
    """What some methods are followed on."""
    return load_dataset(config.dataset).dev.without_columns(dataset_info(config.dataset).answer_columns)


def answers_of(run_id: str, label: str) -> Answers:
    """What a method of a run said of each token, sentence by sentence."""
    given = predictions(run_id, label)
    return Answers(given.labellings("answers"), given.confidences(), given.probability)
