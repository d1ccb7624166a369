"""Machine code on disk where the disk does not help."""

from __future__ import annotations

import os
import time

import pytest

from labseq_core.compiling import code_cache
from tests.warm_up.test_background import by_another

DIRECTORY = "from labseq_core.compiling import code_cache; print(code_cache.code_directory())"


def test_where_the_cache_cannot_be_written_a_private_directory_serves_this_process_and_those_it_starts(tmp_path):
    (tmp_path / "file").touch()
    code = f"{DIRECTORY}\nimport subprocess, sys; subprocess.run([sys.executable, '-c', {DIRECTORY!r}])"
    done = by_another(code, LABSEQ_CACHE_DIR=str(tmp_path / "file" / "below"), TMPDIR=str(tmp_path))
    first, second = done.stdout.split()
    assert first == second
    assert first.startswith(str(tmp_path))
    assert not os.path.exists(first)  # it went with the process


def test_without_a_home_directory_too(tmp_path):
    gone = ("HOME", "XDG_CACHE_HOME", "LABSEQ_CACHE_DIR")
    code = "import os, pwd\n" + "\n".join(f"os.environ.pop({name!r}, None)" for name in gone)
    code += f"\ndef nobody(uid): raise KeyError\npwd.getpwuid = nobody\n{DIRECTORY}"
    assert by_another(code, TMPDIR=str(tmp_path)).stdout.startswith(str(tmp_path))


@pytest.fixture
def asked_anew(monkeypatch, tmp_path):
    monkeypatch.setenv("LABSEQ_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv(code_cache.PRIVATE_VARIABLE, raising=False)
    code_cache.code_directory.cache_clear()
    yield tmp_path
    os.environ.pop(code_cache.PRIVATE_VARIABLE, None)
    code_cache.code_directory.cache_clear()


def test_with_too_little_space_everywhere_nothing_is_kept(asked_anew, monkeypatch):
    monkeypatch.setattr(code_cache, "ROOM", 1 << 62)
    monkeypatch.setenv("TMPDIR", str(asked_anew))
    assert code_cache.code_directory() is None


def test_importing_compiles_nothing():
    code = (
        "import sys\nfrom labseq_core.compiling import code_cache\ncode_cache.on_miss = sys.exit\n"
        "import labseq_core, labseq_core.learners.registry, labseq_core.explain, labseq_core.experiments"
    )
    done = by_another(code, LABSEQ_CACHE_DIR=os.devnull + "/x")
    assert (done.returncode, done.stderr) == (0, "")


def test_who_fits_is_told_once_that_it_compiles_and_code_that_is_used_counts_as_new(tmp_path):
    code = "from labseq_core.features import FeatureTemplate; FeatureTemplate('prosody').encode([['a', 'b']])"
    done = by_another(code, LABSEQ_CACHE_DIR=str(tmp_path))
    assert done.returncode == 0
    assert done.stdout == ""
    assert done.stderr.count("compiles") == 1
    made = list(tmp_path.rglob("*.code"))
    assert made
    for path in made:
        os.utime(path, (1, 1))
    assert by_another(code, LABSEQ_CACHE_DIR=str(tmp_path)).stderr == ""
    assert all(path.stat().st_mtime > 1 for path in made)


def test_a_full_or_unwritable_cache_with_code_of_these_sources_is_read(asked_anew, monkeypatch):
    there = asked_anew / "cache" / f"compiled-{code_cache.versions_digest()}"
    there.mkdir(parents=True)
    (there / f"chain-{code_cache.core_digest()}.ready").touch()
    monkeypatch.setattr(code_cache, "ROOM", 1 << 62)
    assert code_cache.code_directory() == there


def test_an_edited_source_changes_the_code_of_all_that_import_it(tmp_path, monkeypatch):
    """One that is imported by one that is imported, through a package and in several lines."""
    core = tmp_path / "labseq_core"
    (core / "chain").mkdir(parents=True)
    (core / "learner.py").write_text("from labseq_core.chain import (\n    inference,\n)\n")
    (core / "chain" / "inference.py").write_text("from labseq_core.chain.sums import total\n")
    (core / "chain" / "sums.py").write_text("total = 1\n")
    (core / "other.py").write_text("\n")
    monkeypatch.setattr(code_cache, "_CORE", core)
    names = ("learner.py", "chain/inference.py", "chain/sums.py", "other.py")

    def forget() -> None:
        for function in (code_cache.source_digest, code_cache._contents, code_cache._imports):
            function.cache_clear()

    def digests() -> list[str]:
        forget()
        return [code_cache.source_digest(core / name) for name in names]

    try:
        before = digests()
        (core / "chain" / "sums.py").write_text("total = 2\n")
        changed = [old != new for old, new in zip(before, digests(), strict=True)]
    finally:
        monkeypatch.undo()
        forget()
    assert changed == [True, True, True, False]


def test_what_is_unused_for_a_week_is_removed_and_nothing_else(asked_anew, monkeypatch):
    directory = code_cache.code_directory()
    monkeypatch.setenv("TMPDIR", str(asked_anew))
    monkeypatch.setattr(code_cache.tempfile, "tempdir", None)
    ours = code_cache.source_digest(code_cache._CORE / "chain" / "recursions" / "batch.py")
    files = {
        f"chain.batch.some_routine-{ours}-0123456789ab.code": "stays",  # of these sources
        f"chain.batch.Some.routine-{ours}-0123456789ab.code": "stays",
        f"chain-{code_cache.core_digest()}.ready": "stays",
        "crf-marginal-exp.lock": "stays",
        "chain.batch.some_routine-0123456789ab-0123456789ab.code": "goes",
        "chain.batch.some_routine-0123456789ab-0123456789ac.code": "is young",
        "chain-0123456789ab.ready": "goes, since it promises the code that goes",
        f"chain.batch.some_routine-{ours}-0123456789ab.77.1234": "goes",  # begun by a process that was killed
    }
    long_ago = time.time() - 2 * code_cache.UNUSED_AFTER
    for name, fate in files.items():
        (directory / name).touch()
        if fate != "is young":
            os.utime(directory / name, (long_ago, long_ago))
    folders = {
        directory.parent / "compiled-0123456789ab": False, directory.parent / "compiled-thesis": True,
        asked_anew / "labseq-compiled-x": False, asked_anew / "compiled-0123456789ab": True,
    }  # fmt: skip
    for folder in folders:
        folder.mkdir()
        os.utime(folder, (long_ago, long_ago))

    code_cache.remove_unused()
    assert {path.name for path in directory.iterdir()} == {
        n for n, fate in files.items() if not fate.startswith("goes")
    }
    assert {folder: folder.exists() for folder in folders} == folders


def test_a_part_whose_code_could_not_be_written_is_not_marked_as_ready(tmp_path):
    code = (
        "from labseq_core.compiling import code_cache\nfrom labseq_core.warm_up import ahead\n"
        "def full(*names): raise OSError('no space')\n"
        "code_cache.os.replace = full\n"
        "ahead.prepare(['features'])"
    )
    done = by_another(code, LABSEQ_CACHE_DIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.rglob("*.*") if path.suffix != ".lock"] == []


def test_where_files_cannot_be_locked_parts_are_made_all_the_same(tmp_path):
    code = (
        "import errno\nfrom labseq_core.warm_up import ahead\n"
        "def no_locks(file): raise OSError(errno.ENOLCK, 'no locks')\n"
        "ahead.lock = no_locks\n"
        "ahead.prepare(['features']); print(ahead.ready_parts())"
    )
    assert by_another(code, LABSEQ_CACHE_DIR=str(tmp_path)).stdout.strip() == "{'features'}"
