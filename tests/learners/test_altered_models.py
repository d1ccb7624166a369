"""A model file that anybody may have written is refused, or does no harm: see `altered_models`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter

import pytest

from labseq_core.learners import METHODS
from tests.conftest import REPOSITORY

SECONDS = 240  # a loaded machine


@pytest.mark.parametrize("extent", ["some", pytest.param("--all", marks=pytest.mark.slow)])
def test_an_altered_model_file_is_refused_or_harmless(extent):
    done = subprocess.run(
        [sys.executable, "-m", "tests.learners.altered_models", extent], cwd=REPOSITORY, capture_output=True, text=True,
        timeout=SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, f"it was ended by {done.returncode}: {done.stderr[-2000:]}"
    cases = [json.loads(line) for line in done.stdout.splitlines()]
    assert {case["model"] for case in cases} >= set(METHODS)
    untouched = [case["outcome"] for case in cases if case["how"] == "as it was"]
    assert set(untouched) == {"harmless"}, "each of them can be used as it is"
    odd = [case for case in cases if not case["outcome"].startswith(("refused", "harmless"))]
    assert odd == []
    arrays = Counter(case["how"] for case in cases if case["array"] not in ("", "meta", "options"))
    assert len(arrays) == 8
    assert min(arrays.values()) == max(arrays.values()) > 100
    passed = {case["how"] for case in cases if case["array"] in arrays_of(cases) and case["outcome"] == "harmless"}
    assert passed <= {"negative", "empty", "huge", "inf"}, (
        "values of another sign, none where all are 1, losses of a round"
    )


def arrays_of(cases: list[dict]) -> set[str]:
    return {case["array"] for case in cases} - {"", "meta", "options"}
