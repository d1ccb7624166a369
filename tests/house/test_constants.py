"""One place per constant and per long text of the core; `tests/app/test_ui.py` looks at the pages."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

import pytest

from tests.house.test_imports import modules

LONG = 30  # letters: a text this long that stands in two files was copied


@pytest.fixture(scope="module")
def core() -> dict[str, ast.Module]:
    return {
        name: ast.parse(path.read_text(encoding="utf-8"))
        for name, path in modules().items()
        if name.partition(".")[0] == "labseq_core"
    }


def constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Name and value of what a module declares in capitals; of `A, B = 1, 2` both."""
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            several = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
            for each, value in zip(target.elts, node.value.elts) if several else [(target, node.value)]:
                if isinstance(each, ast.Name) and each.id.isupper():
                    yield each.id.lstrip("_"), ast.unparse(value)


def texts(tree: ast.Module) -> set[str]:
    """Those that are not statements by themselves, as docstrings are."""
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone
    }


def in_several(found: dict) -> dict:
    return {key: sorted(names) for key, names in found.items() if len(names) > 1}


def test_no_constant_is_declared_twice(core):
    """What has one value under one name in several files belongs into one of them; two things want two names."""
    declared = defaultdict(set)
    for name, tree in core.items():
        for constant in constants(tree):
            declared[constant].add(name)
    assert len(declared) > 200
    assert in_several(declared) == {}


def test_no_long_value_or_text_is_written_twice(core):
    written = defaultdict(set)
    for name, tree in core.items():
        for text in [*texts(tree), *(value for _, value in constants(tree))]:
            if len(text) >= LONG:
                written[text].add(name)
    assert len(written) > 500
    assert in_several(written) == {}
