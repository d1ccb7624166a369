"""Files that a user has uploaded: checked, stored once under a hash of their contents, read back by id."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from labseq_core.checks import LabSeqError, require
from labseq_core.data.formats.registry import FORMATS, choose_format, read_file
from labseq_core.data.formats.source import DataError, base_name, read_bytes
from labseq_core.data.limits import MAX_UPLOAD_MEGABYTES
from labseq_core.data.sequences import Dataset, Sequences
from labseq_core.data.splitting import SEED, SHARES, split_fractions
from labseq_core.places import private_directory, user_directory
from labseq_core.registry import Source as SourceFile

_PREFIX = "upload:"
_ID = re.compile(r"upload:([0-9a-f]{64})")
_UNSAID_SPLIT = {"shares": [80, 10, 10], "seed": 0}  # of ids that say none; it never changes
_LARGEST = MAX_UPLOAD_MEGABYTES << 20  # bytes, unpacked
_SEGMENT_LABEL = re.compile(r"O|[BIESLUM]-.+")


def is_upload(name: str) -> bool:
    """Whether a dataset's name is meant as the id of an upload."""
    return isinstance(name, str) and name.startswith(_PREFIX)


def store_upload(
    data: bytes,
    filename: str,
    *,
    format: str | None = None,
    shares: Sequence[int] = SHARES,
    split_seed: int | None = SEED,
    **options: Any,
) -> str:
    """Check and keep an uploaded file; returns its id, which `load_dataset` takes.

    The id covers contents, reading options and split, so a stored run never changes its meaning when the same file is
    uploaded again and read another way. shares: per cent of the sequences for train, dev and test. split_seed: of the
    shuffling before they are dealt out; None keeps the order of the file.
    """
    file = base_name(data, filename)
    contents = read_bytes(data, file, _LARGEST)
    if len(contents) > _LARGEST:
        raise DataError(file, None, f"the file is larger than {MAX_UPLOAD_MEGABYTES} MB", "split it into smaller files")
    settings = {"format": format or choose_format(file, contents), "options": options}
    if (split := {"shares": list(shares), "seed": split_seed}) != _UNSAID_SPLIT:
        settings["split"] = split
    _split(file, read_file(data, format=settings["format"], name=file, **options), settings)
    digest = _digest(data, settings)
    source = FORMATS.source_of(settings["format"])
    _keep(digest, data, {**settings, "file": file, **({} if source is None else {"format_source": source.file})})
    return _PREFIX + digest


def stored_upload(upload_id: str) -> dict[str, Any]:
    """A stored upload as it can be sent to another machine; `keep_upload` takes it there."""
    folder = _directory() / _matched(upload_id)
    try:
        return {"upload_id": upload_id, "data": (folder / "data").read_bytes(), "about": _about(folder)}
    except (OSError, ValueError):
        raise _gone(upload_id) from None


def upload_format(upload_id: str) -> str:
    """The name of the file format that a stored upload is read in."""
    try:
        return _about(_directory() / _matched(upload_id))["format"]
    except (OSError, ValueError, KeyError, TypeError):
        raise _gone(upload_id) from None


def keep_upload(upload_id: str, data: bytes, about: dict) -> None:
    """Store what `stored_upload` gave elsewhere, unless it is here already."""
    digest = _matched(upload_id)
    if not (_directory() / digest / "about.json").is_file():
        intact = _digest(data, about) == digest
        require(intact, f"the file sent for {_PREFIX}{digest[:8]}... is another one; start the run again")
        _keep(digest, data, about)


def load_upload(upload_id: str) -> Dataset:
    """The stored file as a corpus, split as was asked for."""
    digest = _matched(upload_id)
    directory = _directory() / digest
    try:
        data, about = (directory / "data").read_bytes(), _about(directory)
        intact = _digest(data, about) == digest
    except (OSError, ValueError, KeyError, TypeError):
        intact = False
    if not intact:
        raise _gone(upload_id)
    if about["format"] not in FORMATS and (outside := about.get("format_source")):
        cause = f"{about['file']} is in the file format {about['format']} of {outside}"
        raise LabSeqError(f"{cause}; {SourceFile(outside, '').remedy}")
    sequences = read_file(data, format=about["format"], name=about["file"], **about["options"])
    train, dev, test = _split(about["file"], sequences, about)
    segments = _looks_like_segments(sequences.flat_labels)
    return Dataset(
        upload_id,
        train,
        dev,
        test,
        title=about["file"],
        description=_described(*_shares_and_seed(about)),
        task="segment" if segments else "token",
    )


def _matched(upload_id: str) -> str:
    match = _ID.fullmatch(upload_id)
    require(match is not None, f"{upload_id[:80]!r} is not the id of an upload; upload the file again to get one")
    return match[1]


def _about(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "about.json").read_text(encoding="utf-8"))


def _gone(upload_id: str) -> LabSeqError:
    shown = upload_id.removeprefix(_PREFIX)[:8]
    return LabSeqError(f"the uploaded file {_PREFIX}{shown}... is no longer stored here; upload it again")


def _shares_and_seed(settings: dict) -> tuple[list[int], int | None]:
    split = settings.get("split", _UNSAID_SPLIT)
    return split["shares"], split["seed"]


def _described(shares: list[int], seed: int | None) -> str:
    how = "in the order of the file" if seed is None else f"at random with seed {seed}"
    return f"An uploaded file, split {'/'.join(map(str, shares))} {how}."


def _split(file: str, sequences: Sequences, settings: dict) -> list[Sequences]:
    shares, seed = _shares_and_seed(settings)
    fits = len(shares) == len(SHARES) and sum(shares) == 100 and min(shares) > 0
    require(fits, f"shares are {shares}; give three whole numbers above 0 for train, dev and test that sum to 100")
    if sequences.flat_labels is None:
        raise DataError(file, None, "the file has no labels", "choose the column that holds them")
    if len(sequences) < len(shares):
        cause = (
            f"{len(sequences)} sequence{'s' if len(sequences) > 1 else ''}, too few to split into train, dev and test"
        )
        raise DataError(file, None, cause, "give at least 3, with a blank line (or a change of id) between them")
    return [sequences.select(part) for part in split_fractions(len(sequences), [share / 100 for share in shares], seed)]


def _looks_like_segments(labels: list[str]) -> bool:
    distinct = set(labels)
    return any("-" in label for label in distinct) and all(map(_SEGMENT_LABEL.fullmatch, distinct))


def _digest(data: bytes, about: dict) -> str:
    settings = {name: about[name] for name in ("format", "options", "split") if name in about}
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode() + b"\0" + data).hexdigest()


def _directory() -> Path:
    return user_directory() / "uploads"


def _keep(digest: str, data: bytes, about: dict) -> None:
    """Write both files, each moved into place whole; a stored upload that has been damaged is mended by the way."""
    folder = _directory() / digest
    try:
        private_directory(folder)
        for name, contents in (("data", data), ("about.json", json.dumps(about).encode())):
            with tempfile.NamedTemporaryFile(dir=folder, delete=False) as fresh:
                fresh.write(contents)
            os.replace(fresh.name, folder / name)
    except OSError as error:
        raise LabSeqError(
            f"the upload cannot be stored ({error.strerror}); set LABSEQ_STORE to a file in a folder that can be written"
        ) from None
