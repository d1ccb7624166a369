"""Files from strangers are read or refused, in bounded time and memory, whatever they are."""

from __future__ import annotations

import re

import pytest

from labseq_core.checks import LabSeqError
from labseq_core.data.guarded_uploads import store_upload_guarded
from labseq_core.guarded_process import Limits, call_guarded
from tests.data import reading
from tests.data.hostile_files import HOSTILE, READS

SMALL, LARGE = 1 << 20, 50_000_000  # bytes; the large ones are as large as an upload may be
MEGABYTES = 500  # for what small ones may take: an interpreter with numpy, and a gzip bomb of 60 MB


@pytest.fixture(scope="module")
def outcomes() -> dict[str, list]:
    """One process reads them all, with a bound on its memory."""
    return call_guarded(reading.read_hostile, Limits(120.0, MEGABYTES, "the hostile files"), size=SMALL)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_read_or_refused_in_little_time(outcomes, name):
    said, seconds = outcomes[name]
    if HOSTILE[name].outcome == READS:
        assert said == READS
    else:
        assert re.search(HOSTILE[name].outcome, said)
        assert said.startswith(name)
        assert len(said) < reading.LONGEST
    assert seconds < reading.SECONDS


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.slow)], ids=["quick", "full"])
def test_altered_files_are_read_or_refused(count):
    """A crash, an error that is not ours, a file that takes long or too much memory: each fails, with its number."""
    limits = Limits(10.0 + count, MEGABYTES, "the altered files")
    counts = call_guarded(reading.read_mutated, limits, seed=count, count=count)
    assert sum(counts.values()) == count
    assert min(counts.values()) > count / 20, f"{counts}: the alterations are too mild or too wild to tell anything"


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_as_large_as_an_upload_may_be(name, tmp_path, monkeypatch):
    """In the time and memory that uploads have."""
    monkeypatch.setenv("LABSEQ_STORE", str(tmp_path / "runs.sqlite"))
    said = READS
    try:
        store_upload_guarded(HOSTILE[name].make(LARGE), name)
    except LabSeqError as problem:
        said = str(problem)
    assert not re.search("takes more than|takes longer than|failed", said)
    assert [path.name for path in (tmp_path / "uploads").iterdir() if path.name.startswith("new-")] == []
