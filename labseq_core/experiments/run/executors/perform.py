"""What a worker does with a job, wherever it is."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable

from labseq_core.checks import LabSeqError, require
from labseq_core.compiling import code_cache
from labseq_core.data.uploads import keep_upload
from labseq_core.experiments.plan.config import ExperimentConfig
from labseq_core.experiments.plan.tasks import tasks_of
from labseq_core.experiments.results.training_curves import add_points
from labseq_core.experiments.run.executors.base import COMPILING, IN_THE_LOG
from labseq_core.experiments.run.memory import TOO_LITTLE_MEMORY
from labseq_core.experiments.run.one_task import Cancelled, TaskOutcome, run_task
from labseq_core.experiments.store.versions import versions
from labseq_core.progress import Progress
from labseq_core.warm_up import ahead

REPORT_EVERY = 0.2  # seconds between two events of one task
_prepared: set[str] = set()  # methods whose routines this process has


def perform(job: dict, say: Callable[[dict], None], stopped: Callable[[], bool]) -> TaskOutcome:
    """Perform the task of a job; `say` is told of events, `stopped` asked whether to go on.

    Raises `LabSeqError`, or `Cancelled`, whatever goes wrong: a worker that dies of an error would be tried again.
    """
    try:
        return _perform(job, say, stopped)
    except (LabSeqError, Cancelled):
        raise
    except MemoryError:
        raise LabSeqError(TOO_LITTLE_MEMORY) from None
    except Exception as problem:
        traceback.print_exc()
        raise LabSeqError(f"internal error ({type(problem).__name__}); {IN_THE_LOG}") from None


def _perform(job: dict, say: Callable[[dict], None], stopped: Callable[[], bool]) -> TaskOutcome:
    if job["upload"]:  # first: the versions of a run name the format of its upload
        keep_upload(**job["upload"])
    here = versions(job["config"])
    require(job["versions"] == here, _other_version(job["versions"], here))
    config = ExperimentConfig.from_dict(job["config"])
    task = tasks_of(config)[job["task"]]
    _prepare(config.methods[task.method].method, say, stopped)
    last_said = 0.0
    points: list[tuple[int, float, float | None]] = []

    def report(progress: Progress) -> bool:
        nonlocal last_said
        add_points(points, [(progress.iteration, progress.objective, progress.accuracy)])
        now = time.monotonic()
        if now - last_said >= REPORT_EVERY or progress.fraction >= 1.0 or progress.accuracy is not None:
            last_said = now
            say({"points": points.copy(), "fraction": progress.fraction})
            points.clear()
        return not stopped()

    if stopped():
        raise Cancelled
    return run_task(config, task, report, job["chosen"])


def _prepare(method: str, say: Callable[[dict], None], stopped: Callable[[], bool]) -> None:
    """Before any clock runs: compiling would count as training time."""
    if method in _prepared:
        return

    def report(title: str, fraction: float) -> None:
        if stopped():
            raise Cancelled
        say({"note": f"{COMPILING} {title}, first start only" if fraction < 1.0 else None})

    code_cache.on_miss = code_cache.say_nothing
    ahead.load(method, report)
    _prepared.add(method)
    say({"note": None})


def _other_version(wanted: dict, here: dict) -> str:
    names = dict.fromkeys([*wanted, *here])
    differs = [
        f"{name} {here.get(name)}, not {wanted.get(name)}" for name in names if here.get(name) != wanted.get(name)
    ]
    return (
        f"a worker has {'; '.join(differs)}: install the same versions there, and start it with the same --with files"
    )


def be_modest() -> None:
    """The pages come first."""
    if hasattr(os, "nice"):
        os.nice(10)
