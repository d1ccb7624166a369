"""A process that performs jobs: reads them as JSON lines from standard input, writes events as JSON lines to standard output.

It stops a job when asked to ("cancel"), and ends at once when its input closes: the process that started it has died.
"""

from __future__ import annotations

import base64
import json
import os
import queue
import sys
import threading
from collections.abc import Callable
from functools import partial

from labseq_core.checks import LabSeqError
from labseq_core.experiments.run.executors.perform import be_modest, perform
from labseq_core.experiments.run.memory import TOO_LITTLE_MEMORY
from labseq_core.experiments.run.one_task import Cancelled


def main() -> None:
    events = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print must not get among the events
    be_modest()

    def send(**event) -> None:
        events.write(json.dumps(event) + "\n")
        events.flush()

    jobs: queue.SimpleQueue[dict] = queue.SimpleQueue()
    cancelled: set[str] = set()
    threading.Thread(target=_listen, args=(jobs, cancelled), daemon=True).start()
    while True:
        job = jobs.get()
        try:
            outcome = perform(job, partial(_tell, send), partial(cancelled.__contains__, job["id"]))
            blobs = {name: base64.b64encode(data).decode() for name, data in outcome.blobs.items()}
            send(kind="done", facts=outcome.facts, blobs=blobs)
        except Cancelled:
            send(kind="cancelled")
        except LabSeqError as problem:
            send(kind="failed", error=str(problem))
        except MemoryError:
            send(kind="failed", error=TOO_LITTLE_MEMORY)


def _tell(send: Callable[..., None], event: dict) -> None:
    send(kind="event", event=event)


def _listen(jobs: queue.SimpleQueue, cancelled: set[str]) -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "cancel" in message:
            cancelled.add(message["cancel"])
        else:
            jobs.put(message)
    os._exit(1)


if __name__ == "__main__":
    main()
