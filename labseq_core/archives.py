"""Archives of arrays and JSON in one npz file, never pickle, read as if a stranger had written them."""

from __future__ import annotations

import io
import json
import os
import secrets
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np

from labseq_core.checks import LabSeqError, require

MODEL_FORMAT = 1
TRAIN_AGAIN = "train and save the model again"
MAX_UNPACKED = 2**30  # bytes of an archive that is not a file of one's own
_META = "meta"
# What numpy, zipfile and zlib raise on files that are something else, cut off or altered.
_DAMAGE = (
    OSError, ValueError, KeyError, EOFError, AttributeError, NotImplementedError, RuntimeError, MemoryError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip


def save_archive(path: str | Path, arrays: dict[str, np.ndarray], meta: dict) -> None:
    """Write arrays and JSON data; the file appears whole or not at all."""
    path = Path(path)
    text = json.dumps({"labseq_format": MODEL_FORMAT, **meta}, ensure_ascii=False)
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


def archive_name(source: str | Path | bytes, noun: str = "model") -> str:
    """How messages call an archive: by its file name, never by its place. noun: what it holds."""
    return f"the stored {noun}" if isinstance(source, bytes) else Path(source).name


def load_archive(
    source: str | Path | bytes, noun: str = "model", fix: str = TRAIN_AGAIN
) -> tuple[dict[str, np.ndarray], dict]:
    """What `save_archive` wrote, from a file or from its bytes: arrays, and the JSON data. noun, fix: for messages.

    Bytes may be a visitor's: a few hundred kilobytes can hold gigabytes of zeros.
    """
    name = archive_name(source, noun)
    broken = f"{name} is not a LabSeq {noun} file, or it is damaged; {fix}"
    try:
        # Opened here: numpy leaves a file open that turns out not to be an archive.
        with io.BytesIO(source) if isinstance(source, bytes) else Path(source).open("rb") as file:
            size = _unpacked_size(file) if isinstance(source, bytes) else 0
            require(size <= MAX_UNPACKED, f"{name} would take {size >> 20} MB, more than {MAX_UNPACKED >> 20}; {fix}")
            stored = np.load(file, allow_pickle=False)
            arrays = {key: stored[key] for key in stored.files}
        meta = json.loads(arrays.pop(_META).tobytes())
        version = meta.get("labseq_format")
    except FileNotFoundError:
        raise LabSeqError(f"there is no file {name}; check the name of the {noun} file") from None
    except LabSeqError:
        raise
    except _DAMAGE:
        raise LabSeqError(broken) from None
    if version != MODEL_FORMAT:
        fix = "install the version that wrote it"
        raise LabSeqError(f"{name} has format {version}, this version reads {MODEL_FORMAT}; {fix}")
    return arrays, meta


def _unpacked_size(file: BinaryIO) -> int:
    """What is read of an archive at most: no member is read beyond the size that it states."""
    with zipfile.ZipFile(file) as archive:
        size = sum(member.file_size for member in archive.infolist())
    file.seek(0)
    return size


def names_in(meta: dict, key: str) -> list[str]:
    """A list of texts, each once, in JSON data that may be anybody's."""
    names = meta[key]
    fits = isinstance(names, list) and all(isinstance(name, str) for name in names)
    require(fits and len(set(names)) == len(names), f"{key} is no list of different texts")
    return names


class LoadedArrays(Mapping[str, np.ndarray]):
    """Arrays of a file, which may be anybody's: each is taken by what it must be, and what nobody takes is refused.

    Compiled routines do not check what they are given, so whatever reaches them passes here first.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray]):
        self._arrays, self._taken = dict(arrays), set[str]()

    def floats(self, name: str, *shape: int | None, infinite: bool = False) -> np.ndarray:
        """Numbers of the given shape (None: any size), finite unless `infinite`: then NaN and infinity may be among them."""
        array = self._of_shape(name, np.float64, shape)
        require(infinite or bool(np.isfinite(array).all()), f"{name} holds what is no finite number")
        return array

    def positive(self, name: str, *shape: int | None) -> np.ndarray:
        """The same where all are above 0."""
        array = self.floats(name, *shape)
        require(bool((array > 0.0).all()), f"{name} holds numbers that are not above 0")
        return array

    def indices(self, name: str, below: int, size: int | None = None, dtype: type = np.int64) -> np.ndarray:
        """Whole numbers from 0 on, all below a bound."""
        array = self._of_shape(name, dtype, (size,))
        require(array.size == 0 or (array.min() >= 0 and array.max() < below), f"{name} is not within 0 .. {below - 1}")
        return array

    def pointers(self, name: str, rows: int | None = None) -> np.ndarray:
        """Where rows begin in another array, and the end of the last: from 0 on, never falling."""
        array = self._of_shape(name, np.int64, (None if rows is None else rows + 1,))
        rising = array.size >= 1 and array[0] == 0 and bool((np.diff(array) >= 0).all())
        require(rising, f"{name} does not rise from 0")
        return array

    def require_all_taken(self, noun: str = "model") -> None:
        left = sorted(set(self._arrays) - self._taken)
        require(not left, f"{left[0] if left else ''!r} is no part of such a {noun}")

    def _of_shape(self, name: str, dtype: type, shape: tuple[int | None, ...]) -> np.ndarray:
        require(name in self._arrays, f"{name} is missing")
        array = self[name]
        fits = array.ndim == len(shape) and all(want in (None, have) for want, have in zip(shape, array.shape))
        require(array.dtype == dtype, f"{name} holds {array.dtype}, not {np.dtype(dtype)}")
        require(fits, f"{name} has the shape {array.shape}, which does not fit the rest")
        return np.ascontiguousarray(array)

    def __getitem__(self, name: str) -> np.ndarray:
        array = self._arrays[name]
        self._taken.add(name)
        return array

    def __contains__(self, name: object) -> bool:
        """To look is not to take."""
        return name in self._arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)
