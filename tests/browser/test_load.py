"""A class at once: thirty who look around, then fifteen beside a training, on one real server."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SECONDS_TO_WAIT, MEGABYTES = 1.0, 700


def test_a_class_does_not_wait():
    command = ["bench", "dashboard", "--part", "users", "--users", "30", "--seconds", "30", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "labseq_core.cli", *command], stdout=subprocess.PIPE, text=True, check=True
    )
    for row in json.loads(done.stdout)["users"]:
        assert row["errors"] == 0
        assert row["later"]["n"] > 50
        assert row["later"]["p95"] < SECONDS_TO_WAIT, row
        assert row["megabytes"] < MEGABYTES, row
