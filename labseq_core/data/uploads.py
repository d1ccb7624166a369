"""Files that a user has uploaded: checked, stored once under a hash of their contents, read back by id."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labseq_core.checks import LabSeqError, require
from labseq_core.data.formats.cells import require_few_columns
from labseq_core.data.formats.registry import FORMATS, choose_format, read_file
from labseq_core.data.formats.source import DataError, base_name, read_bytes
from labseq_core.data.limits import MAX_LABELS, MAX_UPLOAD_MEGABYTES, MAX_UPLOAD_TOKENS
from labseq_core.data.parsed_upload import load_parsed, save_parsed
from labseq_core.data.sequences import Dataset, Sequences
from labseq_core.data.splitting import SEED, SHARES, split_fractions
from labseq_core.places import private_directory, user_directory
from labseq_core.registry import Source as SourceFile

_PREFIX = "upload:"
_ID = re.compile(r"upload:([0-9a-f]{64})")
_UNSAID_SPLIT = {"shares": [80, 10, 10], "seed": 0}  # of ids that say none; it never changes
_LARGEST = MAX_UPLOAD_MEGABYTES << 20  # bytes, unpacked
DATA, _SETTINGS, _PARSED = "data", "about.json", "parsed.npz"  # files of an upload; the last can be made again
_STAGED, _STAGED_SECONDS = (
    "new-",
    3600.0,
)  # begins the name of a folder that is being filled, which takes minutes at most
_SEGMENT_LABEL = re.compile(r"O|[BIESLUM]-.+")


def is_upload(name: str) -> bool:
    """Whether a dataset's name is meant as the id of an upload."""
    return isinstance(name, str) and name.startswith(_PREFIX)


@dataclass(frozen=True)
class ReadUpload:
    """An uploaded file that has been read: its training, development and test set, and what is kept of it beside them."""

    digest: str
    about: dict[str, Any]
    parts: list[Sequences]

    @property
    def id(self) -> str:
        return _PREFIX + self.digest

    def write(self, folder: Path) -> None:
        """All but the file itself."""
        with _writing():
            (folder / _SETTINGS).write_text(json.dumps(self.about), encoding="utf-8")
        save_parsed(folder / _PARSED, self.parts, _identity(self.digest, self.about))


def read_upload(
    data: bytes,
    filename: str,
    *,
    format: str | None = None,
    shares: Sequence[int] = SHARES,
    split_seed: int | None = SEED,
    **options: Any,
) -> ReadUpload:
    """Read and check an uploaded file; see `store_upload`."""
    file = base_name(data, filename)
    contents = read_bytes(data, file, _LARGEST)
    if len(contents) > _LARGEST:
        raise DataError(file, None, f"the file is larger than {MAX_UPLOAD_MEGABYTES} MB", "split it into smaller files")
    settings: dict[str, Any] = {"format": format or choose_format(file, contents), "options": options}
    if (split := {"shares": list(shares), "seed": split_seed}) != _UNSAID_SPLIT:
        settings["split"] = split
    sequences = read_file(contents, format=settings["format"], name=file, **options)
    _require_bounded(file, sequences)
    parts = _split(file, sequences, settings)
    source = FORMATS.source_of(settings["format"])
    about = {**settings, "file": file, **({} if source is None else {"format_source": source.file})}
    return ReadUpload(_digest(data, settings), about, parts)


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
    read = read_upload(data, filename, format=format, shares=shares, split_seed=split_seed, **options)
    with staged(data) as folder:
        read.write(folder)
        move_in(folder, read.id)
    return read.id


def stored_upload(upload_id: str) -> dict[str, Any]:
    """A stored upload as it can be sent to another machine; `keep_upload` takes it there."""
    folder = _directory() / _matched(upload_id)
    try:
        return {"upload_id": upload_id, "data": (folder / DATA).read_bytes(), "about": _about(folder)}
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
    if not (_directory() / digest / _SETTINGS).is_file():
        intact = _digest(data, about) == digest
        require(intact, f"the file sent for {_PREFIX}{digest[:8]}... is another one; start the run again")
        with staged(data) as folder:
            with _writing():
                (folder / _SETTINGS).write_text(json.dumps(about), encoding="utf-8")
            move_in(folder, upload_id)


def load_upload(upload_id: str) -> Dataset:
    """The stored file as a corpus, split as was asked for."""
    digest = _matched(upload_id)
    directory = _directory() / digest
    try:
        data, about = (directory / DATA).read_bytes(), _about(directory)
        intact = _digest(data, about) == digest
    except (OSError, ValueError, KeyError, TypeError):
        intact = False
    if not intact:
        raise _gone(upload_id)
    if about["format"] not in FORMATS and (outside := about.get("format_source")):
        cause = f"{about['file']} is in the file format {about['format']} of {outside}"
        raise LabSeqError(f"{cause}; {SourceFile(outside, '').remedy}")
    train, dev, test = load_parsed(directory / _PARSED, _identity(digest, about)) or _parsed_again(data, about)
    return Dataset(
        upload_id,
        train,
        dev,
        test,
        title=about["file"],
        description=_described(*_shares_and_seed(about)),
        task="segment" if _looks_like_segments(train, dev, test) else "token",
    )


def must_be_parsed(upload_id: str) -> bool:
    """Whether an upload is stored without its sequences, so that the first to load it reads the file."""
    folder = _directory() / _matched(upload_id)
    return (folder / _SETTINGS).is_file() and not (folder / _PARSED).is_file()


def _parsed_again(data: bytes, about: dict) -> list[Sequences]:
    """Of an upload that was stored without its sequences, or on another machine."""
    sequences = read_file(data, format=about["format"], name=about["file"], **about["options"])
    read = ReadUpload(_digest(data, about), about, _split(about["file"], sequences, about))
    with suppress(LabSeqError), staged() as folder:  # where it cannot be kept, it is read each time
        read.write(folder)
        move_in(folder, read.id)
    return read.parts


def _matched(upload_id: str) -> str:
    match = _ID.fullmatch(upload_id)
    if match is None:
        raise LabSeqError(f"{upload_id[:80]!r} is not the id of an upload; upload the file again to get one")
    return match[1]


def _about(folder: Path) -> dict[str, Any]:
    return json.loads((folder / _SETTINGS).read_text(encoding="utf-8"))


def _identity(digest: str, about: dict) -> dict:
    """What the sequences of an upload depend on: the file, how it is read and split, and by whom."""
    source = FORMATS.source_of(about["format"])
    return {"upload": digest, "format_source": None if source is None else source.hash}


def _gone(upload_id: str) -> LabSeqError:
    shown = upload_id.removeprefix(_PREFIX)[:8]
    return LabSeqError(f"the uploaded file {_PREFIX}{shown}... is no longer stored here; upload it again")


def _shares_and_seed(settings: dict) -> tuple[list[int], int | None]:
    split = settings.get("split", _UNSAID_SPLIT)
    return split["shares"], split["seed"]


def _described(shares: list[int], seed: int | None) -> str:
    how = "in the order of the file" if seed is None else f"at random with seed {seed}"
    return f"An uploaded file, split {'/'.join(map(str, shares))} {how}."


def _require_bounded(file: str, sequences: Sequences) -> None:
    """Readers from outside may know no limits."""
    n_tokens, distinct = sequences.n_tokens, set(sequences.flat_labels or ())
    require_few_columns(file, None, len(sequences.flat_columns))
    if n_tokens > MAX_UPLOAD_TOKENS:
        cause = f"{n_tokens:,} tokens, more than {MAX_UPLOAD_TOKENS:,}"
        raise DataError(file, None, cause, "split it into smaller files")
    if len(distinct) > MAX_LABELS:
        cause = f"{len(distinct):,} distinct labels, more than {MAX_LABELS:,}"
        raise DataError(file, None, cause, "choose another column as label")


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


def _looks_like_segments(*parts: Sequences) -> bool:
    distinct = {label for part in parts for label in set(part.flat_labels or ())}
    return any("-" in label for label in distinct) and all(map(_SEGMENT_LABEL.fullmatch, distinct))


def _digest(data: bytes, about: dict) -> str:
    settings = {name: about[name] for name in ("format", "options", "split") if name in about}
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode() + b"\0" + data).hexdigest()


def _directory() -> Path:
    return user_directory() / "uploads"


@contextmanager
def staged(data: bytes | None = None) -> Iterator[Path]:
    """A folder in which an upload is put together, with the file; it goes away whatever happens."""
    with _writing():
        private_directory(_directory())
        folder = Path(tempfile.mkdtemp(prefix=_STAGED, dir=_directory()))
    try:
        _sweep()
        if data is not None:
            with _writing():
                (folder / DATA).write_bytes(data)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sweep() -> None:
    """Remove what a process has left that was killed while it put an upload together."""
    for folder in _directory().glob(f"{_STAGED}*"):
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > _STAGED_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


def move_in(folder: Path, upload_id: str) -> None:
    """Move what was put together into its place, file by file; a stored upload that has been damaged is mended by the way."""
    place = _directory() / _matched(upload_id)
    with _writing():
        private_directory(place)
        for name in (DATA, _PARSED, _SETTINGS):  # the last says that all is there
            if (folder / name).is_file():
                os.replace(folder / name, place / name)


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise LabSeqError(
            f"the upload cannot be stored ({error.strerror}); set LABSEQ_STORE to a file in a folder that can be written"
        ) from None
