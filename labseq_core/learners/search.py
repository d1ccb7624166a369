"""Choosing hyper-parameters: every combination of the values given is fitted, and scored on sequences not trained on."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from labseq_core.checks import require
from labseq_core.data.sequences import Sequences
from labseq_core.evaluation import evaluate
from labseq_core.learners.base import SequenceLearner
from labseq_core.progress import Callback, Progress

MOST_FITS = 100
HELD_OUT = 10  # without development data every so many-th sequence is scored, not trained on


@dataclass(frozen=True)
class Search:
    """What was tried, and a learner fitted with what was best."""

    best: dict  # the chosen value of each option
    table: list[dict]  # a row for each fit: the values, score, seconds
    learner: SequenceLearner


def search(
    learner: SequenceLearner,
    grid: Mapping[str, Sequence],
    X,
    y: Sequence[Sequence[str]],
    *,
    dev=None,
    decode: str | None = None,
    callback: Callback | None = None,
) -> Search:
    """Fit copies of a learner with all combinations of values, keep the one that scores best; the first among equals.

    The score is span F1 where labels are BIO, else token accuracy, on `dev`: `Sequences`, or a pair (X, y). Without it every
    tenth sequence is held out, and the best values are fitted once more to all. decode: as `predict`
    takes it. A callback that returns False ends it with the best so far.
    """
    require_grid(grid)
    kept, kept_labels = X, y
    if dev is not None:
        held, truth = (dev, dev.labels) if isinstance(dev, Sequences) else dev
    else:
        inside, outside = held_out(len(y))
        kept, held = _select(X, inside), _select(X, outside)
        kept_labels, truth = [y[place] for place in inside], [y[place] for place in outside]
    tried = combinations(grid)
    steps = _Steps(callback, len(tried) + (dev is None))
    table, best, chosen, highest = [], None, {}, -1.0
    for options in tried:
        begin = time.perf_counter()
        made = _copy(learner, options)
        watched = {"dev": dev} if dev is not None and "patience" in made.get_params() else {}
        made.fit(kept, kept_labels, callback=steps.tell, **watched)
        score = search_score(truth, made.predict(held, decode))
        table.append({**options, "score": score, "seconds": time.perf_counter() - begin})
        if score > highest:
            best, chosen, highest = made, options, score
        steps.done += 1
        if steps.stopped:
            return Search(chosen, table, best)
    if dev is None:
        best = _copy(learner, chosen).fit(X, y, callback=steps.tell)
    return Search(chosen, table, best)


def combinations(grid: Mapping[str, Sequence]) -> list[dict]:
    """One value of each option, in every way; the last option changes fastest."""
    return [dict(zip(grid, values)) for values in itertools.product(*grid.values())]


def held_out(n_sequences: int) -> tuple[list[int], list[int]]:
    """Which sequences are trained on and which are scored where there is no development data."""
    require(n_sequences > 1, "there is one sequence and no development data; a search needs something to score")
    outside = [place for place in range(n_sequences) if place % HELD_OUT == HELD_OUT - 1] or [n_sequences - 1]
    return sorted(set(range(n_sequences)) - set(outside)), outside


def search_score(truth: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> float:
    """By what a search chooses: span F1 where labels are BIO, else token accuracy."""
    evaluation = evaluate(truth, predicted)
    return evaluation.accuracy if evaluation.span_f1 is None else evaluation.span_f1


def require_grid(grid: Mapping[str, Sequence]) -> int:
    """How many fits a grid means; an error if that is none or too many."""
    require(len(grid) > 0, "the search has no options; give values such as {'l2': [0.1, 1.0]}")
    n_fits = 1
    for name, values in grid.items():
        require(len(values) > 0, f"the search has no values of {name}; give at least one")
        require(len(set(map(str, values))) == len(values), f"the search has a value of {name} twice; drop one")
        n_fits *= len(values)
    require(n_fits <= MOST_FITS, f"the search has {n_fits} combinations; choose at most {MOST_FITS}")
    return n_fits


class _Steps:
    """Passes on how far a fit is as how far all are."""

    def __init__(self, callback: Callback | None, n_fits: int):
        self.callback, self.n_fits, self.done, self.stopped = callback, n_fits, 0, False

    def tell(self, progress: Progress) -> bool:
        fraction = (self.done + progress.fraction) / self.n_fits
        if self.callback is not None and not self.stopped:
            self.stopped = self.callback(replace(progress, fraction=fraction)) is False
        return not self.stopped


def _copy(learner: SequenceLearner, options: dict) -> SequenceLearner:
    return type(learner)(**{**learner.get_params(deep=False), **options})


def _select(X, places: list[int]):
    return X.select(places) if hasattr(X, "select") else [X[place] for place in places]
