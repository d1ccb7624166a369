"""Numbers of the lessons that take a training to find: made by `labseq defaults`, read by the Learn page."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from labseq_core.data.catalogue import load_dataset
from labseq_core.experiments.plan.config import ExperimentConfig
from labseq_core.experiments.plan.tasks import tasks_of
from labseq_core.experiments.plan.variant import TUNE, FeatureChoice, MethodChoice
from labseq_core.experiments.results.collecting import collect
from labseq_core.experiments.results.run_results import FIRST, SPAN_MODE
from labseq_core.experiments.run.one_task import run_task
from labseq_core.explain.perceptron_mistakes import mistake_bound
from labseq_core.features import FeatureTemplate
from labseq_core.places import datasets_directory

LESSONS = "lessons"  # the name among the defaults
SENTENCES = (5, 10, 20, 40, 80)  # more of them cannot be separated

CLUES = ("S1", "S2", "S3")
# An HMM may emit all attributes, each as if it were independent of the others.
COUNTED_AND_WEIGHED = (MethodChoice("hmm", {"emissions": "attributes"}, TUNE), MethodChoice("crf", {}, TUNE))
_KEPT = ("config_hash", "dataset", "features", "label", "method", "options", "seed", "accuracy", "span_f1", "log_loss")


def clue_rows(templates: tuple[str, ...] = CLUES) -> list[dict]:
    """What more and more attributes that overlap buy a method that counts and one that weighs, both tuned on the development
    set, on the first corpus's test set.
    """
    rows = []
    for template in templates:
        config = ExperimentConfig(FIRST, COUNTED_AND_WEIGHED, FeatureChoice(template))
        outcomes = {
            number: run_task(config, task, lambda progress: True) for number, task in enumerate(tasks_of(config))
        }
        for row in collect(config, outcomes, {})["rows"]:
            rows.append({**{name: row[name] for name in _KEPT}, "metric_mode": SPAN_MODE})
    return rows


def mistake_rows(sizes: tuple[int, ...] = SENTENCES) -> list[dict]:
    """The perceptron's mistakes on the first sentences of the first corpus, beside Novikoff's bound."""
    train, rows = load_dataset(FIRST).train, []
    for size in sizes:
        part = train.select(range(size))
        rows.append(asdict(mistake_bound(FeatureTemplate("S3").encode(part), part.labels)))
    return rows


def write_lessons() -> Path:
    path = _path()
    path.write_text(json.dumps({"mistakes": mistake_rows(), "clues": clue_rows()}, indent=1) + "\n", encoding="utf-8")
    return path


def lessons() -> dict[str, list[dict]]:
    """By name of the table; empty if they have not been made."""
    return json.loads(_path().read_text(encoding="utf-8")) if _path().is_file() else {}


def _path() -> Path:
    return datasets_directory() / f"{LESSONS}.json"
