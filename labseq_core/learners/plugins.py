"""What comes from outside the tree: files named by `labseq --with FILE.py`, and packages with entry points `labseq.methods`.

Each learner that such a file or package defines is a method like any other: in forms, runs, workers and pages; a file may add
to other registries too. Its source is part of the id of the runs that use it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from labseq_core.checks import LabSeqError
from labseq_core.learners.base import SequenceLearner
from labseq_core.registry import loading
from labseq_core.worker_processes import WITH_VARIABLE

ENTRY_POINTS = "labseq.methods"
_loaded: dict[ModuleType, str] = {}  # files from outside, and their hashes
NEEDED = ("method_id", "title", "summary", "where", "options")  # what a learner says of itself


class OutsideLearner(NamedTuple):
    learner: type[SequenceLearner]
    source: str  # a hash of its file


def outside_learners() -> Iterator[OutsideLearner]:
    """Those of the files that this process was started with, and of installed packages."""
    for name in filter(None, os.environ.get(WITH_VARIABLE, "").split(os.pathsep)):
        path = Path(name)
        if not path.is_file():
            raise LabSeqError(f"{path.name}: there is no such file; --with takes a Python file with a method in it")
        with loading(_digest(path)) as added:
            module = _module_of(path)
        learners = list(_learners_in(module, path.name))
        _loaded[module] = _digest(path)
        if not learners and not added and not hasattr(module, "add_to_pages"):
            raise LabSeqError(
                f"{path.name} defines no method (a subclass of SequenceLearner with a method_id) and adds nothing to a registry"
            )
        yield from learners
    for entry in entry_points(group=ENTRY_POINTS):
        loaded = entry.load()
        if isinstance(loaded, ModuleType):
            yield from _learners_in(loaded, entry.value)
        else:
            yield _checked(loaded, entry.value)


@cache
def add_to_pages() -> None:
    """What files from outside add to pages, such as a tab or a lesson: their function `add_to_pages`, called when the pages
    have been loaded. The command line never calls it, so it may import what only the dashboard has.
    """
    for module, source in _loaded.items():
        with loading(source):
            getattr(module, "add_to_pages", lambda: None)()


def _module_of(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"labseq_with_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise LabSeqError(f"{path.name} is no Python file; --with takes one with a method in it")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as problem:
        raise LabSeqError(f"{path.name} cannot be loaded: {type(problem).__name__}: {problem}") from problem
    return module


def _learners_in(module: ModuleType, name: str) -> Iterator[OutsideLearner]:
    own = [
        defined
        for defined in vars(module).values()
        if inspect.isclass(defined) and issubclass(defined, SequenceLearner) and defined.__module__ == module.__name__
    ]
    for learner in own:
        if hasattr(learner, "method_id"):
            yield _checked(learner, name)


def _checked(learner: type[SequenceLearner], name: str) -> OutsideLearner:
    lacking = [each for each in NEEDED if not hasattr(learner, each)]
    if lacking:
        raise LabSeqError(f"{name}: {learner.__name__} does not say its {', '.join(lacking)}; see SequenceLearner")
    options = [option.name for option in learner.options]
    if options != learner._option_names():
        said = ", ".join(options) or "none"
        taken = ", ".join(learner._option_names()) or "none"
        raise LabSeqError(f"{name}: {learner.__name__} declares the options {said}, but its constructor takes {taken}")
    return OutsideLearner(learner, _digest(Path(inspect.getfile(learner))))


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]
