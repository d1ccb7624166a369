"""A process that has made all parts in memory, and then does all that a user can ask for. Prints, as JSON, each routine that it
still had to look for and what needed it: nothing on disk, of whatever test has run before, can hide one.

    python -m tests.warm_up.after_warm_up
"""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from labseq_core import load_dataset
from labseq_core.cli import main as command
from labseq_core.compiling import code_cache
from labseq_core.features import FeatureTemplate
from labseq_core.learners.registry import METHODS, make_learner, method_options
from labseq_core.places import datasets_directory
from labseq_core.warm_up import ahead
from tests.app.cold_visit import raise_it, seen
from tests.app.views import VIEWS

FEW = {"rounds": 3, "epochs": 2, "max_iter": 3, "coordinates": 3}
KERNELS = ("2*linear+rbf:0.5", "normalized(poly:3)", "poly:2:0.5", "token")
# Sizes from which something is done in another way: a small corpus is then treated as a large one.
SIZES = {
    "features.templates.LOOKUP_FROM": 0, "scoring.kernel_features.FEW_ROWS": 0,
    "solvers.gaussian.greedy_basis.LARGEST_METRIC": 1,
    "solvers.gaussian.greedy_basis.LARGEST_BLOCK": 1, "solvers.gaussian.map_problem.LARGEST_BLOCK": 1,
    "learners.gpsc.EXACT_UP_TO": 0,
    "chain.most_violated.COUNTED_CELLS": 0, "solvers.margin.gram_scores.FRESH_AFTER": 0, "compiling.routines.PARALLEL_FROM": 0,
}  # fmt: skip

looked_for: dict[str, list[str]] = {}
_doing = ""
_load_overload = code_cache.KeptCode.load_overload


def _noted(cache: code_cache.KeptCode, *arguments):
    looked_for.setdefault(_doing, []).append(cache.routine)
    return _load_overload(cache, *arguments)


@contextmanager
def doing(*what: str) -> Iterator[None]:
    global _doing
    _doing = " ".join(what)
    yield


@contextmanager
def as_if_large() -> Iterator[None]:
    with contextlib.ExitStack() as changed:
        for name, value in SIZES.items():
            changed.enter_context(patch(f"labseq_core.{name}", value))
        yield


def methods(size: str) -> None:
    for corpus, template in (("pitch-accent", "prosody"), ("toy-pos", "S2")):
        data, features = load_dataset(corpus), FeatureTemplate(template)
        train, test = data.train.select(range(12)), data.test.select(range(3))
        for method in METHODS:
            with doing(method, corpus, size):
                learner = make_learner(method, **_few(method))
                learner.fit(features.encode(train), train.labels, dev=(test, test.labels))
                learner.predict(features.encode(test))
                learner.score(test, test.labels)
                learner.k_best(test, 3)
                if learner.probabilistic:
                    learner.marginals(test)


def kernels(size: str) -> None:
    train = load_dataset("toy-pos").train.select(range(8))
    for method in METHODS:
        options = method_options(method)
        for kernel in KERNELS if "kernel" in options else ():
            for route in options["route"].choices if "route" in options else (None,):
                if route == "explicit" and not kernel.startswith("poly"):
                    continue
                with doing(method, kernel, str(route), size):
                    chosen = {"kernel": kernel, **({"route": route} if route else {})}
                    make_learner(method, **chosen, **_few(method)).fit(train).predict(train)


def _few(method: str) -> dict:
    return {name: value for name, value in FEW.items() if name in method_options(method)}


def commands() -> None:
    corpus = str(datasets_directory() / "toy-pos" / "test.conll")
    with tempfile.TemporaryDirectory() as place, contextlib.redirect_stdout(io.StringIO()):
        model, labelled = str(Path(place) / "model.npz"), str(Path(place) / "labelled.conll")
        for words in (
            ["train", corpus, "--model", model, "--method", "crf:max_iter=3"],
            ["evaluate", model, corpus],
            ["predict", model, corpus, "--output", labelled],
            ["datasets", "info", "toy-pos"],
            ["runs", "list"],
        ):
            with doing("labseq", words[0]):
                assert not command(words)


def views() -> None:
    with patch("pages.ui.frame.errors.unexpected", raise_it):
        for page, choices in VIEWS:
            with doing(page, *choices.values()):
                assert not seen(page, choices)["problems"]


def main() -> None:
    for part in ahead.PARTS.values():
        part.make()
    code_cache.KeptCode.load_overload = _noted
    methods("small")
    kernels("small")
    with as_if_large():
        methods("as if large")
        kernels("as if large")
    commands()
    views()
    print(json.dumps(looked_for))


if __name__ == "__main__":
    main()
