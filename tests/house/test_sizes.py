"""Files and functions that can be read in one go."""

from __future__ import annotations

import ast

import pytest

from tests.conftest import REPOSITORY
from tests.house.test_imports import modules

LONGEST_FILE, LONGEST_PAGE, LONGEST_FUNCTION = 400, 150, 60
COMPILED = {"compiled", "compiled_sum", "compiled_lanes", "BatchRoutine"}  # recursions may be longer


def test_files_are_short():
    lengths = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in modules().items()}
    assert {name: length for name, length in lengths.items() if length > LONGEST_FILE} == {}
    pages = {
        path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in (REPOSITORY / "pages").glob("*.py")
    }
    assert {name: length for name, length in pages.items() if length > LONGEST_PAGE} == {}


@pytest.mark.parametrize("folder", ["labseq_core", "pages"])
def test_functions_are_short(folder):
    long = {}
    for name, path in modules().items():
        if not name.startswith(folder):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and not COMPILED & {
                getattr(each, "id", "") for each in node.decorator_list
            }:
                length = node.end_lineno - node.lineno + 1
                if length > LONGEST_FUNCTION:
                    long[f"{name}.{node.name}"] = length
    assert long == {}
