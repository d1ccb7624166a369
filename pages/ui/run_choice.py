"""Which finished run: the same choice on every page that shows one."""

from __future__ import annotations

from labseq_core.experiments import RunResult
from pages.ui import caching, session

NAME = "run"


def choose_run() -> RunResult | None:
    """The run that the URL names, else the newest; an unknown id is told and left."""
    runs = caching.finished_runs()
    wanted = session.recall(NAME)
    if wanted and wanted not in runs:
        with session.shown_errors():
            caching.finished(wanted)
            runs[wanted] = caching.run_line(wanted)
    if not runs:
        return None
    return caching.finished(session.choose("Run", NAME, list(runs), runs.get, next(iter(runs))))
