"""From a path, an open file or bytes to text; errors name file, line, cause and fix."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from pathlib import Path, PurePath
from typing import BinaryIO

from labseq_core.checks import LabSeqError, require
from labseq_core.data.limits import MAX_UNPACKED_MEGABYTES

Source = str | Path | bytes | BinaryIO

ENCODINGS = ("utf-8", "latin-1")
_CODECS = {"utf-8": "utf-8", "utf-8-sig": "utf-8", "iso8859-1": "latin-1"}
_GZIP_MARK = b"\x1f\x8b"
# Beginnings that readers take for something else than text.
FILE_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, _GZIP_MARK)
ONE_COLUMN = "token and label are one column"
_LONGEST_NAME, _LONGEST_CAUSE = 120, 500  # characters; a message may quote what is in the file


class DataError(LabSeqError):
    """A file that cannot be read as it stands."""

    def __init__(self, file: str, line: int | None, cause: str, fix: str):
        self.file, self.line, self.cause, self.fix = file, line, cause, fix
        place = file if line is None else f"{file}, line {line}"
        shown = cause if len(cause) <= _LONGEST_CAUSE else f"{cause[:_LONGEST_CAUSE]}…"
        super().__init__(f"{place}: {shown}; {fix}")

    def __reduce__(self):
        """Errors cross process borders: rebuild from the four parts, not from the message."""
        return type(self), (self.file, self.line, self.cause, self.fix)


def no_tokens(file: str, cause: str = "no tokens") -> DataError:
    return DataError(file, None, cause, "give a file with at least one token")


def base_name(source: Source, name: str | None = None) -> str:
    """What messages call the file. Never a path: that would show a machine's directories to a visitor."""
    if name is None and not isinstance(source, bytes):
        name = source if isinstance(source, (str, Path)) else getattr(source, "name", None)
    name = re.split(r"[\\/]", str(name).rstrip("\\/"))[-1] if isinstance(name, (str, Path)) else ""
    shown = "".join(letter for letter in name if letter.isprintable()).strip()  # no mark that turns the line around
    if len(shown) > _LONGEST_NAME:
        shown = f"{shown[: _LONGEST_NAME // 2]}…{shown[-_LONGEST_NAME // 2 :]}"  # the end tells the format
    return shown or "data"


def extension_of(file: str) -> str:
    """What a name ends in, in small letters, without the .gz of a packed file: ".tsv"; empty where it ends in nothing."""
    return PurePath(file.lower().removesuffix(".gz")).suffix


def is_packed(file: str) -> bool:
    """Whether a file of this name is gzipped."""
    return file.lower().endswith(".gz")


def read_bytes(source: Source, name: str | None = None, largest: int = MAX_UNPACKED_MEGABYTES << 20) -> bytes:
    """The contents, unpacked if gzipped. largest: of what a packed file may hold, in bytes."""
    file = base_name(source, name)
    data = _raw_bytes(source, file)
    return _unpacked(data, file, largest) if data.startswith(_GZIP_MARK) else data


def read_text(source: Source, encoding: str = "utf-8", name: str | None = None) -> str:
    """The decoded contents with "\\n" as the only line end; other Unicode line separators are left inside tokens."""
    file = base_name(source, name)
    codec = codec_of(encoding)
    data = read_bytes(source, name)
    if b"\0" in data:
        line = _line_at(data, data.index(b"\0"))
        raise DataError(file, line, "a NUL byte", "save the file as plain UTF-8 text (it is binary or UTF-16)")
    text = _decoded(data, codec, file).replace("\r\n", "\n").removesuffix("\r")
    if "\r" in text and "\n" not in text:
        raise DataError(
            file, None, "the lines end in CR only", "save the file with LF or CR LF at the end of each line"
        )
    if not text.strip(" \t\r\n"):
        raise no_tokens(file, "the file is empty")
    return text


def _raw_bytes(source: Source, file: str) -> bytes:
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    if not isinstance(source, (str, Path)):
        data = source.read()
        require(isinstance(data, bytes), f"{file} was opened as text; open it in binary mode")
        return data
    path = Path(source)
    if path.is_dir():
        raise DataError(file, None, "this is a directory", "give a file")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(file, None, "there is no such file", "check the path") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "the path is not valid"
        raise DataError(
            file, None, f"the file cannot be opened ({reason})", "check the path and its permissions"
        ) from None


def _unpacked(data: bytes, file: str, largest: int) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            text = packed.read(largest + 1)
    except (OSError, EOFError, zlib.error):
        raise DataError(file, None, "the gzip file is damaged or cut short", "compress it again") from None
    if len(text) > largest:
        raise DataError(
            file, None, f"the file unpacks to more than {largest >> 20:,} MB", "split it into smaller files"
        )
    return text


def codec_of(encoding: str) -> str:
    """The codec behind a name of an encoding that readers and writers know."""
    try:
        return _CODECS[codecs.lookup(encoding).name]
    except (LookupError, TypeError):
        raise LabSeqError(f"unknown encoding {encoding!r}; choose {' or '.join(ENCODINGS)}") from None


def _decoded(data: bytes, codec: str, file: str) -> str:
    if data.startswith(codecs.BOM_UTF8):
        if codec == "latin-1":
            raise DataError(file, 1, "the file starts with the mark of UTF-8", "read it with encoding utf-8")
        data = data[len(codecs.BOM_UTF8) :]
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataError(file, 1, "the file is UTF-16", "save it as UTF-8")
    try:
        return data.decode(codec)
    except UnicodeDecodeError as error:
        bad = data[error.start]
        cause = f"the byte 0x{bad:02x} is not UTF-8"
        fix = "read it with encoding latin-1, or save it as UTF-8"
        raise DataError(file, _line_at(data, error.start), cause, fix) from None


def _line_at(data: bytes, position: int) -> int:
    return data.count(b"\n", 0, position) + 1
