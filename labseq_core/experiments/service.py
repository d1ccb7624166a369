"""What pages and the command line know of runs: submit, status, cancel, result, and the list of all.

A run has the id that its configuration, its data and the versions give it, so the same question has one answer in a store: a
finished run is found, one at work is joined, an interrupted one goes on.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import traceback
from collections.abc import Sequence

from labseq_core.checks import LabSeqError
from labseq_core.evaluation import compare_all
from labseq_core.experiments.plan.config import ExperimentConfig
from labseq_core.experiments.plan.tasks import tasks_of
from labseq_core.experiments.results.collecting import final_tasks
from labseq_core.experiments.results.predictions import Predictions
from labseq_core.experiments.results.run_results import (
    RunResult,
    default_model,
    default_predictions,
    default_results,
)
from labseq_core.experiments.run.active_run import artefact_name
from labseq_core.experiments.run.engine import Engine
from labseq_core.experiments.run.executors import executor_for
from labseq_core.experiments.run.one_task import TaskOutcome
from labseq_core.experiments.run.retries import RESUMED_AT_MOST, TAKE_OVER_EVERY
from labseq_core.experiments.run.status import RunStatus, RunSummary, damaged_status, status_of, summary_of
from labseq_core.experiments.store.damage import set_aside_stores
from labseq_core.experiments.store.errors import RunDamaged, StoreDamaged, StoreUnusable
from labseq_core.experiments.store.rows import DAMAGED
from labseq_core.experiments.store.run_ids import run_id_of
from labseq_core.experiments.store.run_search import ACTIVE
from labseq_core.experiments.store.run_store import run_store
from labseq_core.experiments.store.versions import versions
from labseq_core.learners.base import SequenceLearner
from labseq_core.learners.registry import find_method, load_model
from labseq_core.worker_processes import SCHEDULER_VARIABLE

_DEFAULT = "default:"


_engines: dict[tuple[str, str | None], Engine] = {}
_engines_lock = threading.Lock()
_starting_lock = threading.Lock()  # to reach a scheduler takes its time, in which others ask how far their runs are


def _engine() -> Engine:
    """That of the store and of the executor which the environment names."""
    store, scheduler = run_store(), os.environ.get(SCHEDULER_VARIABLE) or None
    key = str(store.path), scheduler
    with _starting_lock:
        engine = _engines.get(key)
        if engine is not None and engine.executor.trouble():  # a scheduler that has gone may be there again
            threading.Thread(target=engine.close, daemon=True).start()
            engine = None
        if engine is None:
            engine = Engine(store, executor_for(scheduler))
            with _engines_lock:
                _engines[key] = engine
        return engine


def _own_engines() -> list[Engine]:
    """Those of this process for the store; there need not be one."""
    path = str(run_store().path)
    with _engines_lock:
        return [engine for (place, _), engine in _engines.items() if place == path]


def close_engines() -> None:
    """End all that this process has at work; runs that are not finished are then dead, and can be gone on with."""
    with _engines_lock:
        engines = list(_engines.values())
        _engines.clear()
    for engine in engines:
        engine.close()


def run_row(config: ExperimentConfig) -> dict:
    """The columns of the store that are known before a run begins."""
    return {
        "config": config.to_dict(), "config_hash": config.hash, "seed": config.seed,
        "versions": versions(config.to_dict()),
        "dataset": config.dataset, "features": config.features.label, "folds": config.folds,
        "methods": [choice.method for choice in config.methods], "labels": [choice.label for choice in config.methods],
    }  # fmt: skip


def submit(config: ExperimentConfig) -> str:
    """Start a run, go on with an interrupted one, or find a finished one; gives its id.

    One that was imported is trained here instead: who asks for it wants to know what comes out.
    """
    run_id, engine = run_id_of(config), _engine()
    try:
        _submit(engine, run_id, config)
    except StoreDamaged:  # a new one has been begun
        _submit(engine, run_id, config)
    return run_id


def _submit(engine: Engine, run_id: str, config: ExperimentConfig) -> None:
    with contextlib.suppress(RunDamaged):  # what is damaged of it is trained again
        here = run_store().get(run_id, results=False)
        if here is not None and here["imported"]:
            run_store().delete(run_id)
    engine.submit(run_id, run_row(config), config)


def resume(run_id: str) -> str:
    """Go on with a run that was interrupted, cancelled or failed; what it had finished is kept. Gives the id it runs under:
    another one, from the beginning, if LabSeq has changed since.
    """
    return submit(configuration(run_id))


def configuration(run_id: str) -> ExperimentConfig:
    """What a run is about, whatever its state."""
    return ExperimentConfig.from_dict(_row(run_id)["config"])


def is_current(run_id: str) -> bool:
    """Whether a run was begun with the versions that are here now, so that what it had finished can be gone on from."""
    try:
        row = _row(run_id)
    except RunDamaged:
        return False
    return row["versions"] == versions(row["config"])


def made_with(run_id: str) -> dict:
    """The versions that a run was begun with, whatever its state; nothing of one that is damaged."""
    try:
        return _row(run_id)["versions"]
    except RunDamaged:
        return {}


def resume_interrupted() -> list[str]:
    """Go on with all runs whose process died, as after a restart of the server; gives their ids.

    One that cannot go on, because its corpus has gone, stays dead: who asks for it is told why.
    """
    ids = []
    for row in reversed(run_store().list(limit=1000, state="dead")):
        if row["attempts"] <= RESUMED_AT_MOST and not row["cancelling"] and row["versions"] == versions(row["config"]):
            with contextlib.suppress(LabSeqError):
                ids.append(resume(row["id"]))
    return ids


def take_over(over: threading.Event | None = None) -> None:
    """The same again and again, for a server: of several on one store, those that live go on with the runs of one that dies.

    over: ends it; without one it never ends.
    """
    over = over or threading.Event()
    while True:
        try:
            resume_interrupted()
        except LabSeqError:
            pass  # the store cannot be used now, which pages say
        except Exception:
            traceback.print_exc()
        if over.wait(TAKE_OVER_EVERY):
            return


def status(run_id: str) -> RunStatus:
    """How far a run is."""
    position = max([engine.queue_position(run_id) for engine in _own_engines()], default=0)
    try:
        return status_of(_row(run_id), run_store().tasks(run_id), position)
    except RunDamaged as problem:
        return damaged_status(run_id, problem)


def cancel(run_id: str) -> None:
    """Stop a run, whichever process has it; a finished one stays as it is."""
    row = _row(run_id)
    if row["state"] in ACTIVE:
        try:
            run_store().mark(run_id, cancelling=1)  # the owner looks every second, if it is another process
        except StoreUnusable:
            if not at_work_here(run_id):
                raise
        for engine in _own_engines():
            engine.cancel(run_id)


def at_work_here(run_id: str) -> bool:
    """Whether this process has the run: then it knows all of it, whatever becomes of the store."""
    return any(run_id in engine.ids for engine in _own_engines())


def trouble() -> str | None:
    """Why this process cannot write into the store now."""
    return next((engine.trouble for engine in _own_engines() if engine.trouble), None)


def is_default(run_id: str) -> bool:
    """Whether a result comes with LabSeq and is in no store."""
    return run_id.startswith(_DEFAULT)


def result(run_id: str) -> RunResult:
    """The numbers of a finished run."""
    if is_default(run_id):
        name = run_id.removeprefix(_DEFAULT)
        defaults = default_results()
        if name not in defaults:
            raise LabSeqError(f"there is no default result {name!r}; there are {', '.join(defaults) or 'none'}")
        return defaults[name]
    row = _finished(run_id)
    config = ExperimentConfig.from_dict(row["config"])
    return RunResult.of(run_id, config, row["versions"], row["created"], row["metrics"], bool(row["imported"]))


def model(run_id: str, label: str) -> SequenceLearner:
    """The model that a run trained for a method (on the first fold), by the method's label in its tables."""
    if is_default(run_id):
        archive = default_model(run_id.removeprefix(_DEFAULT), label)
    else:
        archive = _blobs(run_id, label, "model").get(0)  # other folds have none
    if archive is None:
        raise LabSeqError(_why_no_model(run_id, label))
    return load_model(archive)


def methods_without_model(run: RunResult) -> dict[str, str]:
    """Of an imported run, by label: methods from outside, and the file of each. A stranger's file may hold anything, and only
    LabSeq's own methods are known to check what they load: of the others there are scores and predictions.
    """
    if not run.imported:
        return {}
    sources = {choice.label: find_method(choice.method).learner.source for choice in run.config.methods}
    return {label: source.file for label, source in sources.items() if source is not None}


def _why_no_model(run_id: str, label: str) -> str:
    file = methods_without_model(result(run_id)).get(label)
    if file is None:
        return f"run {run_id} has no model {label!r}; run it again to get one"
    return f"{label} is a method of {file}, and models of such methods are not imported; train it here to look into it"


def predictions(run_id: str, label: str) -> Predictions:
    """What a method of a finished run said of every token that it was scored on, in all folds."""
    if is_default(run_id):
        said = default_predictions(run_id.removeprefix(_DEFAULT)).get(label)
    else:
        blobs = _blobs(run_id, label, "predictions").values()
        known = [Predictions.from_bytes(data) for data in blobs if data is not None]
        said = Predictions.joined(known) if known and len(known) == len(blobs) else None
    if said is None:
        raise LabSeqError(f"run {run_id} has no predictions of {label!r}; run it again to get them")
    return said


def comparisons(run_id: str, metric: str = "accuracy") -> list[dict]:
    """All pairs of methods of a finished run: difference, interval, and p values over sequences, as `compare_all` gives."""
    run = result(run_id)
    labels = [row["label"] for row in run.summary()]
    if len(labels) < 2:
        return []
    return compare_all({label: predictions(run_id, label).counts() for label in labels}, metric, seed=run.config.seed)


def list_runs(limit: int = 100, skip: int = 0, **filters: object) -> list[RunSummary]:
    """The newest runs first. filters: dataset, method, state, pinned, text."""
    return [summary_of(row) for row in run_store().list(limit, skip, **filters)]


def list_finished(limit: int = 100, methods: Sequence[str] | None = None) -> list[RunSummary]:
    """The newest finished runs first, however many others are newer; methods: only those with one of these."""
    store = run_store()
    if methods is None:
        return [summary_of(row) for row in store.list(limit, state="done")]
    # A query for each method: to read all runs and leave out most would take long where a method is rare.
    rows = {row["id"]: row for name in methods for row in store.list(limit, state="done", method=name)}
    newest = sorted(rows.values(), key=lambda row: (-row["created"], row["id"]))
    return [summary_of(row) for row in newest[:limit]]


def finish_time(run_id: str) -> float | None:
    """When a finished run was finished: another time if it was trained again, under the same id."""
    return _finished(run_id)["finished"]


def summary(run_id: str) -> RunSummary:
    """What a list says of a run."""
    try:
        return summary_of(_row(run_id))
    except RunDamaged:
        if (found := _damaged(run_id)) is None:
            raise
        return found


def count_runs(**filters: object) -> int:
    """How many runs fit the filters of `list_runs`."""
    return run_store().count(**filters)


def run_datasets() -> list[str]:
    """The corpora that there are runs of."""
    return run_store().datasets()


def pin(run_id: str, pinned: bool = True) -> None:
    """Mark a run to be found again, or take the mark away."""
    _row(run_id)
    run_store().mark(run_id, pinned=int(pinned))


def delete(run_id: str) -> None:
    """Remove a run and all that was kept of it; one that is at work has to be cancelled first."""
    with contextlib.suppress(RunDamaged):
        if (run_store().get(run_id, results=False) or {"state": None})["state"] in ACTIVE:
            raise LabSeqError(f"run {run_id} is at work; cancel it first")
    if not run_store().delete(run_id):
        raise _missing(run_id)


def require_store() -> None:
    """Raises `StoreUnusable` where the run store cannot be used."""
    run_store().get("")  # opens it


def notices() -> list[str]:
    """What an operator should know of the store: damaged files that were set aside, and why nothing can be written now."""
    store = run_store()
    damaged = [
        f"A damaged run store was set aside as {name}; a new one was begun. Delete that file when you do not need it."
        for name in set_aside_stores(store.path)
    ]
    return damaged + [cause for cause in [trouble()] if cause]


def _row(run_id: str, results: bool = False) -> dict:
    row = run_store().get(run_id, results)
    if row is None:
        raise _missing(run_id) if _damaged(run_id) is None else RunDamaged(run_id)
    return row


def _damaged(run_id: str) -> RunSummary | None:
    """What a list says of a damaged run; the disk may have changed even the id under which it is found."""
    return next((run for run in list_runs(sys.maxsize, state=DAMAGED) if run.run_id == run_id), None)


def _missing(run_id: str) -> LabSeqError:
    return LabSeqError(f"there is no run {run_id!r} in the run store; it may have been made elsewhere")


def _finished(run_id: str) -> dict:
    row = _row(run_id, results=True)
    if row["state"] != "done":
        raise LabSeqError(f"run {run_id} is {row['state']}; it has no result yet")
    return row


def _blobs(run_id: str, label: str, kind: str) -> dict[int, bytes | None]:
    """Those of the tasks whose scores count for a method, by fold; None where the store has none."""
    store, config = run_store(), ExperimentConfig.from_dict(_finished(run_id)["config"])
    outcomes = {
        row["number"]: TaskOutcome(row["outcome"]) for row in store.tasks(run_id, outcomes=True) if row["outcome"]
    }
    tasks = tasks_of(config)
    return {
        tasks[number].fold: store.artefact(run_id, artefact_name(kind, number))
        for number in final_tasks(config, outcomes)
        if tasks[number].label == label
    }
