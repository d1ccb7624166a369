"""What a corpus says of itself, and how it is brought here and read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from labseq_core.checks import require
from labseq_core.data.downloads import Progress, RemoteFile, is_at_hand, read_verified
from labseq_core.data.sequences import Dataset, Sequences

Parts = tuple[Sequences, Sequences, Sequences]  # training, development and test set
TASKS = ("token", "segment")

ABOUT = "about.json"  # the file of a folder that says what the others are


@dataclass(frozen=True)
class Corpus:
    """A corpus that can be chosen by its name."""

    name: str
    title: str
    task: str  # as in Dataset
    load: Callable[[], Parts]
    description: str = ""
    licence: str = ""
    citation: str = ""
    size: str = ""
    n_labels: int | None = None
    answer_columns: tuple[str, ...] = ()  # never observations: they restate the label or say how the corpus is cut
    # Where the truth is known, by decoding: accuracy of the labels of the true distribution on the test set.
    bayes_test_accuracy: Mapping[str, float] = field(default_factory=dict)
    bundled: bool = False
    files: tuple[RemoteFile, ...] = ()  # to be fetched before it can be read
    # What changes with the data, told without reading them; None: the data are read.
    fingerprint: Callable[[], str] | None = None

    def __post_init__(self) -> None:
        known = self.task in TASKS
        require(known, f"corpus {self.name}: task is {self.task!r}; choose from {', '.join(map(repr, TASKS))}")

    @property
    def available(self) -> bool:
        """Without the net."""
        return all(map(is_at_hand, self.files))

    def dataset(self) -> Dataset:
        """The corpus, fetched first if need be."""
        parts = tuple(self.load())
        fits = len(parts) == 3 and all(isinstance(part, Sequences) and part.flat_labels for part in parts)
        require(fits, f"the corpus {self.name} must load three labelled Sequences: training, development and test set")
        said = {key: getattr(self, key) for key in ("title", "description", "licence", "citation", "task")}
        return Dataset(self.name, *parts, **said)

    def fetch(self, progress: Progress | None = None) -> None:
        """Bring its files onto this machine. `progress(fraction, message)` is told how far it is."""
        report = progress or (lambda fraction, message: None)
        for number, file in enumerate(self.files):
            report(number / len(self.files), f"looking for {file.name}")

            def report_part(part: float, message: str, before: int = number) -> None:
                report((before + part) / len(self.files), message)

            read_verified(file, report_part)
        report(1.0, f"{self.name} is at hand")
