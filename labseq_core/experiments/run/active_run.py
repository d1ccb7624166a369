"""A run that an engine has: all that is known of it, whether or not the store knows it too."""

from __future__ import annotations

from dataclasses import dataclass, field

from labseq_core.experiments.plan.config import ExperimentConfig
from labseq_core.experiments.plan.tasks import Task, best_point
from labseq_core.experiments.results.collecting import beaten_tasks
from labseq_core.experiments.run.one_task import TaskOutcome

KINDS = ("predictions", "model")  # of blobs that a task may have


@dataclass(eq=False)
class ActiveRun:
    """A run that is waiting or at work."""

    id: str
    row: dict  # as it was put into the store
    config: ExperimentConfig
    tasks: list[Task]
    needs: list[list[int]]  # for each task those whose results it needs
    outcomes: dict[int, TaskOutcome] = field(default_factory=dict)
    failures: dict[int, str] = field(default_factory=dict)
    lost: dict[int, int] = field(default_factory=dict)  # how many workers died over a task
    progress: dict[int, dict] = field(init=False)  # columns of the tasks
    changed: set[int] = field(default_factory=set)  # tasks that the store does not know as they are
    unsaved: set[int] = field(default_factory=set)  # finished ones of them
    dropped: set[int] = field(default_factory=set)  # tasks whose blobs the store must not keep
    at_work: dict[int, str] = field(default_factory=dict)  # number -> job
    state: str = "queued"
    note: str | None = None
    error: str | None = None
    cancelled: bool = False
    lost_in_store: bool = False  # what the store has of it cannot be changed: all of it is to be written
    metrics: dict | None = None

    def __post_init__(self) -> None:
        self.progress = {number: fresh_columns() for number in range(len(self.tasks))}

    @property
    def over(self) -> bool:
        return self.state not in ("queued", "running")

    def ready(self) -> list[int]:
        """Tasks that could begin now."""
        if self.cancelled or self.over:
            return []
        rest = [n for n in range(len(self.tasks)) if n not in self.outcomes and n not in self.failures]
        return [n for n in rest if n not in self.at_work and all(before in self.outcomes for before in self.needs[n])]

    def chosen(self, number: int) -> int | None:
        """The best combination of the search that a task waits for."""
        scores = {self.tasks[n].point: self.outcomes[n].tried["score"] for n in self.needs[number]}
        return best_point(scores) if scores else None

    def forget_beaten(self) -> None:
        """A search may have hundreds of models; only one can be the best, and only the best so far may become it."""
        for number in beaten_tasks(self.tasks, self.outcomes):
            if self.outcomes[number].row is not None:
                self.outcomes[number] = self.outcomes[number].beaten()
                self.unsaved.add(number)
                self.dropped.add(number)

    def lacks_its_result(self, number: int) -> bool:
        """Whether a task whose scores may count for its method has none, or no predictions."""
        within_folds = self.config.folds and self.tasks[number].point is not None
        return not within_folds and "predictions" not in self.outcomes[number].blobs

    @property
    def fraction(self) -> float:
        parts = [1.0 if n in self.outcomes else self.progress[n]["fraction"] for n in range(len(self.tasks))]
        return sum(parts) / len(parts)

    def blobs(self, numbers: set[int]) -> dict[str, bytes]:
        """What some tasks are to keep, by the names of artefacts."""
        return {
            artefact_name(kind, number): data
            for number in numbers
            for kind, data in self.outcomes[number].blobs.items()
        }


def fresh_columns() -> dict:
    """Of a task that has not begun."""
    return {"state": "queued", "fraction": 0.0, "iteration": 0, "objective": None, "curve": []}


def artefact_name(kind: str, number: int) -> str:
    """How a blob of a task is called among the artefacts of its run."""
    return f"{kind}.{number}"
