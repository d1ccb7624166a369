"""Where compiled code is kept, and whether the first page's is there. Loads no numba: a command asks before it needs it."""

from __future__ import annotations

import hashlib
import os
import platform
import tempfile
from importlib.metadata import version
from pathlib import Path

_CORE = Path(__file__).parent


def cache_root() -> Path:
    """Where LabSeq keeps what can be made again: compiled code and downloaded corpora (`LABSEQ_CACHE_DIR`)."""
    chosen = os.environ.get("LABSEQ_CACHE_DIR")
    if chosen:
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".cache"
    return Path(base) / "labseq"


def code_directory() -> Path | None:
    """A directory named by a hash of all sources with compiled routines: an edited callee must not leave its callers stale.

    None where it cannot be written: routines are then compiled anew in each process.
    """
    digest = hashlib.sha256(version("numba").encode())
    for source in sorted(_CORE.rglob("*.py")):
        text = source.read_bytes()
        if b"\n@compiled" in text or b"\n@BatchRoutine" in text or source.name == "_jit.py":
            digest.update(source.relative_to(_CORE).as_posix().encode())
            digest.update(text)
    directory = cache_root() / f"compiled-{digest.hexdigest()[:16]}"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError:
        return None
    return directory


def first_page_is_compiled() -> bool:
    mark = _first_page_mark()
    return mark is not None and mark.exists()


def mark_first_page_compiled() -> None:
    mark = _first_page_mark()
    if mark is not None:
        mark.touch()


def _first_page_mark() -> Path | None:
    """A file for this interpreter and these source files as they are: numba goes by their places and times, too."""
    directory = code_directory()
    if directory is None:
        return None
    digest = hashlib.sha256(f"{platform.python_version()} {platform.machine()} {_CORE}".encode())
    for source in sorted(_CORE.rglob("*.py")):
        digest.update(str(source.stat().st_mtime_ns).encode())
    return directory / f"first-page-{digest.hexdigest()[:16]}"
