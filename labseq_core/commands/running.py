"""Comparisons, and the runs in the store."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from labseq_core.checks import LabSeqError
from labseq_core.commands.choices import feature_choice
from labseq_core.commands.progress import Bar
from labseq_core.worker_processes import SCHEDULER_VARIABLE, start_ahead

if TYPE_CHECKING:
    from labseq_core.experiments import ExperimentConfig, RunStatus

_POLL_EVERY, _WAIT = 0.1, 0.5  # seconds
_CELL = 18  # characters of a column of a table, unless its heading has more


def compare(chosen: argparse.Namespace) -> int:
    if not chosen.scheduler:
        start_ahead()  # to load takes a second: it does so while this process does
    from labseq_core.data.formats.source import read_text
    from labseq_core.experiments import ExperimentConfig, MethodChoice, notices
    from labseq_core.experiments.plan.variant import TUNE

    if chosen.config:
        config = ExperimentConfig.from_yaml(read_text(chosen.config))
    else:
        if not (chosen.dataset and chosen.methods):
            raise LabSeqError("name a corpus with --dataset and methods with --methods, or give a configuration file")
        methods = tuple(map(MethodChoice.parse, chosen.methods.split(",")))
        if chosen.tune:
            methods = tuple(choice if choice.search else replace(choice, search=TUNE) for choice in methods)
        metrics = tuple(chosen.metrics.split(",")) if chosen.metrics else ()
        config = ExperimentConfig(
            chosen.dataset, methods, feature_choice(chosen), chosen.folds, chosen.seed, metrics, chosen.calibrate,
            chosen.sequences, chosen.test_dataset,
        )  # fmt: skip
    for notice in notices():
        print(f"labseq: {notice}", file=sys.stderr)
    return _show(follow(config, chosen.scheduler), chosen, config.metrics)


def follow(config, scheduler: str | None = None) -> str:
    """Submit, show progress until the end, give the run's id."""
    from labseq_core.experiments import cancel
    from labseq_core.experiments.run.executors.base import COMPILING
    from labseq_core.experiments.service import at_work_here, trouble

    if scheduler:
        os.environ[SCHEDULER_VARIABLE] = scheduler
    bar = Bar(config.dataset)
    run_id = _submitted(config, bar)
    try:
        while (now := _seen(run_id, config, bar)).active or (now.state == "dead" and at_work_here(run_id)):
            cause = trouble()
            message = f"waiting, and goes on by itself: {cause}" if cause else now.message
            bar.show(now.fraction, message)
            if cause or message.startswith(COMPILING):
                bar.note(message)
            time.sleep(_POLL_EVERY)
    except KeyboardInterrupt:
        with contextlib.suppress(LabSeqError):  # the store cannot be written: it ends with this process
            cancel(run_id)
        raise
    bar.show(now.fraction, now.message)
    bar.close()
    if now.state != "done":
        raise LabSeqError(f"the run is {now.state}: {now.error or now.message}")
    return run_id


def _submitted(config: ExperimentConfig, bar: Bar) -> str:
    """The id of the run. A disk without space is waited for: nothing of the work is lost by it."""
    from labseq_core.experiments import submit
    from labseq_core.experiments.store.errors import StoreFull

    while True:
        try:
            return submit(config)
        except StoreFull as problem:
            bar.note(f"waiting until it can begin: {problem}", on_terminal=True)
            time.sleep(_WAIT)


def _seen(run_id: str, config: ExperimentConfig, bar: Bar) -> RunStatus:
    """How far a run is. While this process has it, a store that is damaged, lost or full comes back with all that is known."""
    from labseq_core.experiments import status
    from labseq_core.experiments.service import at_work_here

    while True:
        try:
            return status(run_id)
        except LabSeqError as problem:
            bar.note(f"waiting for the run store: {problem}", on_terminal=True)
            if not at_work_here(run_id):
                _submitted(config, bar)  # another process had it: join it again, or begin
            time.sleep(_WAIT)


def _show(run_id: str, chosen: argparse.Namespace, metrics: tuple[str, ...] = ()) -> int:
    """The table of a finished run, for people or machines; and as files."""
    from labseq_core.experiments import result
    from labseq_core.experiments.plan.decoding_words import decoding_line
    from labseq_core.experiments.results.run_results import IMPORTED

    run = result(run_id)
    if chosen.csv:
        Path(chosen.csv).write_text(run.csv(), encoding="utf-8")
    if chosen.json:
        told = {"run_id": run_id, "config_hash": run.config.hash, "data_hash": run.data_hash,
                "versions": run.versions, "rows": run.rows, "summary": run.summary(),
                "searches": run.searches, "failures": run.failures, "imported": run.imported}  # fmt: skip
        print(json.dumps(_finite(told), ensure_ascii=False, allow_nan=False))
        return 0
    print_table(run.summary(), metrics or run.config.metrics)
    print(decoding_line(run.config.methods))
    for row in run.rows:
        if any(entry["label"] == row["label"] for entry in run.searches):
            print(f"{row['label']}, fold {row['fold'] + 1}: chosen {row['options']}")
    for failure in run.failures:
        print(f"{failure['label']} could not be trained: {failure['error']}", file=sys.stderr)
    mark = f", {IMPORTED}" if run.imported else ""
    print(f"run {run_id}{mark}" + (f"; wrote {Path(chosen.csv).name}" if chosen.csv else ""))
    return 0


def _finite(value: object) -> object:
    """The same with null for what is no finite number, which JSON does not have: a log loss may be infinite."""
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_table(summary: list[dict], metrics: tuple[str, ...] = ()) -> None:
    """Means over folds ± standard errors."""
    from labseq_core.evaluation.registry import METRICS

    usual = [metric.name for metric in METRICS.values() if metric.shown == "always"]
    columns = [
        METRICS[name]
        for name in metrics or (*usual, "train_seconds")
        if any(row[f"{name}_mean"] is not None for row in summary)
    ]
    width = max(len(row["label"]) for row in summary)
    widths = [max(_CELL, len(metric.heading)) for metric in columns]
    print(" " * width, *(f"{metric.heading:>{each}}" for metric, each in zip(columns, widths)))
    for row in summary:
        cells = [_cell(row[f"{metric.name}_mean"], row[f"{metric.name}_se"], metric.share) for metric in columns]
        print(f"{row['label']:<{width}}", *(f"{cell:>{each}}" for cell, each in zip(cells, widths)))


def _cell(mean: float | None, error: float | None, share: bool) -> str:
    if mean is None:
        return "-"
    if share:
        return f"{100 * mean:.2f}" + ("" if error is None else f" ± {100 * error:.2f}")
    return f"{mean:.4g}" + ("" if error is None else f" ± {error:.2g}")


# labseq runs ...


def list_all(chosen: argparse.Namespace) -> None:
    from labseq_core.experiments import list_runs, notices
    from labseq_core.experiments.results.run_results import IMPORTED

    filters = {"dataset": chosen.dataset, "method": chosen.method, "state": chosen.state, "text": chosen.text}
    runs = list_runs(chosen.limit, pinned=chosen.pinned, **{name: value for name, value in filters.items() if value})
    for notice in notices():
        print(f"labseq: {notice}", file=sys.stderr)
    if chosen.json:
        print(json.dumps([asdict(run) for run in runs], ensure_ascii=False))
        return
    for run in runs:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.created))
        state = run.state if run.state != "running" else f"{run.fraction:.0%}"
        split = f"{run.folds} folds" if run.folds else "train/test"
        marks = [f" ({mark})" for mark in (IMPORTED if run.imported else "", run.left_alone) if mark]
        pinned, about = "*" if run.pinned else " ", f"{run.dataset}, {run.features}, {split}: {', '.join(run.labels)}"
        print(f"{pinned}{run.run_id}  {when}  {state:<9}  {about}{''.join(marks)}")
    if not runs:
        print("no runs; 'labseq compare' makes one")


def show(chosen: argparse.Namespace) -> int:
    from labseq_core.experiments import status

    if not chosen.run_id.startswith("default:"):
        now = status(chosen.run_id)
        if now.state != "done":
            told = asdict(now)
            print(
                json.dumps(told)
                if chosen.json
                else f"{now.run_id}: {now.state}, {now.fraction:.0%}: {now.error or now.message}"
            )
            return 0
    return _show(chosen.run_id, chosen)


def resume(chosen: argparse.Namespace) -> int:
    """Go on with one run, or with all that were interrupted."""
    from labseq_core.experiments import list_runs
    from labseq_core.experiments.service import configuration

    ids = chosen.run_id or [run.run_id for run in reversed(list_runs(1000, state="dead"))]
    if not ids:
        print("nothing to resume: no run was interrupted", file=sys.stderr)
    for run_id in ids:
        config: ExperimentConfig = configuration(run_id)
        print(f"{run_id}: {follow(config, chosen.scheduler)} is finished")
    return 0


def cancel_run(chosen: argparse.Namespace) -> None:
    from labseq_core.experiments import cancel

    cancel(chosen.run_id)


def export(chosen: argparse.Namespace) -> None:
    """A zip file of everything, or the scores as CSV."""
    from labseq_core.experiments import export_run, list_runs, result
    from labseq_core.experiments.results.run_results import table_csv

    if chosen.csv is not None:
        done = [run.run_id for run in list_runs(100_000, state="done")] if chosen.run_id is None else [chosen.run_id]
        _write(table_csv([row for run_id in done for row in result(run_id).scores()]), chosen.csv)
        return
    if chosen.run_id is None:
        raise LabSeqError("name the run to export, or give --csv for the scores of all runs")
    path = Path(chosen.output or f"labseq-{chosen.run_id}.zip")
    path.write_bytes(export_run(chosen.run_id))
    print(f"wrote {path.name}")


def _write(text: str, path: str) -> None:
    if path == "-":
        sys.stdout.write(text)
    else:
        Path(path).write_text(text, encoding="utf-8")
        print(f"wrote {Path(path).name}")


def import_file(chosen: argparse.Namespace) -> None:
    from labseq_core.experiments import import_run

    for path in chosen.file:
        bar = Bar(Path(path).name)
        try:
            run_id = import_run(path, bar.show if bar.on_terminal else None)
        finally:
            bar.close()
        print(f"{Path(path).name}: run {run_id}")


def delete(chosen: argparse.Namespace) -> None:
    from labseq_core.experiments import delete as delete_run

    for run_id in chosen.run_id:
        delete_run(run_id)
        print(f"deleted {run_id}")


def pin(chosen: argparse.Namespace) -> None:
    from labseq_core.experiments import pin as pin_run

    pin_run(chosen.run_id, not chosen.off)
