"""What a configuration consists of: each method on each fold by itself, and in a search each combination of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from labseq_core.experiments.plan.config import ExperimentConfig
from labseq_core.experiments.plan.variant import MethodChoice
from labseq_core.learners.search import combinations


@dataclass(frozen=True)
class Task:
    """One method on one fold, or one combination of a search there. Its number is its place in `tasks_of`."""

    label: str
    method: int  # its place in the configuration
    fold: int
    point: int | None = None  # which combination of a search; None: the method as it is, or with the values chosen


def tasks_of(config: ExperimentConfig) -> list[Task]:
    """Fold by fold, so that the features of a fold are made once for all methods.

    A search has a task for each combination. With a development part the best of them is the result; within
    cross-validation, where a tenth of the training set was held out, one more task trains on all of it.
    """
    tasks = []
    for fold in range(max(1, config.folds)):
        for place, choice in enumerate(config.methods):
            points = list(range(len(points_of(choice)))) if choice.tried else []
            last = [None] if config.folds or not points else []
            tasks += [Task(choice.label, place, fold, point) for point in [*points, *last]]
    return tasks


def points_of(choice: MethodChoice) -> list[dict]:
    """The combinations of a search, each as plain options."""
    return combinations(choice.tried) if choice.tried else []


def searches_before(tasks: Sequence[Task]) -> list[list[int]]:
    """For each task the numbers of those whose results it needs: a method with chosen values those of its search."""
    points: dict[tuple[int, int], list[int]] = {}
    for number, task in enumerate(tasks):
        if task.point is not None:
            points.setdefault((task.method, task.fold), []).append(number)
    return [points.get((task.method, task.fold), []) if task.point is None else [] for task in tasks]


def best_point(scores: Mapping[int, float]) -> int:
    """The combination with the highest score; the first among equals."""
    return max(sorted(scores), key=scores.__getitem__)
