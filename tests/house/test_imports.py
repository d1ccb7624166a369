"""Imports point one way: from a room only to those that are listed before it; nobody imports in a circle; and one file
reaches into Streamlit.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from types import ModuleType

import streamlit as st

import labseq_core
from tests.conftest import REPOSITORY

# Each may use those before it. `chain` needs neither data nor features, and generated corpora use it for their true posterior.
ROOMS = [
    "checks", "csv_text", "registry", "_lazy", "places", "file_lock", "worker_processes", "guarded_process", "progress",
    "archives", "compiling", "chain", "data", "features", "kernels", "scoring", "losses", "solvers", "evaluation", "learners",
    "explain", "warm_up", "experiments", "serving", "commands", "cli",
]  # fmt: skip

INSIDE = "labseq_core.serving.streamlit_inside"
# What its documentation names: besides functions, the types of columns and containers.
PUBLIC = {"streamlit", "streamlit.column_config", "streamlit.delta_generator"}
# Tests have ids of their own in one file.
STREAMLIT_IDS = re.compile(r"\bst[A-Z]\w|testid[=]")
MAY_NAME_IDS = {"labseq_core/serving/streamlit_inside.py", "tests/browser/elements.py"}


@cache
def modules() -> dict[str, Path]:
    """All modules of the core and of the pages, by name."""
    found = {}
    for folder in ("labseq_core", "pages"):
        for path in (REPOSITORY / folder).rglob("*.py"):
            names = path.relative_to(REPOSITORY).with_suffix("").parts
            found[".".join(names[:-1] if names[-1] == "__init__" else names)] = path
    return found


@cache
def imports() -> dict[str, set[str]]:
    """What each of them imports of these, wherever in the file and for whatever reason."""
    return {name: set(_imported(name, path)) for name, path in modules().items()}


def _imported(name: str, path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name} imports relatively; write the whole name, as everywhere"
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            found += [each if each in modules() else _offering(node.module, each) for each in inner]
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
    return found


def _offering(module: str, name: str) -> str:
    """Where a package that offers names lazily has this one from; else the module itself."""
    if module != "labseq_core":
        return module
    found = getattr(labseq_core, name.rpartition(".")[2])
    return getattr(found, "__module__", module)


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def test_every_room_is_listed():
    core = {room(name) for name in modules() if name.startswith("labseq_core.")}
    assert core == set(ROOMS)


def test_imports_point_one_way():
    against = [
        f"{name} imports {other}"
        for name, others in imports().items()
        for other in others
        if name.startswith("labseq_core.") and other.startswith("labseq_core.")
        if ROOMS.index(room(other)) > ROOMS.index(room(name))
    ]
    assert against == []


def test_the_core_does_not_know_the_pages_and_one_file_knows_streamlit():
    for name, others in imports().items():
        if name.startswith("labseq_core"):
            roots = {other.split(".")[0] for other in others}
            assert "pages" not in roots, name
            assert "plotly" not in roots, name
            assert "streamlit" not in roots or name == INSIDE, name


def test_nobody_else_reaches_into_streamlit():
    sources = {**modules(), "app": REPOSITORY / "app.py"}
    del sources[INSIDE]
    for name, path in sources.items():
        assert _used_of_streamlit(path) <= PUBLIC, name


def _used_of_streamlit(path: Path) -> set[str]:
    """Modules, and private names of the package itself; it is called `st` everywhere."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "streamlit":
            found |= {_module_or_private(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("st", "streamlit"):
            found.add(_module_or_private(node.attr))
    return {name for name in found if name.split(".")[0] == "streamlit"}


def _module_or_private(name: str) -> str:
    """Or the package, of whose functions this is one."""
    thing = getattr(st, name, None)  # a module that nobody has imported yet is no attribute
    inner = thing is None or isinstance(thing, ModuleType) or name.startswith("_")
    return f"streamlit.{name}" if inner else "streamlit"


def test_ids_of_streamlit_are_written_down_once():
    folders = [REPOSITORY / name for name in ("labseq_core", "pages", "tests", "benchmarks")]
    named = {
        path.relative_to(REPOSITORY).as_posix()
        for path in [REPOSITORY / "app.py", *(path for folder in folders for path in folder.rglob("*"))]
        if path.suffix in (".py", ".css", ".svg") and STREAMLIT_IDS.search(path.read_text(encoding="utf-8"))
    }
    assert named == MAY_NAME_IDS


def test_nobody_imports_in_a_circle():
    """Each module after those that it imports: what is left over at the end is a circle."""
    left = {
        name: {other for other in others if other in modules() and other != name} for name, others in imports().items()
    }
    while free := [name for name, others in left.items() if not others & left.keys()]:
        for name in free:
            del left[name]
    assert not left, f"these import each other: {sorted(left)}"
