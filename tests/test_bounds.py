"""The compiled routines with every index checked: a read beyond an array is silent otherwise."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
CHECKED = ("chain", "kernels", "losses", "scoring", "solvers")


@pytest.mark.slow
@pytest.mark.parametrize("folder", CHECKED)
def test_no_index_is_out_of_bounds(folder, tmp_path):
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "LABSEQ_CACHE_DIR": str(tmp_path)}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-n",
        "0",
        "-m",
        "not slow and not corpus",
        str(TESTS / folder),
    ]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=TESTS.parent)
    assert done.returncode == 0, done.stdout[-3000:]
