"""What a run found, as data; and the default results that are shown before any click."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import dataclass
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

    @classmethod
    def of(cls, run_id: str, config: ExperimentConfig, versions: dict, created: float, found: dict) -> RunResult:
        rows = [{"run_id": run_id, **row} for row in found["rows"]]
        rest = {name: found[name] for name in ("data_hash", "per_label", "confusion", "examples")}
        return cls(run_id, config, versions, created, rows=rows, **rest)

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
                      "confusion": self.confusion, "examples": self.examples},
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
    """The results that `labseq defaults` wrote, by corpus, the one to show first first."""
    found = {}
    for path in sorted(defaults_directory().glob("*.json"), key=lambda path: (path.stem != FIRST, path.stem)):
        saved = json.loads(path.read_text(encoding="utf-8"))
        config = ExperimentConfig.from_dict(saved["config"])
        run_id = f"default:{path.stem}"
        found[path.stem] = RunResult.of(run_id, config, saved["versions"], saved["created"], saved["found"])
    return found


def write_default(result: RunResult, models: dict[str, SequenceLearner]) -> Path:
    """Keep a result and its models as the default of its corpus."""
    path = defaults_directory() / f"{result.config.dataset}.json"
    path.parent.mkdir(exist_ok=True)
    text = json.dumps(result.to_dict(), ensure_ascii=False, indent=1)
    path.write_text(text + "\n", encoding="utf-8")
    for choice in result.config.methods:
        models[choice.label].save(_model_path(result.config.dataset, choice.method))
    return path


def default_model(dataset: str, label: str) -> bytes | None:
    """The archive of a default model."""
    result = default_results().get(dataset)
    chosen = [choice.method for choice in result.config.methods if choice.label == label] if result else []
    path = _model_path(dataset, chosen[0]) if chosen else None
    return path.read_bytes() if path and path.is_file() else None


def _model_path(dataset: str, method: str) -> Path:
    return defaults_directory() / f"{dataset}.{method}.npz"
