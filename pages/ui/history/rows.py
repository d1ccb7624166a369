"""Runs as rows of a table: those of the store, and after them the results that come with LabSeq."""

from __future__ import annotations

import contextlib
import math
import time
from dataclasses import dataclass

from labseq_core import LabSeqError
from labseq_core.csv_text import table_csv
from labseq_core.experiments import RunSummary, count_runs, list_runs
from labseq_core.experiments.results.run_results import TOKEN_MODE
from pages.ui import cached as caching
from pages.ui.drawing.imported import with_mark
from pages.ui.memory import FinishedRun

PER_PAGE = 50
OURS = "comes with LabSeq"
# As people say it: what the store calls it.
STATES = {
    "finished": "done", "running": "running", "waiting": "queued", "failed": "failed", "cancelled": "cancelled",
    "interrupted": "dead", "damaged": "damaged",
}  # fmt: skip
_WORDS = {state: word for word, state in STATES.items()}


@dataclass(frozen=True)
class ListSize:
    """How many runs fit the filters, on all pages: those of the store, and those that come with LabSeq."""

    n_own: int
    n_ours: int

    @property
    def n_pages(self) -> int:
        return max(1, math.ceil((self.n_own + self.n_ours) / PER_PAGE))


@dataclass(frozen=True)
class Listing:
    """One page of the list."""

    rows: list[dict]
    ids: list[str]

    @property
    def finished(self) -> list[str]:
        """Ids of those that have scores."""
        return [run_id for run_id, row in zip(self.ids, self.rows) if row["best accuracy"] is not None]


def list_size(filters: dict) -> ListSize:
    return ListSize(count_runs(**filters), len(fitting_defaults(filters)))


def listing(filters: dict, size: ListSize, page: int) -> Listing:
    """The runs of one page, the newest first; the first page is 1. Results that come with LabSeq are at the end of all."""
    begin, end = (page - 1) * PER_PAGE, page * PER_PAGE
    own = list_runs(PER_PAGE, begin, **filters) if begin < size.n_own else []
    ours = fitting_defaults(filters)[max(0, begin - size.n_own) : max(0, end - size.n_own)]
    ids = [*(run.run_id for run in own), *(run.run_id for run in ours)]
    return Listing([*map(run_row, own), *map(default_row, ours)], ids)


def fitting_defaults(filters: dict) -> list[FinishedRun]:
    """Results that come with LabSeq and fit the filters: they are finished, and nobody pinned them."""
    if filters.get("pinned") or filters.get("state") not in (None, "done"):
        return []
    runs = list(caching.defaults().values())
    if filters.get("dataset"):
        runs = [each for each in runs if each.config.dataset == filters["dataset"]]
    if filters.get("method"):
        runs = [each for each in runs if filters["method"] in [choice.method for choice in each.config.methods]]
    wanted = (filters.get("text") or "").lower()
    return [each for each in runs if wanted in _searched(each)]


def _searched(run: FinishedRun) -> str:
    config = run.config
    labels = " ".join(choice.label for choice in config.methods)
    return f"{run.run_id} {config.dataset} {config.features.label} {labels}".lower()


def run_row(run: RunSummary) -> dict:
    """What the table says of a run."""
    state = _WORDS[run.state] + (f", {run.fraction:.0%}" if run.state == "running" else "")
    state += ", not resumed any more" if run.left_alone else ""
    best = _best(run if run.state == "done" else None)
    return {
        "pinned": "★" if run.pinned else "", "begun": moment(run.created), "corpus": caching.corpus_name(run.dataset),
        "state": with_mark(state, run), "methods": caching.short_methods(run.labels),
        "best accuracy": best["best_accuracy"], "best method": best["best_method"], "features": run.features,
        "split": split(run.folds), "seed": run.seed, "run": run.run_id,
    }  # fmt: skip


def _best(run: FinishedRun | RunSummary | None) -> dict:
    """The best method of a finished run by token accuracy, a mean over folds; nothing of any other."""
    with contextlib.suppress(LabSeqError):  # its corpus was an upload that is gone: what is left can be deleted
        method, accuracy = caching.leader(run) if run else (None, None)
        return {"best_method": method, "best_accuracy": accuracy, "metric_mode": TOKEN_MODE}
    return {"best_method": None, "best_accuracy": None, "metric_mode": TOKEN_MODE}


def default_row(run: FinishedRun) -> dict:
    config = run.config
    method, accuracy = caching.leader(run)
    return {
        "pinned": "", "begun": moment(run.created), "corpus": config.dataset, "state": OURS,
        "methods": caching.short_methods(tuple(choice.label for choice in config.methods)),
        "best accuracy": accuracy, "best method": method, "features": config.features.label, "split": split(config.folds),
        "seed": config.seed, "run": run.run_id,
    }  # fmt: skip


def moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def split(folds: int) -> str:
    return f"{folds} folds" if folds else "train/test"


def list_csv(filters: dict) -> str:
    """All runs that fit the filters, on whichever page, with whole ids."""
    rows = [
        {
            "run_id": run.run_id, "begun": moment(run.created), "state": run.state, "pinned": run.pinned,
            "imported": run.imported, "dataset": run.dataset, "methods": "; ".join(run.labels), "features": run.features,
            "folds": run.folds, "seed": run.seed, "config_hash": run.config_hash, "data_hash": run.data_hash,
            "error": run.error, **_best(run if run.state == "done" else None),
        }
        for run in list_runs(count_runs(**filters), **filters)
    ]  # fmt: skip
    rows += [
        {
            "run_id": run.run_id, "begun": moment(run.created), "state": "done", "pinned": False, "imported": False,
            "dataset": run.config.dataset, "methods": "; ".join(choice.label for choice in run.config.methods),
            "features": run.config.features.label, "folds": run.config.folds, "seed": run.config.seed,
            "config_hash": run.config.hash, "data_hash": run.data_hash, "error": None,
            **_best(run),
        }
        for run in fitting_defaults(filters)
    ]  # fmt: skip
    return table_csv(rows)


def scores_csv(ids: list[str]) -> str:
    """The scores of finished runs, a row for each method and fold."""
    return table_csv([row for run_id in ids for row in caching.finished(run_id).scores()])
