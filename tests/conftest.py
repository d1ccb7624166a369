"""What every test gets: reproducible hypothesis runs, a run store of its own, and the data mirror.

The environment is set when this file is imported, before any test imports the library, and reaches the processes that
tests start. `LABSEQ_CACHE_DIR` is left alone: compiling all routines anew for each run would take longer than testing.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

REPOSITORY = Path(__file__).resolve().parent.parent
QUICK, FULL = 50, 300  # examples of each test by hypothesis

settings.register_profile("local", deadline=None, database=None, max_examples=QUICK)
settings.register_profile("ci", deadline=None, database=None, max_examples=QUICK, derandomize=True)
settings.register_profile("full", deadline=None, database=None, max_examples=FULL)
settings.load_profile("ci" if os.environ.get("CI") else "local")


def _isolate_run_store() -> None:
    """Point the run store at a place that goes away with this process."""
    place = Path(tempfile.mkdtemp(prefix="labseq-tests-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    os.environ["LABSEQ_STORE"] = str(place / "runs.sqlite")


def _offer_mirror() -> None:
    """Corpus tests read the mirror that lies beside the repository, unless the caller names another."""
    mirror = REPOSITORY.parent / "shared" / "data"
    if mirror.is_dir():
        os.environ.setdefault("LABSEQ_DATA_MIRROR", str(mirror))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files of all folders in turn: those that wait for a browser or for workers run beside those that compute."""
    files: dict[str, dict[Path, None]] = {}
    for item in items:
        files.setdefault(item.path.parent.name, {})[item.path] = None
    turn = {path: number for folder in files.values() for number, path in enumerate(folder)}
    items.sort(key=lambda item: turn[item.path])


@pytest.fixture(autouse=True, scope="module")
def no_engine_outlives_its_module():
    """Idle workers take memory, and threads of a cluster's client disturb hypothesis."""
    yield
    service = sys.modules.get("labseq_core.experiments.service")
    if service is not None:
        service.close_engines()


_isolate_run_store()
_offer_mirror()
