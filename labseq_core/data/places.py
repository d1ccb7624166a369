"""Where the bundled corpora lie: beside the core in a source tree, inside the package in an installed wheel."""

from __future__ import annotations

from pathlib import Path


def datasets_directory() -> Path:
    """The folder with one subfolder per bundled corpus."""
    core = Path(__file__).resolve().parents[1]
    installed = core / "_dashboard" / "datasets"
    return installed if installed.is_dir() else core.parent / "datasets"
