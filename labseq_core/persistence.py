"""Archives of arrays and JSON in one npz file, never pickle. Knows no learner."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
import zlib
from pathlib import Path

import numpy as np

from labseq_core._checks import LabSeqError

FORMAT = 1
_META = "meta"
# What numpy, zipfile and zlib raise on files that are something else, cut off or altered.
_DAMAGE = (
    OSError, ValueError, KeyError, EOFError, AttributeError, NotImplementedError, RuntimeError, MemoryError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip


def save_archive(path: str | Path, arrays: dict[str, np.ndarray], meta: dict) -> None:
    """Write arrays and JSON data; the file appears whole or not at all."""
    path = Path(path)
    text = json.dumps({"labseq_format": FORMAT, **meta}, ensure_ascii=False)
    stored = {_META: np.frombuffer(text.encode(), dtype=np.uint8), **arrays}
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, suffix=".part", delete=False) as part:
            try:
                np.savez_compressed(part, **stored)
                part.close()
                os.replace(part.name, path)
            finally:
                Path(part.name).unlink(missing_ok=True)
    except OSError as problem:
        raise LabSeqError(f"cannot write {path.name}: {problem.strerror}; choose a place that can be written") from None


def load_archive(path: str | Path) -> tuple[dict[str, np.ndarray], dict]:
    """What `save_archive` wrote: arrays, and the JSON data."""
    path = Path(path)
    broken = f"{path.name} is not a LabSeq model file, or it is damaged; train and save the model again"
    try:
        # Opened here: numpy leaves a file open that turns out not to be an archive.
        with path.open("rb") as file:
            stored = np.load(file, allow_pickle=False)
            arrays = {name: stored[name] for name in stored.files}
        meta = json.loads(arrays.pop(_META).tobytes())
        found = meta.get("labseq_format")
    except FileNotFoundError:
        raise LabSeqError(f"there is no file {path.name}; check the name of the model file") from None
    except _DAMAGE:
        raise LabSeqError(broken) from None
    if found != FORMAT:
        fix = "install the version that wrote it"
        raise LabSeqError(f"{path.name} has format {found}, this version reads {FORMAT}; {fix}")
    return arrays, meta
