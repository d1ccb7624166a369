"""The process that trains: reads a configuration from standard input, writes events as JSON lines to standard output.

It ends when asked to ("cancel"), and at once when its input closes: the process that started it has died.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

from labseq_core._checks import LabSeqError
from labseq_core._jit import warm_up
from labseq_core.data.catalogue import load_dataset
from labseq_core.experiments.config import ExperimentConfig
from labseq_core.experiments.runner import Cancelled, collect, data_hash, run_task, tasks_of
from labseq_core.learners.base import SequenceLearner
from labseq_core.solvers.history import Progress

REPORT_EVERY = 0.2  # seconds between two events of one task
LARGE = 50_000  # tokens from which a second thread is worth compiling for


def main() -> None:
    events = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print must not get among the events
    if hasattr(os, "nice"):
        os.nice(10)  # the pages come first

    def send(**event) -> None:
        events.write(json.dumps(event) + "\n")
        events.flush()

    config = ExperimentConfig.from_dict(json.loads(sys.stdin.readline()))
    cancelled = threading.Event()
    threading.Thread(target=_listen, args=(cancelled,), daemon=True).start()
    try:
        _run(config, send, cancelled)
    except Cancelled:
        send(event="cancelled")
    except LabSeqError as problem:
        send(event="failed", error=str(problem))
    except Exception as problem:
        traceback.print_exc()
        send(event="failed", error=f"internal error ({type(problem).__name__}); the server's log has the details")


def _listen(cancelled: threading.Event) -> None:
    for line in sys.stdin:
        if line.strip() == "cancel":
            cancelled.set()
    os._exit(1)


def _run(config: ExperimentConfig, send, cancelled: threading.Event) -> None:
    # Before any clock runs: compiling would count as training time.
    warm_up(
        lambda what, fraction: send(event="note", note=f"preparing compiled routines, {100 * fraction:.0f} %"),
        methods=dict.fromkeys(choice.method for choice in config.methods),
        parallel=load_dataset(config.dataset).train.n_tokens >= LARGE,
    )
    results = []
    for number, task in enumerate(tasks_of(config)):
        last_sent = 0.0

        def report(progress: Progress, number: int = number) -> bool:
            nonlocal last_sent
            now = time.monotonic()
            if now - last_sent >= REPORT_EVERY or progress.fraction >= 1.0:
                last_sent = now
                send(event="progress", task=number, iteration=progress.iteration, objective=progress.objective,
                     fraction=progress.fraction)  # fmt: skip
            return not cancelled.is_set()

        send(event="task", task=number, state="running")
        if cancelled.is_set():
            raise Cancelled
        results.append(run_task(config, task, report))
        if task.fold == 0:
            send(event="model", label=task.label, archive=_archive(results[-1].learner))
        send(event="task", task=number, state="done")
    send(event="done", result={**collect(results), "data_hash": data_hash(config.dataset)})


def _archive(learner: SequenceLearner) -> str:
    """A model as text, for the process that keeps the store: it may be on another machine one day."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        learner.save(path)
        return base64.b64encode(path.read_bytes()).decode()


if __name__ == "__main__":
    main()
