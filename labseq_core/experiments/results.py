"""What a run found, as data; and the default results that are shown before any click."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import dataclass, field
from pathlib import Path

from labseq_core.data.places import datasets_directory
from labseq_core.experiments.config import ExperimentConfig
from labseq_core.learners.base import SequenceLearner

AVERAGED = (
    "accuracy", "sequence_accuracy", "hamming_risk", "span_precision", "span_recall", "span_f1",
    "train_seconds", "predict_seconds", "n_attributes", "n_parameters",
)  # fmt: skip


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
    searches: list[dict] = field(
        default_factory=list
    )  # a row for each fit of a search: label, fold, values, score, seconds

    @classmethod
    def of(cls, run_id: str, config: ExperimentConfig, versions: dict, created: float, found: dict) -> RunResult:
        rows = [{"run_id": run_id, **row} for row in found["rows"]]
        rest = {name: found[name] for name in ("data_hash", "per_label", "confusion", "examples")}
        return cls(run_id, config, versions, created, rows=rows, searches=found.get("searches", []), **rest)

    def summary(self) -> list[dict]:
        """Per method the mean over folds and its standard error (None for a single split)."""
        summary = []
        for label in dict.fromkeys(row["label"] for row in self.rows):
            own = [row for row in self.rows if row["label"] == label]
            entry = {"label": label, "method": own[0]["method"], "folds": len(own)}
            for name in AVERAGED:
                values = [row[name] for row in own if row[name] is not None]
                entry[f"{name}_mean"], entry[f"{name}_se"] = _mean_and_error(values)
            summary.append(entry)
        return summary

    def csv(self) -> str:
        """All rows with full precision."""
        text = io.StringIO()
        writer = csv.DictWriter(text, list(self.rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: "" if value is None else value for key, value in row.items()} for row in self.rows)
        return text.getvalue()

    def to_dict(self) -> dict:
        rows = [{key: value for key, value in row.items() if key != "run_id"} for row in self.rows]
        return {
            "config": self.config.to_dict(), "versions": self.versions, "created": self.created,
            "found": {"rows": rows, "data_hash": self.data_hash, "per_label": self.per_label,
                      "confusion": self.confusion, "examples": self.examples,
                      **({"searches": self.searches} if self.searches else {})},
        }  # fmt: skip


def _mean_and_error(values: list[float]) -> tuple[float | None, float | None]:
    if not values:
        return None, None
    mean = sum(values) / len(values)
    if len(values) == 1:
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
    found = {}
    for path in defaults_directory().glob("*.json"):
        saved = json.loads(path.read_text(encoding="utf-8"))
        config = ExperimentConfig.from_dict(saved["config"])
        run_id = f"default:{path.stem}"
        found[path.stem] = RunResult.of(run_id, config, saved["versions"], saved["created"], saved["found"])
    return {name: found[name] for name in sorted(found, key=lambda name: _place(name, found[name].config.dataset))}


def _place(name: str, dataset: str) -> tuple:
    return name != FIRST, name != dataset, name


def write_default(name: str, result: RunResult, models: dict[str, SequenceLearner]) -> Path:
    """Keep a result and its models as the default of this name."""
    path = defaults_directory() / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    text = json.dumps(result.to_dict(), ensure_ascii=False, indent=1)
    path.write_text(text + "\n", encoding="utf-8")
    for label, model_path in _model_paths(name, result.config).items():
        models[label].save(model_path)
    return path


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
