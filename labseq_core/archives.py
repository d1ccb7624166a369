"""Archives of arrays and JSON in one npz file, never pickle. Knows no learner."""

from __future__ import annotations

import io
import json
import os
import secrets
import zipfile
import zlib
from pathlib import Path

import numpy as np

from labseq_core.checks import LabSeqError

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
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        try:
            with part.open("xb") as file:
                np.savez_compressed(file, **stored)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as problem:
        raise LabSeqError(f"cannot write {path.name}: {problem.strerror}; choose a place that can be written") from None


def archive_name(source: str | Path | bytes) -> str:
    """How messages call an archive: by its file name, never by its place."""
    return "the stored model" if isinstance(source, bytes) else Path(source).name


def load_archive(source: str | Path | bytes) -> tuple[dict[str, np.ndarray], dict]:
    """What `save_archive` wrote, from a file or from its bytes: arrays, and the JSON data."""
    name = archive_name(source)
    broken = f"{name} is not a LabSeq model file, or it is damaged; train and save the model again"
    try:
        # Opened here: numpy leaves a file open that turns out not to be an archive.
        with io.BytesIO(source) if isinstance(source, bytes) else Path(source).open("rb") as file:
            stored = np.load(file, allow_pickle=False)
            arrays = {key: stored[key] for key in stored.files}
        meta = json.loads(arrays.pop(_META).tobytes())
        found = meta.get("labseq_format")
    except FileNotFoundError:
        raise LabSeqError(f"there is no file {name}; check the name of the model file") from None
    except _DAMAGE:
        raise LabSeqError(broken) from None
    if found != FORMAT:
        fix = "install the version that wrote it"
        raise LabSeqError(f"{name} has format {found}, this version reads {FORMAT}; {fix}")
    return arrays, meta
