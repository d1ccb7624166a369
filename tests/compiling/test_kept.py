"""Machine code on disk where the disk does not help."""

from __future__ import annotations

import os

import pytest

from labseq_core.compiling import kept
from tests.compiling.test_background import by_another

DIRECTORY = "from labseq_core.compiling import kept; print(kept.code_directory())"


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
    monkeypatch.delenv(kept.PRIVATE_VARIABLE, raising=False)
    kept.code_directory.cache_clear()
    yield tmp_path
    os.environ.pop(kept.PRIVATE_VARIABLE, None)
    kept.code_directory.cache_clear()


def test_with_too_little_space_everywhere_nothing_is_kept(asked_anew, monkeypatch):
    monkeypatch.setattr(kept, "ROOM", 1 << 62)
    monkeypatch.setenv("TMPDIR", str(asked_anew))
    assert kept.code_directory() is None


def test_importing_compiles_nothing():
    code = (
        "import sys\nfrom labseq_core.compiling import kept\nkept.refuse_to_compile()\n"
        "import labseq_core, labseq_core.learners.registry, labseq_core.explain, labseq_core.experiments"
    )
    done = by_another(code, LABSEQ_CACHE_DIR=os.devnull + "/x")
    assert (done.returncode, done.stderr) == (0, "")


def test_who_fits_is_told_once_that_it_compiles_and_standard_output_stays_clean(tmp_path):
    code = "from labseq_core.features import FeatureTemplate; FeatureTemplate('prosody').encode([['a', 'b']])"
    done = by_another(code, LABSEQ_CACHE_DIR=str(tmp_path))
    assert done.returncode == 0
    assert done.stdout == ""
    assert done.stderr.count("compiles") == 1
    assert list(tmp_path.rglob("*.code"))
    assert by_another(code, LABSEQ_CACHE_DIR=str(tmp_path)).stderr == ""


def test_a_process_that_refuses_says_what_is_missing():
    with pytest.raises(kept.NotCompiledYet, match=r"chain\.some_routine"):
        kept._refuse("chain.some_routine")
