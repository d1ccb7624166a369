"""Where files lie: what we ship, what a user has made, what can be made again. What we make there is private: nobody else on
the machine may read it. What is there already keeps its rights, wide or narrow: whoever gave them may have meant it.
"""

from __future__ import annotations

import os
from pathlib import Path

from labseq_core.checks import LabSeqError


def datasets_directory() -> Path:
    """The folder with one subfolder per bundled corpus: beside the core in a source tree, inside it in a wheel."""
    core = Path(__file__).resolve().parent
    installed = core / "_dashboard" / "datasets"
    return installed if installed.is_dir() else core.parent / "datasets"


def user_directory() -> Path:
    """Where a user's runs and uploads are kept: the folder of `LABSEQ_STORE`, or of the system's user data."""
    store = os.environ.get("LABSEQ_STORE")
    if store:
        return Path(store).expanduser().parent
    base = (
        os.environ.get("XDG_DATA_HOME") or os.environ.get("LOCALAPPDATA") or _home("LABSEQ_STORE") / ".local" / "share"
    )
    return Path(base) / "labseq"


def cache_root() -> Path:
    """Where LabSeq keeps what can be made again: compiled code and downloaded corpora (`LABSEQ_CACHE_DIR`)."""
    chosen = os.environ.get("LABSEQ_CACHE_DIR")
    if chosen:
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or _home("LABSEQ_CACHE_DIR") / ".cache"
    return Path(base) / "labseq"


def private_directory(directory: Path) -> Path:
    """Make it, and the folders above it, for this user alone (0700) as far as they are not there."""
    for folder in reversed([directory, *directory.parents]):
        if not folder.is_dir():
            folder.mkdir(mode=0o700, exist_ok=True)
    return directory


def private_opener(path: str | os.PathLike, flags: int) -> int:
    """For `open(path, mode, opener=private_opener)`: a file that is made by it is for this user alone (0600)."""
    return os.open(path, flags, 0o600)


def _home(variable: str) -> Path:
    try:
        return Path.home()
    except RuntimeError:
        raise LabSeqError(f"this user has no home directory; set the environment variable HOME or {variable}") from None
