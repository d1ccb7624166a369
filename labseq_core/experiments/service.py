"""Runs in processes of their own: a queue, one watcher thread per running process, everything written to the run store.

Pages and command line know only submit, status, cancel, result and the lists of runs.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import queue
import secrets
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

from labseq_core._checks import LabSeqError
from labseq_core.experiments.config import ExperimentConfig
from labseq_core.experiments.results import RunResult, default_model, default_results
from labseq_core.experiments.runner import tasks_of
from labseq_core.experiments.store import ACTIVE, RunStore
from labseq_core.experiments.versions import versions
from labseq_core.learners.base import SequenceLearner
from labseq_core.learners.registry import load_model

HEARTBEAT = 1.0  # seconds
CURVE_POINTS = 200


@dataclass(frozen=True)
class TaskStatus:
    label: str
    fold: int
    state: str  # queued, running, done
    fraction: float = 0.0
    iteration: int = 0
    objective: float | None = None
    curve: tuple[tuple[int, float], ...] = ()  # (iteration, objective)


@dataclass(frozen=True)
class RunStatus:
    run_id: str
    state: str  # queued, running, done, failed, cancelled, dead
    fraction: float
    message: str
    error: str | None
    queue_position: int  # 0 when running or finished
    tasks: tuple[TaskStatus, ...]

    @property
    def active(self) -> bool:
        return self.state in ACTIVE


@dataclass(frozen=True)
class RunSummary:
    run_id: str
    created: float  # seconds since 1970
    state: str
    dataset: str
    labels: tuple[str, ...]
    methods: tuple[str, ...]
    features: str
    folds: int
    seed: int
    config_hash: str
    fraction: float


class _Service:
    """The runs of this process. One for each store."""

    def __init__(self, store: RunStore):
        self.store = store
        self.lock = threading.Lock()
        self.waiting: list[str] = []
        self.processes: dict[str, subprocess.Popen] = {}
        self.cancelled: set[str] = set()
        n_workers = max(1, (os.cpu_count() or 2) - 1)
        self.slots = threading.Semaphore(n_workers)
        self.threads_per_worker = max(1, (os.cpu_count() or 1) // n_workers)
        self.queue: queue.Queue[tuple[str, ExperimentConfig]] = queue.Queue()
        threading.Thread(target=self._dispatch, daemon=True).start()
        threading.Thread(target=self._beat, daemon=True).start()

    def submit(self, config: ExperimentConfig) -> str:
        known = self.store.finished_like(config.hash, versions())
        if known is not None:
            return known
        run_id = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
        self.store.add(run_id, config.to_dict(), config.hash, versions())
        with self.lock:
            self.waiting.append(run_id)
        self.queue.put((run_id, config))
        return run_id

    def cancel(self, run_id: str) -> None:
        with self.lock:
            self.cancelled.add(run_id)
            process = self.processes.get(run_id)
            if run_id in self.waiting:
                self.waiting.remove(run_id)
                self.store.update(run_id, state="cancelled")
        if process is not None:
            _stop(process)

    def queue_position(self, run_id: str) -> int:
        with self.lock:
            return self.waiting.index(run_id) + 1 if run_id in self.waiting else 0

    def _dispatch(self) -> None:
        while True:
            run_id, config = self.queue.get()
            self.slots.acquire()
            with self.lock:
                if run_id not in self.waiting:  # cancelled while it waited
                    self.slots.release()
                    continue
                self.waiting.remove(run_id)
            threading.Thread(target=self._run, args=(run_id, config), daemon=True).start()

    def _beat(self) -> None:
        while True:
            time.sleep(HEARTBEAT)
            with self.lock:
                alive = [*self.waiting, *self.processes]
            for run_id in alive:
                with contextlib.suppress(sqlite3.Error):  # a busy or full disk must not end the signs of life
                    self.store.update(run_id)

    def _run(self, run_id: str, config: ExperimentConfig) -> None:
        environment = {**os.environ, "NUMBA_NUM_THREADS": str(self.threads_per_worker)}
        process = subprocess.Popen(
            [sys.executable, "-m", "labseq_core.experiments.worker"], env=environment, text=True, encoding="utf-8",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        try:
            tasks = [
                {"label": task.label, "fold": task.fold, "state": "queued", "curve": []} for task in tasks_of(config)
            ]
            self.store.update(run_id, state="running", progress={"tasks": tasks})
            process.stdin.write(json.dumps(config.to_dict()) + "\n")
            process.stdin.flush()
            with self.lock:
                self.processes[run_id] = process
            if run_id in self.cancelled:  # while the process was being started
                _stop(process)
            ended = self._follow(run_id, process, tasks)
        except OSError:
            ended = False
        finally:
            with contextlib.suppress(OSError):  # what was left to write to a worker that has died
                process.stdin.close()
            process.stdout.close()
            process.wait()
            with self.lock:
                self.processes.pop(run_id, None)
            self.slots.release()
        if not ended:
            if run_id in self.cancelled:
                self.store.update(run_id, state="cancelled")
            else:
                self.store.update(
                    run_id, state="failed", error="the training process ended unexpectedly; start it again"
                )

    def _follow(self, run_id: str, process: subprocess.Popen, tasks: list[dict]) -> bool:
        """Write the worker's events to the store; True once it has said how it ended."""
        for line in process.stdout:
            event = json.loads(line)
            kind = event.pop("event")
            if kind == "done":
                self.store.update(run_id, state="done", result=event["result"], progress={"tasks": tasks})
                return True
            if kind in ("failed", "cancelled"):
                self.store.update(run_id, state=kind, error=event.get("error"), progress={"tasks": tasks})
                return True
            if kind == "model":
                self.store.keep_artefact(run_id, event["label"], base64.b64decode(event["archive"]))
                continue
            if kind == "note":
                self.store.update(run_id, progress={"tasks": tasks, **event})
                continue
            task = tasks[event.pop("task")]
            task.update(event)
            if kind == "progress":
                task["curve"] = _thinned([*task["curve"], (event["iteration"], event["objective"])])
            self.store.update(run_id, progress={"tasks": tasks})
        return False


def _stop(process: subprocess.Popen) -> None:
    """Ask a worker to stop, and end it if it does not listen."""
    try:
        process.stdin.write("cancel\n")
        process.stdin.flush()
    except (OSError, ValueError):  # it has just ended by itself
        return
    force = threading.Timer(2.0, process.terminate)
    force.daemon = True
    force.start()


def _thinned(curve: list) -> list:
    """At most CURVE_POINTS points: every other one goes when there are more, never the last."""
    return curve if len(curve) <= CURVE_POINTS else [*curve[:-1:2], curve[-1]]


_services: dict[str, _Service] = {}
_services_lock = threading.Lock()


def _service() -> _Service:
    store = RunStore()
    key = str(store.path)
    with _services_lock:
        if key not in _services:
            _services[key] = _Service(store)
        return _services[key]


def submit(config: ExperimentConfig) -> str:
    """Start a run, or find a finished one of the same configuration; gives its id."""
    return _service().submit(config)


def status(run_id: str) -> RunStatus:
    """How far a run is."""
    row = _row(run_id)
    tasks = tuple(
        TaskStatus(**{**task, "curve": tuple(map(tuple, task["curve"]))}) for task in row["progress"].get("tasks", [])
    )
    position = _service().queue_position(run_id) if row["state"] == "queued" else 0
    fraction = 1.0 if row["state"] == "done" else _mean([1.0 if t.state == "done" else t.fraction for t in tasks])
    return RunStatus(run_id, row["state"], fraction, _message(row, position, tasks), row["error"], position, tasks)


def cancel(run_id: str) -> None:
    """Stop a run of this process; a finished one stays as it is."""
    _row(run_id)
    _service().cancel(run_id)


def result(run_id: str) -> RunResult:
    """The numbers of a finished run."""
    if run_id.startswith("default:"):
        name = run_id.removeprefix("default:")
        defaults = default_results()
        if name not in defaults:
            raise LabSeqError(f"there is no default result {name!r}; there are {', '.join(defaults) or 'none'}")
        return defaults[name]
    row = _row(run_id)
    if row["state"] != "done":
        raise LabSeqError(f"run {run_id} is {row['state']}; it has no result yet")
    config = ExperimentConfig.from_dict(row["config"])
    return RunResult.of(run_id, config, row["versions"], row["created"], row["result"])


def model(run_id: str, label: str) -> SequenceLearner:
    """The model that a run trained for a method (on the first fold), by the method's label in its tables."""
    if run_id.startswith("default:"):
        archive = default_model(run_id.removeprefix("default:"), label)
    else:
        _row(run_id)
        archive = RunStore().artefact(run_id, label)
    if archive is None:
        raise LabSeqError(f"run {run_id} has no model {label!r}; run it again to get one")
    return load_model(archive)


def list_runs(limit: int = 100) -> list[RunSummary]:
    """The newest runs first."""
    return [_summary(row) for row in RunStore().recent(limit)]


def _summary(row: dict) -> RunSummary:
    config = row["config"]
    tasks = row["progress"].get("tasks", [])
    fraction = 1.0 if row["state"] == "done" else _mean([task.get("fraction", 0.0) for task in tasks])
    features = config["features"]["template"]
    methods = tuple(choice["method"] for choice in config["methods"])
    labels = tuple(dict.fromkeys(task["label"] for task in tasks)) or methods
    return RunSummary(
        row["id"], row["created"], row["state"], config["dataset"], labels, methods, features, config["folds"],
        config["seed"], row["config_hash"], fraction,
    )  # fmt: skip


def _row(run_id: str) -> dict:
    row = RunStore().get(run_id)
    if row is None:
        raise LabSeqError(f"there is no run {run_id!r} in the run store; it may have been made elsewhere")
    return row


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _message(row: dict, position: int, tasks: tuple[TaskStatus, ...]) -> str:
    state = row["state"]
    if state == "queued":
        return f"waiting, place {position} in the queue" if position else "waiting"
    if state == "running":
        running = next((task for task in tasks if task.state == "running"), None)
        if running is None:
            return row["progress"].get("note", "starting")
        fold = f", fold {running.fold + 1}" if any(task.fold for task in tasks) else ""
        return f"training {running.label}{fold}"
    texts = {"done": "finished", "failed": "failed", "cancelled": "cancelled"}
    return texts.get(state, "the process that ran it has died; start it again")
