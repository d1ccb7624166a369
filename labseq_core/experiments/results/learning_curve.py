"""How scores grow with the training data: the same methods on more and more of the training sequences.

Every point is a run of its own. Folds are left out: all points are scored on the same test part, so that they differ in
nothing but the training data.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from labseq_core.data.catalogue import load_dataset
from labseq_core.evaluation import standard_error
from labseq_core.evaluation.registry import compared_metrics
from labseq_core.experiments.plan.config import ExperimentConfig
from labseq_core.experiments.results.run_results import timed_metrics
from labseq_core.experiments.run.one_task import data_hash
from labseq_core.experiments.run.status import RunStatus
from labseq_core.experiments.service import cancel, predictions, result, status, submit
from labseq_core.experiments.store.run_ids import run_id_of
from labseq_core.experiments.store.run_store import run_store
from labseq_core.places import datasets_directory

CURVE = "learning-curve"  # the name among the defaults
_HALVINGS, _FEWEST = 5, 5  # from all training sequences down to a 32nd of them, but not below five


@dataclass(frozen=True)
class CurveStatus:
    """How far the runs of a curve are; those that were never asked for are None."""

    runs: tuple[RunStatus | None, ...]

    @property
    def done(self) -> bool:
        return all(run is not None and run.state == "done" for run in self.runs)

    @property
    def active(self) -> bool:
        return any(run is not None and run.active for run in self.runs)

    @property
    def fraction(self) -> float:
        return sum(run.fraction for run in self.runs if run) / len(self.runs)

    @property
    def errors(self) -> list[str]:
        """Why runs that were asked for have not come to an end."""
        return [run.error or run.message for run in self.runs if run and not run.active and run.state != "done"]


def curve_sizes(n_sequences: int) -> tuple[int, ...]:
    """Numbers of training sequences, each twice the one before, all of them last."""
    return tuple(
        n_sequences >> halving
        for halving in range(_HALVINGS, -1, -1)
        if n_sequences >> halving >= _FEWEST or not halving
    )


def learning_curve_configs(config: ExperimentConfig, sizes: Sequence[int] | None = None) -> list[ExperimentConfig]:
    """The configuration on the first `sizes` training sequences each (none: `curve_sizes` of the corpus)."""
    whole = len(load_dataset(config.dataset).train)
    # All of them is written 0, as in any other run: who has trained on them has this point already.
    return [replace(config, folds=0, sequences=0 if size >= whole else size) for size in sizes or curve_sizes(whole)]


def curve_key(config: ExperimentConfig) -> str:
    """The same for all configurations that have one curve."""
    return replace(config, folds=0, sequences=0).hash


def submit_curve(config: ExperimentConfig) -> list[str]:
    """Start what is missing of the runs of a curve, the quick ones first; gives the ids of all."""
    return [submit(each) for each in learning_curve_configs(config)]


def cancel_curve(config: ExperimentConfig) -> None:
    """Stop those runs of a curve that are at work or waiting."""
    for run in curve_status(config).runs:
        if run is not None and run.active:
            cancel(run.run_id)


def curve_status(config: ExperimentConfig) -> CurveStatus:
    """How far the runs of a curve are, smallest first."""
    ids = list(map(run_id_of, learning_curve_configs(config)))
    store = run_store()
    return CurveStatus(tuple(status(run_id) if store.get(run_id) else None for run_id in ids))


def learning_curve(config: ExperimentConfig) -> list[dict]:
    """A row for each size and method of a curve whose runs are all done: scores and their standard errors."""
    return [row for each in learning_curve_configs(config) for row in _rows(each)]


def _rows(config: ExperimentConfig) -> list[dict]:
    run, rows = result(run_id_of(config)), []
    size = config.sequences or len(load_dataset(config.dataset).train)
    for row in run.rows:
        counts = predictions(run.run_id, row["label"]).counts()
        scores = {}
        for name in (metric.name for metric in compared_metrics()):
            scores[name] = row.get(name)  # a run from before there was such a metric has none; likewise of those timed
            scores[f"{name}_se"] = None if scores[name] is None else standard_error(counts, name)
        rows.append(
            {
                **run.about(), "sequences": size, "tokens": row["n_train_tokens"], "label": row["label"], **scores,
                **{name: row.get(name) for name in timed_metrics()},
            }
        )  # fmt: skip
    return rows


def write_default_curve(config: ExperimentConfig) -> Path:
    """Keep the curve of a configuration, whose runs are done, as the one that is shown before any click."""
    rows = [{**row, "run_id": f"default:{CURVE}"} for row in learning_curve(config)]
    kept = {"config": config.to_dict(), "data_hash": data_hash(config.dataset), "rows": rows}
    text = json.dumps(kept, ensure_ascii=False, indent=1)
    _path().write_text(text + "\n", encoding="utf-8")
    return _path()


@dataclass(frozen=True)
class DefaultCurve:
    """The curve that is shown before any click, and what it is from."""

    config: ExperimentConfig
    data_hash: str
    rows: list[dict]


def default_curve() -> DefaultCurve | None:
    """The curve that `labseq defaults` wrote; None if it has not been made."""
    if not _path().is_file():
        return None
    saved = json.loads(_path().read_text(encoding="utf-8"))
    return DefaultCurve(ExperimentConfig.from_dict(saved["config"]), saved["data_hash"], saved["rows"])


def _path() -> Path:
    return datasets_directory() / f"{CURVE}.json"
