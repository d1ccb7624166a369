"""A run as one zip file: for people (configuration, tables as CSV) and for another store (everything)."""

from __future__ import annotations

import io
import json
import re
import time
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from labseq_core.checks import LabSeqError, require
from labseq_core.evaluation.registry import compared_metrics
from labseq_core.experiments.plan.config import ExperimentConfig
from labseq_core.experiments.plan.tasks import tasks_of
from labseq_core.experiments.results.predictions import Predictions, predictions_csv
from labseq_core.experiments.results.run_results import RunResult, table_csv
from labseq_core.experiments.service import comparisons, is_default, predictions, result, run_row
from labseq_core.experiments.store.run_store import run_store
from labseq_core.learners.registry import load_model

RUN_FORMAT = 1
MAX_BYTES = 2**30  # of one run, unpacked
_ID = re.compile(r"([0-9a-f]{12})-[0-9a-f]{6}")
_RUN, _ARTEFACTS = "run.json", "artefacts/"
_KEPT = (
    "id", "created", "finished", "config", "config_hash", "data_hash", "seed", "versions", "dataset", "features", "folds",
    "methods", "labels", "state", "metrics",
)  # fmt: skip
_TASK = ("label", "fold", "point", "state", "fraction", "iteration", "objective", "curve", "outcome")
_MOMENT = (1980, 1, 1, 0, 0, 0)  # the same run gives the same file
_BROKEN = "is not a run exported by LabSeq, or it is damaged; export it again"


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
        _RUN: json.dumps(about, ensure_ascii=False),
        **{f"{_ARTEFACTS}{name}.npz": data for name, data in store.artefacts(run_id).items()},
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
        + ("" if is_default(run.run_id) else "'labseq runs import FILE' takes the whole file into another store.\n")
    )


def import_run(source: bytes | str | Path) -> str:
    """Take a run that was exported elsewhere into this store; gives its id. One that is here already stays as it is."""
    name = "the file" if isinstance(source, bytes) else Path(source).name
    about, artefacts = _unpacked(source, name)
    try:
        run, tasks = about["run"], about["tasks"]
        config = _config_of(run["config"], name)
        known = _ID.fullmatch(run["id"])  # it stands on pages
        fits = run["config_hash"] == config.hash == (known and known[1]) and run["state"] == "done"
        fits = fits and [task["label"] for task in tasks] == [task.label for task in tasks_of(config)]
        RunResult.of(run["id"], config, run["versions"], float(run["created"]), run["metrics"]).csv()
        row = {name: run[name] for name in _KEPT} | {**run_row(config), "versions": run["versions"]}
        kept = [{name: task[name] for name in _TASK} for task in tasks]
    except LabSeqError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError):
        fits = False
    require(fits, f"{name} {_BROKEN}")
    for label, data in artefacts.items():
        (Predictions.from_bytes if label.startswith("predictions.") else load_model)(data)
    store = run_store()
    here = store.get(run["id"])
    if here is None or here["state"] != "done":
        require(
            here is None or here["state"] not in ("queued", "running"),
            f"run {run['id']} is at work here; cancel it first",
        )
        store.insert({**row, "imported": 1, "fraction": 1.0}, kept, artefacts)
    return run["id"]


def _config_of(data: dict, name: str) -> ExperimentConfig:
    """What it is about; a corpus, method or file from outside that is not here is told."""
    try:
        return ExperimentConfig.from_dict(data)
    except LabSeqError as problem:
        raise LabSeqError(f"{name} cannot be imported: {problem}") from None


def _unpacked(source: bytes | str | Path, name: str) -> tuple[dict, dict[str, bytes]]:
    """Only the entries that we know, only so many bytes of them: the file may come from anywhere."""
    try:
        with zipfile.ZipFile(io.BytesIO(source) if isinstance(source, bytes) else source) as archive:
            entries = [info for info in archive.infolist() if info.filename == _RUN or _is_artefact(info.filename)]
            size = sum(info.file_size for info in entries)
            require(size <= MAX_BYTES, f"{name} would take {size / 2**20:.0f} MB, more than {MAX_BYTES / 2**20:.0f}")
            files = {info.filename: archive.read(info) for info in entries}
        about = json.loads(files.pop(_RUN))
        version = about["labseq_export"]
    except FileNotFoundError:
        raise LabSeqError(f"there is no file {name}; check the name") from None
    except (OSError, ValueError, KeyError, TypeError, NotImplementedError, RuntimeError, EOFError, zlib.error,
            zipfile.BadZipFile):  # fmt: skip
        raise LabSeqError(f"{name} {_BROKEN}") from None
    require(
        version == RUN_FORMAT,
        f"{name} has format {version}, this version reads {RUN_FORMAT}; install the version that wrote it",
    )
    return about, {path.removeprefix(_ARTEFACTS).removesuffix(".npz"): data for path, data in files.items()}


def _is_artefact(path: str) -> bool:
    kind, _, rest = path.removeprefix(_ARTEFACTS).partition(".")
    known = path.startswith(_ARTEFACTS) and kind in ("predictions", "model")
    return known and rest.removesuffix(".npz").isdecimal() and rest.endswith(".npz")
