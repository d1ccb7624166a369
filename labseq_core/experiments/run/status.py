"""What rows of the run store say of a run: how far it is, and what a list shows of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from labseq_core.experiments.run.retries import RESUMED_AT_MOST
from labseq_core.experiments.store.errors import RunDamaged
from labseq_core.experiments.store.rows import DAMAGED
from labseq_core.experiments.store.run_search import ACTIVE


@dataclass(frozen=True)
class TaskStatus:
    label: str
    fold: int
    state: str  # queued, running, done, failed
    fraction: float = 0.0
    iteration: int = 0
    objective: float | None = None
    curve: tuple[tuple[int, float], ...] = ()  # (iteration, objective)
    point: int | None = None  # which combination of a search
    accuracies: tuple[tuple[int, float], ...] = ()  # (iteration, token accuracy on held-out sequences), where measured


class _Resumable:
    """What both a status and a summary know of a run that was interrupted."""

    state: str
    attempts: int

    @property
    def left_alone(self) -> str:
        """Why no server resumes it any more, as a part of a sentence; empty if one does, or need not."""
        often = self.state == "dead" and self.attempts > RESUMED_AT_MOST
        return f"it was started {self.attempts} times, so no server resumes it any more" if often else ""


@dataclass(frozen=True)
class RunStatus(_Resumable):
    run_id: str
    state: str  # queued, running, done, failed, cancelled, dead, damaged
    fraction: float
    message: str
    error: str | None
    queue_position: int  # 0 when running or finished
    tasks: tuple[TaskStatus, ...]
    created: float  # seconds since 1970
    attempts: int = 1  # how often it was started

    @property
    def active(self) -> bool:
        return self.state in ACTIVE

    @property
    def resumable(self) -> bool:
        return self.state in ("dead", "cancelled", "failed")


@dataclass(frozen=True)
class RunSummary(_Resumable):
    run_id: str
    created: float  # seconds since 1970
    finished: float | None
    state: str
    dataset: str
    labels: tuple[str, ...]
    methods: tuple[str, ...]
    features: str
    folds: int
    seed: int
    config_hash: str
    data_hash: str | None
    fraction: float
    pinned: bool
    imported: bool
    error: str | None
    sequences: int = 0  # how many of the training part; 0: all
    attempts: int = 1  # how often it was started


def status_of(row: dict, task_rows: Iterable[dict], position: int) -> RunStatus:
    """How far a run is, by its row and those of its tasks; position: its place in the queue."""
    tasks = tuple(
        TaskStatus(
            task["label"], task["fold"], task["state"], task["fraction"], task["iteration"], task["objective"],
            tuple((point[0], point[1]) for point in task["curve"]), task["point"], _accuracies(task["curve"]),
        )
        for task in task_rows
    )  # fmt: skip
    fraction = 1.0 if row["state"] == "done" else row["fraction"]
    now = RunStatus(
        row["id"], row["state"], fraction, "", row["error"], position, tasks, row["created"], row["attempts"]
    )
    return replace(now, message=_message(row, position, tasks, now.left_alone))


def damaged_status(run_id: str, problem: RunDamaged) -> RunStatus:
    """Of a run of which the store has something else than was written."""
    return RunStatus(run_id, DAMAGED, 0.0, str(problem), str(problem), 0, (), 0.0)


def summary_of(row: dict) -> RunSummary:
    """What a list says of a run."""
    return RunSummary(
        row["id"], row["created"], row["finished"], row["state"], row["dataset"], tuple(row["labels"]),
        tuple(row["methods"]), row["features"], row["folds"], row["seed"], row["config_hash"], row["data_hash"],
        1.0 if row["state"] == "done" else row["fraction"], bool(row["pinned"]), bool(row["imported"]), row["error"],
        row["config"].get("sequences", 0), row["attempts"],
    )  # fmt: skip


def _accuracies(curve: list) -> tuple[tuple[int, float], ...]:
    """Stores of earlier versions have points without any."""
    return tuple((point[0], point[2]) for point in curve if len(point) > 2 and point[2] is not None)


def _message(row: dict, position: int, tasks: tuple[TaskStatus, ...], left_alone: str) -> str:
    state = row["state"]
    if state == "queued":
        return row["note"] or (f"waiting, place {position} in the queue" if position else "waiting")
    if state == "running":
        running = [task for task in tasks if task.state == "running"]
        if row["note"] or not running:
            return row["note"] or "starting"
        first, others = running[0], len(running) - 1
        fold = f", fold {first.fold + 1}" if any(task.fold for task in tasks) else ""
        accuracy = f" at accuracy {first.accuracies[-1][1]:.3f}" if first.accuracies else ""
        return f"training {first.label}{fold}{accuracy}" + (f", and {others} more" if others else "")
    texts = {"done": "finished", "failed": "failed", "cancelled": "cancelled"}
    died = (
        f"the process that ran it has died; {left_alone and f'{left_alone}; '}what it had finished is kept: resume it"
    )
    return texts.get(state, died)
