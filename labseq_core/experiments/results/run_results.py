"""What a run found, as data; and the default results that are shown before any click."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from labseq_core.archives import LoadedArrays, load_archive, names_in, save_archive
from labseq_core.csv_text import table_csv
from labseq_core.evaluation.registry import metrics_of
from labseq_core.experiments.plan.config import ExperimentConfig
from labseq_core.experiments.plan.decoding_words import decoding_line
from labseq_core.experiments.results.predictions import Predictions
from labseq_core.learners.base import SequenceLearner
from labseq_core.places import datasets_directory

# Spans count as conlleval counts them; labels that are not BIO have no spans, each token counts by itself.
SPAN_MODE, TOKEN_MODE = "conlleval", "token"
IMPORTED = "imported, not recomputed"  # wherever a run is shown that came from a file


@dataclass(frozen=True)
class RunResult:
    """Rows per method and fold, and per method the label scores, confusion counts and example labellings."""

    run_id: str
    config: ExperimentConfig
    versions: dict
    created: float
    data_hash: str
    rows: list[dict]
    per_label: dict[str, list[dict]]
    confusion: dict[str, dict]
    examples: list[dict]
    # A row for each fit of a search: label, fold, values, score, seconds.
    searches: list[dict] = field(default_factory=list)
    # Methods that could not be trained: label, fold, error. They are in none of the tables.
    failures: list[dict] = field(default_factory=list)
    imported: bool = False  # from a file: whether its numbers are true, nobody here knows

    @classmethod
    def of(
        cls, run_id: str, config: ExperimentConfig, versions: dict, created: float, metrics: dict, imported: bool = False
    ) -> RunResult:  # fmt: skip
        rows = [{"run_id": run_id, **row} for row in metrics["rows"]]
        rest = {name: metrics[name] for name in ("data_hash", "per_label", "confusion", "examples")}
        more = {name: metrics.get(name, []) for name in ("searches", "failures")}
        return cls(run_id, config, versions, created, rows=rows, imported=imported, **rest, **more)

    def summary(self) -> list[dict]:
        """Per method the mean over folds and its standard error (None for a single split)."""
        summary = []
        for label in dict.fromkeys(row["label"] for row in self.rows):
            own = [row for row in self.rows if row["label"] == label]
            decoding = self.config.variant(label).decoding
            entry = {"label": label, "method": own[0]["method"], "decode": decoding, "folds": len(own)}
            entry["used_of"] = own[0].get("used_of", "")
            entry["n_used_mean"], _ = _mean_and_error([_parameters_used(row) for row in own])
            for name in (metric.name for metric in metrics_of()):
                values = [row[name] for row in own if row.get(name) is not None]
                entry[f"{name}_mean"], entry[f"{name}_se"] = _mean_and_error(values)
            summary.append(entry)
        return summary

    def about(self) -> dict:
        """What every table that is saved says of itself: of which run it is, its seed, how scores were counted and on what, and
        how labels were decoded.
        """
        spans = any(row.get("span_f1") is not None for row in self.rows)
        mode = SPAN_MODE if spans else TOKEN_MODE
        return {
            "run_id": self.run_id, "config_hash": self.config.hash, "seed": self.config.seed, "metric_mode": mode,
            "scored_on": f"{self.config.folds} folds" if self.config.folds else "test part",
            **({"imported": IMPORTED} if self.imported else {}),
            "decoding": decoding_line(self.config.methods),
        }  # fmt: skip

    def csv(self) -> str:
        """All scores with full precision, the same to the byte for the same configuration: nothing that was timed."""
        return table_csv(self.scores())

    def scores(self) -> list[dict]:
        """The rows without what was timed."""
        about, timed = self.about(), timed_metrics()
        return [{**about, **{key: value for key, value in row.items() if key not in timed}} for row in self.rows]

    def times_csv(self) -> str:
        """What was timed, which is different each time."""
        names, about = ("label", "fold", *timed_metrics()), self.about()
        return table_csv([{**about, **{name: row.get(name) for name in names}} for row in self.rows])

    def to_dict(self) -> dict:
        rows = [{key: value for key, value in row.items() if key != "run_id"} for row in self.rows]
        return {
            "config": self.config.to_dict(), "versions": self.versions, "created": self.created,
            "found": {"rows": rows, "data_hash": self.data_hash, "per_label": self.per_label,
                      "confusion": self.confusion, "examples": self.examples,
                      **({"searches": self.searches} if self.searches else {}),
                      **({"failures": self.failures} if self.failures else {})},
        }  # fmt: skip


def timed_metrics() -> list[str]:
    """The columns that are different each time."""
    return [metric.name for metric in metrics_of("timing")]


def _parameters_used(row: Mapping) -> float:
    """Parameters of a model without weights of features that are 0; what has no features keeps what it uses only."""
    share = row["used_share"] if row.get("used_of", "").endswith("features") else None
    return row["n_parameters"] * (1.0 if share is None else share)


def _mean_and_error(values: list[float]) -> tuple[float | None, float | None]:
    if not values:
        return None, None
    mean = sum(values) / len(values)
    if len(values) == 1 or not math.isfinite(mean):
        return mean, None
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return mean, math.sqrt(variance / len(values))


FIRST = "spanish-ner"  # the corpus that a newcomer sees first


def defaults_directory() -> Path:
    return datasets_directory() / "defaults"


def default_results() -> dict[str, RunResult]:
    """The results that `labseq defaults` wrote, by name: first the one to show first, then those of other corpora (which
    have the corpus's name), then those of a family of methods.
    """
    results = {path.stem: _saved_default(path, path.stat().st_mtime_ns) for path in defaults_directory().glob("*.json")}
    return {
        name: results[name] for name in sorted(results, key=lambda name: _place(name, results[name].config.dataset))
    }


@lru_cache(maxsize=64)
def _saved_default(path: Path, changed: int) -> RunResult:
    """As it was when the file was last changed: pages ask for it at every click."""
    saved = json.loads(path.read_text(encoding="utf-8"))
    config = ExperimentConfig.from_dict(saved["config"])
    return RunResult.of(f"default:{path.stem}", config, saved["versions"], saved["created"], saved["found"])


def _place(name: str, dataset: str) -> tuple:
    return name != FIRST, name != dataset, name


def write_default(
    name: str, result: RunResult, models: dict[str, SequenceLearner], said: dict[str, Predictions]
) -> Path:
    """Keep a result, its models and their predictions as the default of this name."""
    path = defaults_directory() / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    text = json.dumps(result.to_dict(), ensure_ascii=False, indent=1)
    for former in path.parent.glob(f"{name}.*.npz"):
        former.unlink()
    path.write_text(text + "\n", encoding="utf-8")
    for label, model_path in _model_paths(name, result.config).items():
        models[label].save(model_path)
    arrays = {str(place): np.frombuffer(each.to_bytes(), dtype=np.uint8) for place, each in enumerate(said.values())}
    save_archive(_predictions_path(name), arrays, {"labels": list(said)})
    return path


def default_predictions(name: str) -> dict[str, Predictions]:
    """What the methods of a default result said, by label."""
    if not _predictions_path(name).is_file():
        return {}
    arrays, meta = load_archive(_predictions_path(name), "predictions", f"run 'labseq defaults {name}'")
    loaded = LoadedArrays(arrays)
    packed = {label: loaded.indices(str(n), 2**8, dtype=np.uint8) for n, label in enumerate(names_in(meta, "labels"))}
    loaded.require_all_taken("predictions")
    return {label: Predictions.from_bytes(data.tobytes()) for label, data in packed.items()}


def _predictions_path(name: str) -> Path:
    return defaults_directory() / f"{name}.predictions.npz"


def default_model(name: str, label: str) -> bytes | None:
    """The archive of a default model."""
    result = default_results().get(name)
    path = _model_paths(name, result.config).get(label) if result else None
    return path.read_bytes() if path and path.is_file() else None


def _model_paths(name: str, config: ExperimentConfig) -> dict[str, Path]:
    """By label. A method that occurs several times, with different options, has numbers."""
    methods = [choice.method for choice in config.methods]
    paths = {}
    for place, choice in enumerate(config.methods):
        number = f"-{methods[: place + 1].count(choice.method)}" if methods.count(choice.method) > 1 else ""
        paths[choice.label] = defaults_directory() / f"{name}.{choice.method}{number}.npz"
    return paths
