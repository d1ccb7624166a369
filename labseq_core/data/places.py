"""Where files lie: what we ship, and what a user has made."""

from __future__ import annotations

import os
from pathlib import Path


def datasets_directory() -> Path:
    """The folder with one subfolder per bundled corpus: beside the core in a source tree, inside it in a wheel."""
    core = Path(__file__).resolve().parents[1]
    installed = core / "_dashboard" / "datasets"
    return installed if installed.is_dir() else core.parent / "datasets"


def user_directory() -> Path:
    """Where a user's runs and uploads are kept: the folder of `LABSEQ_STORE`, or of the system's user data."""
    store = os.environ.get("LABSEQ_STORE")
    if store:
        return Path(store).expanduser().parent
    base = os.environ.get("XDG_DATA_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".local" / "share"
    return Path(base) / "labseq"
