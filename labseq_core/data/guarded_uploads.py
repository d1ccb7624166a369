"""Uploads read in a process of their own: whatever a file does there, other visitors feel nothing of it."""

from __future__ import annotations

import gc
import importlib
from pathlib import Path
from typing import Any

from labseq_core.data.formats.lines import hearing
from labseq_core.data.formats.registry import FORMATS
from labseq_core.data.formats.source import base_name
from labseq_core.data.limits import READ_MEGABYTES, READ_SECONDS
from labseq_core.data.uploads import DATA, load_upload, move_in, must_be_parsed, read_upload, staged
from labseq_core.guarded_process import Limits, Tell, call_guarded

_READ, _SPLIT = 0.8, 0.9  # how much of the work is done when the lines are read, and when the sequences are split


def store_upload_guarded(data: bytes, filename: str, tell: Tell | None = None, **settings: Any) -> str:
    """`store_upload` in a process of its own. tell: hears how far it is; what it raises ends the process."""
    with staged(data) as folder:
        upload_id = call_guarded(
            _read_staged, _limits(base_name(data, filename)), tell,
            folder=str(folder), filename=filename, outside=_has_formats_from_outside(), settings=settings,
        )  # fmt: skip
        move_in(folder, upload_id)
    return upload_id


def prepare_upload(upload_id: str, tell: Tell | None = None) -> None:
    """See to it that `load_upload` is quick, also for an upload that was stored without its sequences."""
    if must_be_parsed(upload_id):
        outside = _has_formats_from_outside()
        call_guarded(_read_stored, _limits("the stored upload"), tell, upload_id=upload_id, outside=outside)


def _limits(file: str) -> Limits:
    return Limits(READ_SECONDS, READ_MEGABYTES, file, "split it into smaller files")


def _has_formats_from_outside() -> bool:
    return any(FORMATS.source_of(name) for name in FORMATS)


def _load_outside(outside: bool) -> None:
    """In the child: formats from outside come with the methods, which take their time to load."""
    if outside:
        importlib.import_module("labseq_core.learners.registry")


def _read_staged(tell: Tell, folder: str, filename: str, outside: bool, settings: dict) -> str:
    """The child: it leaves what it found beside the file."""
    gc.disable()  # millions of small objects, none of them in a circle
    _load_outside(outside)
    data = (Path(folder) / DATA).read_bytes()
    reading = f"Reading {base_name(data, filename)}"
    with hearing(lambda share: tell(_READ * share, reading)):
        read = read_upload(data, filename, **settings)
    tell(_SPLIT, "Storing it")
    read.write(Path(folder))
    return read.id


def _read_stored(tell: Tell, upload_id: str, outside: bool) -> None:
    """The child, for an upload that is stored already."""
    gc.disable()
    _load_outside(outside)
    with hearing(lambda share: tell(_READ * share, "Reading the stored upload")):
        load_upload(upload_id)
