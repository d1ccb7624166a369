"""Archives of arrays and JSON in one npz file, never pickle, read as if a stranger had written them."""

from __future__ import annotations

import io
import json
import math
import os
import re
import secrets
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import numpy as np

from labseq_core.checks import LabSeqError, require

MODEL_FORMAT = 1
TRAIN_AGAIN = "train and save the model again"
MAX_UNPACKED = 2**30  # bytes of the arrays of one archive
MAX_RATIO = 100  # a file of one's own may have more, if it is itself this share of them: numbers hardly shrink
MOST_TOKENS = 2**31  # of a sequence
MAX_ARRAYS = 200  # of one archive; a model has a dozen
LARGEST_NUMBER = 1e100  # among numbers that are finite, so that squares and products of two are finite too
_META, _NPY = "meta", ".npy"
_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")  # how JSON may write what is no character by itself
# What numpy, zipfile and zlib raise on files that are something else, cut off or altered.
_DAMAGE = (
    OSError, ValueError, KeyError, EOFError, AttributeError, NotImplementedError, RuntimeError, MemoryError,
    TypeError, OverflowError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


def save_archive(path: str | Path | BinaryIO, arrays: dict[str, np.ndarray], meta: dict) -> None:
    """Write arrays and JSON data; a file appears whole or not at all. Something open, in memory, needs no disk."""
    in_memory, path = (None, Path(path)) if isinstance(path, str | Path) else (path, Path("the archive"))
    try:
        text = json.dumps({"labseq_format": MODEL_FORMAT, **meta}, ensure_ascii=False).encode()
    except UnicodeEncodeError as problem:
        odd = problem.object[problem.start]
        raise LabSeqError(f"cannot write {path.name}: a name has {odd!r}, which is no character; replace it") from None
    stored = {_META: np.frombuffer(text, dtype=np.uint8), **arrays}
    if in_memory is not None:
        np.savez_compressed(in_memory, **stored)
        return
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

    Anybody may have written it: a few hundred kilobytes can hold gigabytes of zeros, so sizes are looked at first.
    """
    name = archive_name(source, noun)
    broken = f"{name} is not a LabSeq {noun} file, or it is damaged; {fix}"
    try:
        with io.BytesIO(source) if isinstance(source, bytes) else Path(source).open("rb") as file:
            own = 0 if isinstance(source, bytes) else MAX_RATIO * os.fstat(file.fileno()).st_size
            with zipfile.ZipFile(file) as archive:
                members = checked_members(archive, MAX_ARRAYS, max(MAX_UNPACKED, own))
                arrays = {member.filename.removesuffix(_NPY): _read_array(archive, member) for member in members}
        meta = read_json(arrays.pop(_META).tobytes())
        version = meta.get("labseq_format")
    except FileNotFoundError:
        raise LabSeqError(f"there is no file {name}; check the name of the {noun} file") from None
    except LabSeqError as problem:
        raise LabSeqError(f"{name} is not a LabSeq {noun} file, or it is damaged: {problem}; {fix}") from None
    except _DAMAGE:
        raise LabSeqError(broken) from None
    if version != MODEL_FORMAT:
        fix = "install the version that wrote it"
        raise LabSeqError(f"{name} has format {str(version)[:40]}, this version reads {MODEL_FORMAT}; {fix}")
    return arrays, meta


def checked_members(archive: zipfile.ZipFile, most: int, n_bytes: int) -> list[zipfile.ZipInfo]:
    """What is in a zip file, before anything is unpacked: at most so many members, of so many bytes together, each a plain
    file inside of the archive. No member is ever read beyond the size that it states.
    """
    members = archive.infolist()
    require(len(members) <= most, f"it has {len(members):,} members, more than {most:,}")
    seen: set[str] = set()
    for member in members:
        name, place = member.filename, PurePosixPath(member.filename)
        shown = repr(name[:80])
        inside = not place.is_absolute() and ".." not in place.parts and "\\" not in name and ":" not in name
        require(inside, f"its member {shown} points out of it")
        require(name not in seen, f"it has the member {shown} twice")
        require(not stat.S_ISLNK(member.external_attr >> 16), f"its member {shown} is a link")
        require(not member.flag_bits & 1, f"its member {shown} is encrypted")
        known = member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        require(known, f"its member {shown} is compressed in an unusual way")
        seen.add(name)
    size = sum(member.file_size for member in members)
    require(size <= n_bytes, f"it would take {size >> 20:,} MB, more than {n_bytes >> 20:,}")
    return members


def _read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    """Numbers of one shape. What the header promises must be what the member holds, before there is an array of it."""
    name = member.filename.removesuffix(_NPY)
    require(member.filename.endswith(_NPY), f"its member {name[:80]!r} is no array")
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        read_header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[
            version
        ]
        shape, fortran_order, dtype = read_header(file)
        require(dtype.kind in "fiub", f"{name} holds {dtype}, which are no numbers")
        size = math.prod(shape) * dtype.itemsize
        fits = min(shape, default=0) >= 0 and file.tell() + size == member.file_size
        require(fits, f"{name} does not hold an array of the shape {shape}")
        array = np.empty(shape, dtype, order="F" if fortran_order else "C")
        flat = array.reshape(-1, order="A").view(np.uint8) if size else b""
        require(size == 0 or file.readinto(flat) == size, f"{name} is cut off")
        file.read(1)  # the end, where the checksum is compared
    return array


def read_json(data: bytes) -> Any:
    """JSON in UTF-8, as files of LabSeq have it; a text with half a character, which no file can hold, is refused."""
    text = data.decode("utf-8")
    value = json.loads(text)
    if _HALF_CHARACTER.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as problem:
            raise LabSeqError(f"a text has {problem.object[problem.start]!r}, which is no character") from None
    return value


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
        low, high = (array.min(), array.max()) if array.size else (0.0, 0.0)
        require(
            infinite or -LARGEST_NUMBER <= low <= high <= LARGEST_NUMBER,
            f"{name} holds numbers beyond {LARGEST_NUMBER:g}",
        )
        return array

    def positive(self, name: str, *shape: int | None, above: float = 0.0) -> np.ndarray:
        """The same where all are above 0, or another bound."""
        array = self.floats(name, *shape)
        require(bool((array > above).all()), f"{name} holds numbers that are not above {above:g}")
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
