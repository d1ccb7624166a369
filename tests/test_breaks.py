"""The list of deliberate breaks does not rot: what each replaces is still there, once, and so are its tests."""

from __future__ import annotations

import ast

import pytest

from tests.breaks import ROOT, occurrences
from tests.breaks_list import BREAKS, Break

FEWEST = 40


@pytest.mark.parametrize("broken", BREAKS, ids=lambda broken: broken.name)
def test_what_a_break_replaces_is_there_once(broken: Break):
    assert occurrences(broken) == 1
    assert broken.new != broken.old
    text = (ROOT / broken.file).read_text(encoding="utf-8")
    ast.parse(text.replace(broken.old, broken.new))  # a fault, not a file that cannot be read


@pytest.mark.parametrize("broken", BREAKS, ids=lambda broken: broken.name)
def test_tests_of_a_break_are_there(broken: Break):
    assert broken.tests
    assert [path for path in broken.tests.split() if not (ROOT / "tests" / path).exists()] == []


def test_breaks_are_many_and_a_third_of_them_were_real():
    assert len({broken.name for broken in BREAKS}) == len(BREAKS) >= FEWEST
    assert 3 * sum(bool(broken.fixed_by) for broken in BREAKS) >= len(BREAKS)
    assert {broken.file.split("/")[0] for broken in BREAKS} == {"labseq_core", "pages"}
