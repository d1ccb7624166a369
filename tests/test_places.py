"""What LabSeq writes into a user's folders is for that user alone, however wide other programs' files would be."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from labseq_core.places import private_directory
from tests.conftest import REPOSITORY

# With everything still open that a process at work has open: journals, locks, its owner's file.
WRITE = """
import json, os, stat
from pathlib import Path
os.umask(0)
from labseq_core.compiling.routines import compiled
from labseq_core.data.uploads import store_upload
from labseq_core.experiments.store.alone import alone
from labseq_core.experiments.store.owners import Owner
from labseq_core.experiments.store.run_store import run_store
from labseq_core.experiments.store.sources import sources_digest
from labseq_core.warm_up import ahead
from tests.experiments.test_store import TASKS, row

def double(x):
    return 2 * x

store = run_store()
owner = Owner(store.path)
assert store.claim(row(), TASKS, owner.token)
store_upload(b"a A\\n\\nb B\\n\\nc A\\n\\nd B\\n", "small.conll")
assert compiled(double)(2) == 4
sources_digest()
ahead.PARTS["chain"] = ahead.Part("nothing", lambda: None)
with alone(store.path), ahead._turn("features"):
    ahead._make("chain")
    places = [Path(os.environ[name]) for name in ("XDG_DATA_HOME", "LABSEQ_CACHE_DIR")]
    found = [path for place in places for path in (place, *place.rglob("*"))]
    print(json.dumps({str(path): stat.S_IMODE(path.stat().st_mode) for path in found}))
"""
EXPECTED = ("runs.sqlite", "runs.sqlite-wal", "runs.sqlite-shm", "runs.sqlite.mending", "about.json", "data",
            "source-digests.json", "features.lock")  # fmt: skip


@pytest.mark.skipif(os.name != "posix", reason="this system has no such rights")
def test_what_is_written_is_for_its_user_alone(tmp_path):
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path / "data"), "LABSEQ_CACHE_DIR": str(tmp_path / "cache")}
    del environment["LABSEQ_STORE"]
    script = tmp_path / "write.py"  # a file: machine code is kept by the source of its routine
    script.write_text(WRITE)
    environment["PYTHONPATH"] = str(REPOSITORY)
    done = subprocess.run([sys.executable, str(script)], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    modes = json.loads(done.stdout)
    names = {Path(path).name for path in modes}
    assert names >= set(EXPECTED)
    assert {Path(path).suffix for path in modes} >= {".code", ".ready", ".owners"}
    assert {path: oct(mode) for path, mode in modes.items() if mode not in (0o600, 0o700)} == {}


@pytest.mark.skipif(os.name != "posix", reason="this system has no such rights")
def test_a_folder_that_is_there_keeps_its_rights(tmp_path):
    tmp_path.chmod(0o755)
    private_directory(tmp_path / "a" / "b")
    private_directory(tmp_path)
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("", "a", "a/b")] == [0o755, 0o700, 0o700]
