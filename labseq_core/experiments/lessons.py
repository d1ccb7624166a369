"""Numbers of the lessons that take a training to find: made by `labseq defaults`, read by the Learn page."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from labseq_core.data.catalogue import load_dataset
from labseq_core.data.places import datasets_directory
from labseq_core.experiments.results import FIRST
from labseq_core.explain.mistakes import mistake_bound
from labseq_core.features import FeatureTemplate

LESSONS = "lessons"  # the name among the defaults
SENTENCES = (5, 10, 20, 40, 80)  # more of them cannot be separated


def mistake_rows(sizes: tuple[int, ...] = SENTENCES) -> list[dict]:
    """The perceptron's mistakes on the first sentences of the first corpus, beside Novikoff's bound."""
    train, rows = load_dataset(FIRST).train, []
    for size in sizes:
        part = train.select(range(size))
        rows.append(asdict(mistake_bound(FeatureTemplate("S3").encode(part), part.labels)))
    return rows


def write_lessons() -> Path:
    path = _path()
    path.write_text(json.dumps({"mistakes": mistake_rows()}, indent=1) + "\n", encoding="utf-8")
    return path


def lessons() -> dict[str, list[dict]]:
    """By name of the table; empty if they have not been made."""
    return json.loads(_path().read_text(encoding="utf-8")) if _path().is_file() else {}


def _path() -> Path:
    return datasets_directory() / f"{LESSONS}.json"
