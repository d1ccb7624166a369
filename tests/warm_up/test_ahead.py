"""Whatever is compiled ahead is complete: afterwards nothing that a user can ask for compiles anything."""

from __future__ import annotations

import json
import subprocess
import sys

from labseq_core.warm_up import ahead
from tests.conftest import REPOSITORY


def test_nothing_is_compiled_after_the_warm_up():
    ahead.prepare()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.warm_up.after_warm_up"],
        cwd=REPOSITORY, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout) == {}
