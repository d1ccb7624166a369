"""Putting together what the tasks of a run found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from labseq_core.evaluation.token import ConfusionMatrix, label_scores_of
from labseq_core.experiments.plan.config import ExperimentConfig
from labseq_core.experiments.plan.tasks import Task, best_point, tasks_of
from labseq_core.experiments.run.one_task import TaskOutcome

_SCORES = ("label", "precision", "recall", "f1", "support")


def collect(config: ExperimentConfig, outcomes: Mapping[int, TaskOutcome], failures: Mapping[int, str]) -> dict:
    """What the tasks of a run found, by their numbers, as JSON; a method of which a task failed is left out."""
    tasks = tasks_of(config)
    failed = {tasks[number].label: number for number in sorted(failures, reverse=True)}
    complete = {number: outcome for number, outcome in outcomes.items() if tasks[number].label not in failed}
    final = final_tasks(config, complete)
    labels = [choice.label for choice in config.methods if choice.label not in failed]
    collected: dict = {
        "data_hash": next((outcome.facts["data_hash"] for outcome in outcomes.values()), ""),
        "rows": [_row(tasks, number, complete) for number in final],
        "per_label": {}, "confusion": {}, "examples": [], "searches": [_tried(tasks[n], complete[n]) for n in sorted(complete)
                                                                       if complete[n].tried],
        "failures": [{"label": label, "fold": tasks[number].fold, "error": failures[number]}
                     for label, number in failed.items()],
    }  # fmt: skip
    for label in labels:
        own = [complete[number].facts for number in final if tasks[number].label == label]
        matrix = _sum([facts["confusion"] for facts in own])
        collected["confusion"][label] = {"labels": list(matrix.labels), "counts": matrix.counts.tolist()}
        collected["per_label"][label] = [
            {name: getattr(score, name) for name in _SCORES} for score in label_scores_of(matrix)
        ]
        for place, example in enumerate(own[0]["examples"]):
            if place == len(collected["examples"]):
                shown = {"tokens": example["tokens"], "truth": example["truth"], "predictions": {}}
                collected["examples"].append(shown)
            collected["examples"][place]["predictions"][label] = example["predicted"]
    return collected


def final_tasks(config: ExperimentConfig, outcomes: Mapping[int, TaskOutcome]) -> list[int]:
    """Of each method and fold the task whose scores count: of a search that with the best values."""
    tasks, chosen = tasks_of(config), []
    for fold in range(max(1, config.folds)):
        for place in range(len(config.methods)):
            own = {n: tasks[n] for n in sorted(outcomes) if (tasks[n].method, tasks[n].fold) == (place, fold)}
            last = [number for number, task in own.items() if task.point is None]
            if not last and own:
                numbers = {task.point: number for number, task in own.items()}
                last = [numbers[best_point({point: outcomes[n].tried["score"] for point, n in numbers.items()})]]
            chosen += last
    return chosen


def beaten_tasks(tasks: Sequence[Task], outcomes: Mapping[int, TaskOutcome]) -> list[int]:
    """The combinations that some other one of their search has beaten: whatever the rest will find, they are not the best."""
    searches: dict[tuple[int, int], dict[int, int]] = {}
    for number in outcomes:
        if tasks[number].point is not None:
            own = tasks[number]
            searches.setdefault((own.method, own.fold), {})[own.point] = number
    beaten = []
    for numbers in searches.values():
        best = best_point({point: outcomes[number].tried["score"] for point, number in numbers.items()})
        beaten += [number for point, number in numbers.items() if point != best]
    return sorted(beaten)


def _row(tasks: list[Task], number: int, outcomes: Mapping[int, TaskOutcome]) -> dict:
    """The row of a task; the time of a search is that of all its fits."""
    own = tasks[number]
    others = [outcomes[n].tried["seconds"] for n in outcomes
              if n != number and outcomes[n].tried and (tasks[n].method, tasks[n].fold) == (own.method, own.fold)]  # fmt: skip
    row = outcomes[number].row
    return {**row, "train_seconds": row["train_seconds"] + sum(others)}


def _tried(task: Task, outcome: TaskOutcome) -> dict:
    return {"label": task.label, "fold": task.fold, **outcome.tried}


def _sum(parts: list[dict]) -> ConfusionMatrix:
    """Confusion counts of several folds, which may not have met the same labels."""
    labels = sorted({label for part in parts for label in part["labels"]})
    counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
    for part in parts:
        places = [labels.index(label) for label in part["labels"]]
        counts[np.ix_(places, places)] += np.array(part["counts"], dtype=np.int64).reshape(len(places), -1)
    return ConfusionMatrix(tuple(labels), counts)
