"""A run as one zip file: for people (configuration, tables as CSV) and for another store (everything)."""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Mapping

from labseq_core.checks import require
from labseq_core.evaluation.registry import compared_metrics
from labseq_core.experiments.results.predictions import Predictions, predictions_csv
from labseq_core.experiments.results.run_results import IMPORTED, RunResult, table_csv
from labseq_core.experiments.service import comparisons, is_default, predictions, result
from labseq_core.experiments.store.run_shapes import RUN_FORMAT
from labseq_core.experiments.store.run_store import run_store

RUN_FILE, ARTEFACTS = "run.json", "artefacts/"  # what another store reads
_KEPT = (
    "id", "created", "finished", "config", "config_hash", "data_hash", "seed", "versions", "dataset", "features", "folds",
    "methods", "labels", "state", "metrics",
)  # fmt: skip
_TASK = ("label", "fold", "point", "state", "fraction", "iteration", "objective", "curve", "outcome")
_MOMENT = (1980, 1, 1, 0, 0, 0)  # the same run gives the same file


def run_tables(run_id: str) -> dict[str, str]:
    """All tables of a finished run as CSV text, by file name."""
    run = result(run_id)
    about = run.about()
    said = {row["label"]: predictions(run_id, row["label"]) for row in run.summary()}
    known = [each.name for each in compared_metrics() if any(row.get(each.name) is not None for row in run.rows)]
    pairs = [{"metric": metric, **row} for metric in known for row in comparisons(run_id, metric)]
    tables = {
        "scores.csv": run.csv(),
        "times.csv": run.times_csv(),
        "summary.csv": table_csv([{**about, **row} for row in run.summary()]),
        "per_label.csv": table_csv([
            {**about, "method": label, **row} for label, rows in run.per_label.items() for row in rows
        ]),
        "confusion.csv": table_csv(_confusion_rows(run, about)),
        "predictions.csv": predictions_csv(said, **{name: str(value) for name, value in about.items()}),
        "abstention.csv": table_csv(_abstention_rows(said, about)),
        "significance.csv": table_csv([{**about, **row} for row in pairs]),
        "searches.csv": table_csv([{**about, **row} for row in run.searches]),
    }  # fmt: skip
    return {name: text for name, text in tables.items() if text}


def _confusion_rows(run: RunResult, about: dict) -> list[dict]:
    return [
        {**about, "method": label, "true": true, "predicted": predicted, "tokens": count}
        for label, matrix in run.confusion.items()
        for true, counts in zip(matrix["labels"], matrix["counts"])
        for predicted, count in zip(matrix["labels"], counts)
    ]


def _abstention_rows(said: dict[str, Predictions], about: dict) -> list[dict]:
    return [
        {**about, "method": label, "probability": each.probability, **row}
        for label, each in said.items()
        for row in each.abstention().rows()
    ]


def everything(run_id: str) -> bytes:
    """All that can be saved of a finished run as a zip file; of a result that comes with LabSeq the tables."""
    return packed_tables(run_id) if is_default(run_id) else export_run(run_id)


def packed_tables(run_id: str) -> bytes:
    """Configuration and tables of a finished run as a zip file."""
    return _packed({**_for_people(result(run_id)), **run_tables(run_id)})


def export_run(run_id: str) -> bytes:
    """A finished run as a zip file: configuration, tables, predictions, models, versions."""
    run, store = result(run_id), run_store()
    row = store.get(run_id)
    require(row is not None, f"{run_id} comes with LabSeq and is the same everywhere; export a run of your own")
    tasks = [{name: task[name] for name in _TASK} for task in store.tasks(run_id, outcomes=True)]
    about = {"labseq_export": RUN_FORMAT, "run": {name: row[name] for name in _KEPT}, "tasks": tasks}
    files: dict[str, str | bytes] = {
        **_for_people(run),
        **run_tables(run_id),
        RUN_FILE: json.dumps(about, ensure_ascii=False),
        **{f"{ARTEFACTS}{name}.npz": data for name, data in store.artefacts(run_id).items()},
    }
    return _packed(files)


def _packed(files: Mapping[str, str | bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, _MOMENT), data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _for_people(run: RunResult) -> dict[str, str]:
    return {
        "README.txt": _readme(run),
        "config.yaml": run.config.to_yaml(),
        "versions.json": json.dumps(run.versions, indent=1, sort_keys=True) + "\n",
    }


def _readme(run: RunResult) -> str:
    when = time.strftime("%Y-%m-%d", time.gmtime(run.created))
    return (
        f"Run {run.run_id} of LabSeq, {when}.\n\n"
        "config.yaml: 'labseq compare config.yaml' runs it again. scores.csv: one row per method and fold. times.csv: what\n"
        "was timed. predictions.csv: every token. metric_mode conlleval: spans are counted as conlleval does;\n"
        "token: labels have no spans, each token counts by itself. scored_on: the folds, or the test part.\n"
        + (f"This run was {IMPORTED}, where it was exported from.\n" if run.imported else "")
        + ("" if is_default(run.run_id) else "'labseq runs import FILE' takes the whole file into another store.\n")
    )
