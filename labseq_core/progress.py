"""Progress of a fit: told to a callback, kept as a history."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from labseq_core.checks import as_plain

STOPPED = "stopped by the callback"  # why a fit ended
Scores = Callable[[Any], Any]  # how a model, finished or not, scores: EncodedSequences -> ChainPotentials


@dataclass(frozen=True)
class Progress:
    """Where a fit stands."""

    iteration: int
    objective: float
    fraction: float  # of the work, between 0 and 1; an estimate where the number of iterations is not known
    predict: Callable[..., list[list[str]]] | None = None  # labels X with what has been learned so far, while told
    accuracy: float | None = None  # of tokens held out, where somebody measures it


Callback = Callable[[Progress], bool | None]


@dataclass
class Recorder:
    """Keeps a row per iteration and tells the callback until it asks to stop; from then on `record` gives False."""

    callback: Callback | None = None
    rows: list[dict] = field(default_factory=list)
    started: float = field(default_factory=time.perf_counter)
    stopped: bool = False
    fraction: float = 0.0  # never falls, although an estimate may
    part: tuple[int, int] = (0, 1)  # the number of this minimisation, and of how many: a fit may start anew
    present: Scores | None = None  # how the fit would score at this moment; a learner that iterates says it
    label: Callable[..., list[list[str]]] | None = None  # (scores, X) -> labellings

    def record(self, iteration: int, objective: float, fraction: float, **more) -> bool:
        elapsed = time.perf_counter() - self.started
        row = {"iteration": iteration, "objective": float(objective), "seconds": elapsed, **more}
        self.rows.append({name: as_plain(value) for name, value in row.items()})
        return self.tell(iteration, objective, fraction)

    def tell(self, iteration: int, objective: float, fraction: float) -> bool:
        """Tell the callback without keeping a row: between iterations that take long."""
        number, parts = self.part
        self.fraction = max(self.fraction, (number + min(1.0, fraction)) / parts)
        if self.callback is not None and not self.stopped:
            predict = partial(self.label, self.present) if self.label and self.present else None
            self.stopped = self.callback(Progress(iteration, float(objective), self.fraction, predict)) is False
        return not self.stopped
