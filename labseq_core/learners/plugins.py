"""What comes from outside the tree: files named by `labseq --with FILE.py`, and packages with entry points `labseq.methods`.

Each learner that such a file or package defines is a method like any other: in forms, runs, workers and pages; both may add to
other registries too. A hash of the file, or of the package's files, is part of the id of the runs that use it; what the
file imports is not in that hash.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from labseq_core.checks import LabSeqError, require
from labseq_core.learners.base import SequenceLearner
from labseq_core.learners.options import OF_VARIANTS
from labseq_core.registry import Source, loading
from labseq_core.worker_processes import WITH_VARIABLE

ENTRY_POINTS = "labseq.methods"
ADDS_TO_PAGES = "add_to_pages"  # a function that a file or package may have
MODULE_PREFIX = "labseq_with_"  # before the name of a file's module, which must hide no other
# Columns of the table of a search beside its values, and what every variant may choose.
NOT_OPTIONS = ("label", "fold", "score", "seconds", *OF_VARIANTS)
_for_pages: dict[Source, Callable[[], None]] = {}  # functions `add_to_pages` of what was loaded
NEEDED = ("method_id", "title", "summary", "where", "options")  # what a learner says of itself


def outside_learners() -> Iterator[tuple[type[SequenceLearner], Source]]:
    """Those of the files that this process was started with, and of installed packages."""
    for name in filter(None, os.environ.get(WITH_VARIABLE, "").split(os.pathsep)):
        path = Path(name)
        if not path.is_file():
            raise LabSeqError(f"{path.name}: there is no such file; --with takes a Python file with a method in it")
        yield from _loaded(partial(_module_of, path), Source(path.name, _digest(path)))
    for entry in entry_points(group=ENTRY_POINTS):
        yield from _loaded(entry.load, Source(entry.module, _digest(*_package_files(entry.module))))


def _loaded(load: Callable[[], Any], source: Source) -> Iterator[tuple[type[SequenceLearner], Source]]:
    """Those of a file or package; what it adds to registries is known as its own."""
    with loading(source) as added:
        try:
            found = load()
        except Exception as problem:
            cause = problem if isinstance(problem, LabSeqError) else f"{type(problem).__name__}: {problem}"
            raise LabSeqError(f"{source.file} cannot be loaded: {cause}") from problem
    learners = _learners_in(found) if isinstance(found, ModuleType) else [found]
    if hasattr(found, ADDS_TO_PAGES):
        _for_pages[source] = getattr(found, ADDS_TO_PAGES)
    if (
        source.is_file and not learners and not added and source not in _for_pages
    ):  # a package may have been imported before, and added it then
        raise LabSeqError(
            f"{source.file} defines no method (a subclass of SequenceLearner with a method_id) and adds nothing to a registry"
        )
    for learner in learners:
        _check(learner, source.file)
        learner.source = source
        yield learner, source


@cache
def add_to_pages() -> None:
    """What files and packages from outside add to pages, such as a tab or a lesson: their function `add_to_pages`, called when
    the pages have been loaded. The command line never calls it, so it may import what only the dashboard has.
    """
    for source, add in _for_pages.items():
        with loading(source):
            add()


def _module_of(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"{MODULE_PREFIX}{path.stem}", path)
    if spec is None or spec.loader is None:
        raise LabSeqError("it is no Python file; --with takes one with a method in it")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _learners_in(module: ModuleType) -> list[type[SequenceLearner]]:
    """Those that have an id of their own: one that is inherited belongs to another method."""
    return [
        found
        for found in vars(module).values()
        if inspect.isclass(found) and issubclass(found, SequenceLearner) and found.__module__ == module.__name__
        if "method_id" in vars(found)
    ]


def _check(learner: type[SequenceLearner], name: str) -> None:
    is_learner = inspect.isclass(learner) and issubclass(learner, SequenceLearner)
    require(is_learner, f"{name}: {learner!r} is no method; name a module, or a subclass of SequenceLearner")
    lacking = [each for each in NEEDED if not hasattr(learner, each)]
    if lacking:
        raise LabSeqError(f"{name}: {learner.__name__} does not say its {', '.join(lacking)}; see SequenceLearner")
    options = [option.name for option in learner.options]
    taken = next((option for option in options if option in NOT_OPTIONS), None)
    if taken is not None:
        raise LabSeqError(
            f"{name}: {learner.__name__} has an option {taken!r}, which every variant or search has; give it another name"
        )
    if options != learner._option_names():
        said = ", ".join(options) or "none"
        takes = ", ".join(learner._option_names()) or "none"
        raise LabSeqError(f"{name}: {learner.__name__} declares the options {said}, but its constructor takes {takes}")


def _digest(*paths: Path) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _package_files(module: str) -> list[Path]:
    """All sources of the package that a module belongs to; none where it is not there, which loading it will tell."""
    spec = importlib.util.find_spec(module.partition(".")[0])
    if spec is None:
        return []
    if spec.submodule_search_locations is None:
        return [Path(spec.origin)] if spec.origin else []
    return sorted(path for folder in spec.submodule_search_locations for path in Path(folder).rglob("*.py"))
