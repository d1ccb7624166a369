"""Imports point one way: from a room only to those that are listed before it; and nobody imports in a circle."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import labseq_core
from tests.conftest import REPOSITORY

# Each may use those before it. `chain` needs neither data nor features, and generated corpora use it for their true posterior.
ROOMS = [
    "checks", "registry", "_lazy", "file_lock", "places", "worker_processes", "progress", "archives", "compiling", "chain",
    "data", "features", "kernels", "scoring", "losses", "solvers", "evaluation", "learners", "explain", "warm_up",
    "experiments", "serving", "commands", "cli",
]  # fmt: skip


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


def test_the_core_does_not_know_the_pages_and_only_the_server_knows_streamlit():
    for name, others in imports().items():
        if name.startswith("labseq_core"):
            roots = {other.split(".")[0] for other in others}
            assert "pages" not in roots, name
            assert "plotly" not in roots, name
            assert "streamlit" not in roots or name == "labseq_core.serving.server", name


def test_nobody_imports_in_a_circle():
    """Each module after those that it imports: what is left over at the end is a circle."""
    left = {
        name: {other for other in others if other in modules() and other != name} for name, others in imports().items()
    }
    while free := [name for name, others in left.items() if not others & left.keys()]:
        for name in free:
            del left[name]
    assert not left, f"these import each other: {sorted(left)}"
