"""The engine: a queue of runs, the tasks of the first ones at work on an executor, everything written to the run store.

One thread does it all, message by message. What a finished task found stays in memory until it is in the store, so a disk
that is full, or a store that was removed, costs time but no result.
"""

from __future__ import annotations

import contextlib
import itertools
import queue
import threading
import time
import traceback
from concurrent.futures import Future
from functools import partial

from labseq_core.checks import LabSeqError
from labseq_core.data.uploads import is_upload, stored_upload
from labseq_core.experiments.plan.config import ExperimentConfig
from labseq_core.experiments.plan.tasks import searches_before, tasks_of
from labseq_core.experiments.results.collecting import beaten_tasks, collect
from labseq_core.experiments.results.training_curves import add_points
from labseq_core.experiments.run.active_run import KINDS, ActiveRun, artefact_name, fresh_columns
from labseq_core.experiments.run.executors import Executor, Job, WorkerLost
from labseq_core.experiments.run.one_task import Cancelled, TaskOutcome
from labseq_core.experiments.run.retries import ATTEMPTS
from labseq_core.experiments.store.errors import RunDamaged, StoreDamaged
from labseq_core.experiments.store.owners import Owner
from labseq_core.experiments.store.run_search import ACTIVE
from labseq_core.experiments.store.run_store import RunStore

_TICK, _WRITE_EVERY, _LOOK_AGAIN = 1.0, 0.25, 0.05  # seconds
_CANCEL_WITHIN = 10.0  # seconds; an executor stops a job within two, and another process looks every second


class Engine:
    """The runs of this process, in one store, on one executor."""

    def __init__(self, store: RunStore, executor: Executor):
        self.store, self.executor = store, executor
        self.owner = Owner(store.path)
        self.trouble: str | None = None  # why the store cannot be written, while it cannot
        self.ids: set[str] = set()  # of the runs that it has, those included that begin in a moment
        self._runs: dict[str, ActiveRun] = {}  # in the order of their submission
        self._waiting: list[str] = []  # replaced, never changed: other threads read it
        self._inbox: queue.SimpleQueue = queue.SimpleQueue()
        self._job_numbers = itertools.count()
        self._written = self._ticked = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="labseq-engine", daemon=True)
        self._thread.start()

    # Called by other threads

    def submit(self, run_id: str, row: dict, config: ExperimentConfig) -> None:
        """Begin a run or go on with one, unless it is finished or some living process has it."""
        tasks = tasks_of(config)
        fresh = [{"label": task.label, "fold": task.fold, "point": task.point} for task in tasks]
        self.owner.hold()
        if self._claim({**row, "id": run_id}, fresh):
            run = ActiveRun(run_id, row, config, tasks, searches_before(tasks))
            self.ids.add(run_id)
            try:
                self._recall(run)
            except LabSeqError:  # the store has just been damaged: what cannot be read is trained again
                run = ActiveRun(run_id, row, config, tasks, searches_before(tasks))
            self._inbox.put(partial(self._begin, run))

    def _claim(self, row: dict, tasks: list[dict]) -> bool:
        """Whether it is for this process to do. A run that is just being cancelled is waited for, and begun again."""
        give_up = time.monotonic() + _CANCEL_WITHIN
        while not self.store.claim(row, tasks, self.owner.token):
            known = self.store.get(row["id"])
            if known is None or known["state"] == "done" or (known["state"] in ACTIVE and not known["cancelling"]):
                return False
            if time.monotonic() > give_up:
                raise LabSeqError(f"run {row['id']} is still being cancelled; try again in a moment")
            time.sleep(_LOOK_AGAIN)
        return True

    def _recall(self, run: ActiveRun) -> None:
        """What an interrupted run had found; of a combination that was beaten no model is read."""
        finished = [row for row in self.store.tasks(run.id, outcomes=True) if row["outcome"] is not None]
        run.outcomes = {row["number"]: TaskOutcome(row["outcome"]) for row in finished}
        run.progress |= {row["number"]: {name: row[name] for name in fresh_columns()} for row in finished}
        run.forget_beaten()
        for number in set(run.outcomes).difference(beaten_tasks(run.tasks, run.outcomes)):
            names = {kind: artefact_name(kind, number) for kind in KINDS}
            blobs: dict[str, bytes | None] = {}
            with contextlib.suppress(RunDamaged):
                blobs = {kind: self.store.artefact(run.id, name) for kind, name in names.items()}
            own = {kind: data for kind, data in blobs.items() if data is not None}
            run.outcomes[number] = TaskOutcome(run.outcomes[number].facts, own)
            # It was taken for beaten by some other rule, or what it said is lost or damaged: it is trained again.
            if run.lacks_its_result(number):
                del run.outcomes[number]
                run.progress[number] = fresh_columns()

    def cancel(self, run_id: str) -> None:
        self._inbox.put(partial(self._cancel, run_id))

    def queue_position(self, run_id: str) -> int:
        """How many runs are served before this one has its first worker, counted from 1; 0 if it has one, or is not here."""
        waiting = self._waiting
        return waiting.index(run_id) + 1 if run_id in waiting else 0

    def close(self) -> None:
        """Stop everything; runs that are at work are then dead, and can be gone on with."""
        self._over.set()
        self._inbox.put(lambda: None)
        self._thread.join(_CANCEL_WITHIN)  # it may be writing
        self.executor.close()
        self.owner.release()

    # The engine's own thread

    def _loop(self) -> None:
        while not self._over.is_set():
            try:
                self._step()
            except Exception:  # the other runs go on
                traceback.print_exc()

    def _step(self) -> None:
        with contextlib.suppress(queue.Empty):
            self._inbox.get(timeout=_WRITE_EVERY if self._dirty() else _TICK)()
        now = time.monotonic()
        if now - self._ticked >= _TICK:
            self._ticked = now
            self._tick()
        self._start_tasks()
        self._waiting = [run.id for run in self._runs.values() if run.state == "queued"]
        if now - self._written >= _WRITE_EVERY or any(run.over or run.unsaved for run in self._runs.values()):
            self._written = now
            self._write()

    def _dirty(self) -> bool:
        return any(run.changed or run.over for run in self._runs.values())

    def _tick(self) -> None:
        with contextlib.suppress(LabSeqError, OSError):
            self.owner.hold()
            known = self.store.owned(self.owner.token)
            for run_id, cancelled in known.items():
                if cancelled:
                    self._cancel(run_id)
            for run in self._runs.values():
                if run.id not in known and not run.over:
                    run.changed.add(0)  # the store was removed: it is written anew, also while nothing happens
        self.executor.tick()
        if cause := self.executor.trouble():
            for run in self._runs.values():
                self._interrupt(run, cause)

    def _interrupt(self, run: ActiveRun, cause: str) -> None:
        """What was at work is lost; the run can be resumed, and has what it had finished."""
        if run.over:
            return
        run.progress |= {number: fresh_columns() for number in run.at_work}
        run.changed |= run.at_work.keys()
        run.at_work = {}
        run.state, run.error = ("cancelled", None) if run.cancelled else ("failed", cause)

    def _begin(self, run: ActiveRun) -> None:
        self._runs[run.id] = run
        self._end_if_complete(run)

    def _cancel(self, run_id: str) -> None:
        run = self._runs.get(run_id)
        if run is None or run.over or run.cancelled:
            return
        run.cancelled = True
        for job_id in run.at_work.values():
            self.executor.cancel(job_id)
        if not run.at_work:
            run.state = "cancelled"

    def _start_tasks(self) -> None:
        """First come, first served; a later run gets workers that no earlier one can use."""
        busy = sum(len(run.at_work) for run in self._runs.values())
        ready = [(run, number) for run in self._runs.values() for number in run.ready()]
        if not ready:
            return
        free = self.executor.capacity() - busy
        for run, number in ready[: max(0, free)]:
            self._start(run, number)
        if not busy and free <= 0:
            self._say(ready[0][0], f"waiting for workers of the {self.executor.name}")

    def _start(self, run: ActiveRun, number: int) -> None:
        job_id = f"{run.id}-{number}-{next(self._job_numbers)}"
        try:
            travels = self.executor.remote and is_upload(run.config.dataset)
            upload = stored_upload(run.config.dataset) if travels else None
        except LabSeqError as problem:
            self._fail(run, number, str(problem))
            return
        job = Job(job_id, run.config.to_dict(), number, run.chosen(number), run.row["versions"], upload)
        run.at_work[number] = job_id
        run.state, run.note = "running", None
        run.progress[number] = {**fresh_columns(), "state": "running"}
        run.changed.add(number)
        try:
            future = self.executor.submit(
                job, lambda event: self._inbox.put(partial(self._hear, run, number, job_id, event))
            )
        except Exception as problem:  # no process can be started, a scheduler has gone
            traceback.print_exc()
            future = Future()
            future.set_exception(WorkerLost(f"it could not be started ({problem})"))
        future.add_done_callback(lambda done: self._inbox.put(partial(self._finish, run, number, job_id, done)))

    def _hear(self, run: ActiveRun, number: int, job_id: str, event: dict) -> None:
        if run.at_work.get(number) != job_id:
            return
        if "note" in event:
            self._say(run, event["note"])
            return
        known = run.progress[number]
        add_points(known["curve"], event["points"])
        known["iteration"], known["objective"], _ = known["curve"][-1]
        known["fraction"] = event["fraction"]
        run.changed.add(number)

    def _say(self, run: ActiveRun, note: str | None) -> None:
        if run.note != note:
            run.note = note
            run.changed.add(0)

    def _finish(self, run: ActiveRun, number: int, job_id: str, done: Future) -> None:
        if run.at_work.get(number) != job_id:
            return
        del run.at_work[number]
        problem = done.exception()
        if problem is None:
            run.outcomes[number] = done.result()
            run.progress[number] |= {"state": "done", "fraction": 1.0}
            run.unsaved.add(number)
            run.forget_beaten()
        elif isinstance(problem, LabSeqError):
            self._fail(run, number, str(problem))
        elif isinstance(problem, WorkerLost) and not run.cancelled:
            run.lost[number] = run.lost.get(number, 0) + 1
            run.progress[number] = fresh_columns()
            if run.lost[number] >= ATTEMPTS:
                cause = f"the training process ended unexpectedly {ATTEMPTS} times; the last time {problem}"
                self._fail(run, number, cause)
        elif not isinstance(problem, (Cancelled, WorkerLost)):
            self._fail(run, number, f"internal error ({type(problem).__name__})")
        run.changed.add(number)
        self._end_if_complete(run)

    def _fail(self, run: ActiveRun, number: int, error: str) -> None:
        """The method cannot be trained: its other folds are left out too."""
        method = run.tasks[number].method
        for other, task in enumerate(run.tasks):
            if task.method == method and other not in run.outcomes and other not in run.at_work:
                run.failures[other] = error
                run.progress[other]["state"] = "failed"
                run.changed.add(other)
        self._end_if_complete(run)

    def _end_if_complete(self, run: ActiveRun) -> None:
        if run.at_work or run.over:
            return
        if run.cancelled:
            run.state = "cancelled"
        elif len(run.outcomes) + len(run.failures) >= len(run.tasks):
            first = run.failures[min(run.failures)] if run.failures else None
            try:
                metrics = collect(run.config, run.outcomes, run.failures)
            except Exception as problem:
                run.state, run.error = "failed", f"internal error ({type(problem).__name__}) in putting it together"
                return
            if metrics["rows"]:
                run.state, run.metrics = "done", metrics
            else:
                run.state, run.error = "failed", first

    # Writing

    def _write(self) -> None:
        """What has changed, run by run. What cannot be written now is written later."""
        for run in list(self._runs.values()):
            if not (run.changed or run.unsaved or run.over):
                continue
            try:
                self._write_run(run)
            except StoreDamaged:  # a new one has been begun: everything known goes into it
                continue
            except RunDamaged:  # what the disk has changed is written again
                run.lost_in_store = True
                continue
            except LabSeqError as problem:
                self.trouble = str(problem)
                return
            self.trouble = None
            if run.over:
                del self._runs[run.id]
                self.ids.discard(run.id)

    def _write_run(self, run: ActiveRun) -> None:
        columns = {"state": run.state, "note": run.note, "error": run.error, "fraction": run.fraction}
        if run.over:
            columns |= {"finished": time.time(), "metrics": run.metrics}
            columns["data_hash"] = (run.metrics or {}).get("data_hash")
        changed, unsaved, dropped = set(run.changed), set(run.unsaved), set(run.dropped)
        tasks = {number: dict(run.progress[number]) for number in changed | unsaved}
        for number in unsaved:
            tasks[number]["outcome"] = run.outcomes[number].facts
        names = [artefact_name(kind, number) for number in dropped for kind in KINDS]
        if not run.lost_in_store and self.store.update(run.id, tasks, run.blobs(unsaved), names, **columns):
            run.changed -= changed
            run.unsaved -= unsaved
            run.dropped -= dropped
        else:
            self._write_anew(run, columns)

    def _write_anew(self, run: ActiveRun, columns: dict) -> None:
        """The store was removed, or set aside: all that this process knows of the run goes into the new one."""
        tasks = []
        for number, task in enumerate(run.tasks):
            row = {"label": task.label, "fold": task.fold, "point": task.point, **run.progress[number]}
            if number in run.outcomes:
                row["outcome"] = run.outcomes[number].facts
            tasks.append(row)
        self.owner.hold()  # whose file may have gone too: nobody may take the run for dead
        row = {**run.row, "id": run.id, "owner": self.owner.token, **columns}
        self.store.insert(row, tasks, run.blobs(set(run.outcomes)))
        run.changed, run.unsaved, run.dropped, run.lost_in_store = set(), set(), set(), False
