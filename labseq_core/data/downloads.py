"""Files of public corpora: found in the cache or the mirror, else downloaded, and never used unverified."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from labseq_core.checks import LabSeqError
from labseq_core.places import cache_root, private_directory

MIRROR_VARIABLE = "LABSEQ_DATA_MIRROR"
_TIMEOUTS = (10.0, 60.0)  # seconds to connect, seconds without a byte
_CHUNK = 1 << 16

Progress = Callable[[float, str], object]


@dataclass(frozen=True)
class RemoteFile:
    """One file of a corpus. `path` is its place below the cache and below a mirror."""

    path: str
    address: str
    sha256: str | None = None
    check: Callable[[bytes], str | None] | None = (
        None  # what is wrong with the contents, where no checksum is published
    )

    @property
    def name(self) -> str:
        return PurePosixPath(self.path).name

    def fault(self, data: bytes) -> str | None:
        """Why these are not the contents that the file should have; None if they are."""
        if self.sha256:
            found = hashlib.sha256(data).hexdigest()
            if found != self.sha256:
                return f"its sha256 is {found[:12]}... ({len(data)} bytes), expected {self.sha256[:12]}..."
        return self.check(data) if self.check else None


class _Unavailable(Exception):
    """A source does not have the file; the next one is asked."""


def is_at_hand(file: RemoteFile) -> bool:
    """Whether the file can be had without the net. Contents are checked when it is read."""
    directory = _mirror_directory()
    return (directory is not None and (directory / file.path).is_file()) or _cached(file).is_file()


def read_verified(file: RemoteFile, progress: Progress | None = None) -> bytes:
    """The verified contents: from the mirror if that is a directory, from the cache, else downloaded into the cache."""
    directory = _mirror_directory()
    if directory is not None and (directory / file.path).is_file():
        return _from_mirror_directory(file, directory / file.path)
    cached = _cached(file)
    try:
        data = cached.read_bytes()
    except OSError:  # not there, or another process has just removed a bad one
        return _download(file, progress)
    if file.fault(data) is None:
        return data
    cached.unlink(missing_ok=True)
    return _download(file, progress)


def _cached(file: RemoteFile) -> Path:
    return cache_root() / "corpora" / file.path


def _mirror() -> str:
    return os.environ.get(MIRROR_VARIABLE, "").strip()


def _is_address(mirror: str) -> bool:
    return mirror.startswith(("http://", "https://"))


def _mirror_directory() -> Path | None:
    mirror = _mirror()
    return Path(mirror).expanduser() if mirror and not _is_address(mirror) else None


def _from_mirror_directory(file: RemoteFile, path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise LabSeqError(f"{file.path} in the mirror ({MIRROR_VARIABLE}) cannot be read: {error.strerror}") from None
    fault = file.fault(data)
    if fault:
        raise LabSeqError(
            f"{file.path} in the mirror ({MIRROR_VARIABLE}) is damaged or another version: {fault}; "
            "replace it there, or unset the variable to download it"
        )
    return data


def _download(file: RemoteFile, progress: Progress | None) -> bytes:
    failures = []
    for place, address in _addresses(file):
        try:
            return _download_from(file, place, address, progress)
        except _Unavailable as reason:
            failures.append(f"{place}: {reason}")
    raise LabSeqError(
        f"{file.path} could not be had ({'; '.join(failures)}); connect to the internet, set {MIRROR_VARIABLE} to a "
        "directory or address that has the file, or put it into the folder 'corpora' of the cache directory "
        "(LABSEQ_CACHE_DIR)"
    )


def _addresses(file: RemoteFile) -> Iterator[tuple[str, str]]:
    """(what messages call it, address). A mirror's address may hold a password, so it is not shown."""
    mirror = _mirror()
    if _is_address(mirror):
        yield f"mirror ({MIRROR_VARIABLE})", f"{mirror.rstrip('/')}/{file.path}"
    yield file.address, file.address


def _download_from(file: RemoteFile, place: str, address: str, progress: Progress | None) -> bytes:
    with _partial_file(_cached(file)) as partial:
        _retrieve(address, partial, _ProgressBar(file.name, progress))
        data = partial.read_bytes()
        fault = file.fault(data)
        if fault:
            raise LabSeqError(
                f"{file.path} from {place} is damaged or has been changed: {fault}; it was not kept, try again"
            )
        os.chmod(partial, 0o644)  # temporary files are private, but a cache may be shared
        # Atomic: a concurrent reader sees no file or all of it, and two writers write the same bytes.
        os.replace(partial, _cached(file))
    return data


@contextmanager
def _partial_file(final: Path) -> Iterator[Path]:
    try:
        private_directory(final.parent)
        handle, name = tempfile.mkstemp(prefix=f".{final.name}-", suffix=".part", dir=final.parent)
        os.close(handle)
    except OSError as error:
        raise LabSeqError(
            f"the cache directory cannot be written ({error.strerror}); set LABSEQ_CACHE_DIR to one that can"
        ) from None
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def _retrieve(address: str, target: Path, progress_bar: _ProgressBar) -> None:
    # Imported here: they cost a third of a second and most sessions download nothing.
    import pooch
    import requests

    downloader = pooch.HTTPDownloader(progressbar=progress_bar, chunk_size=_CHUNK, timeout=_TIMEOUTS)
    try:
        downloader(address, str(target), None)
    except requests.HTTPError as error:
        raise _Unavailable(f"the server answers {error.response.status_code}") from None
    except (requests.exceptions.ChunkedEncodingError, requests.exceptions.ContentDecodingError):
        raise _Unavailable("the download broke off before its end") from None
    except requests.RequestException as error:
        reason = "no answer in time" if isinstance(error, requests.Timeout) else "the server cannot be reached"
        raise _Unavailable(reason) from None
    except OSError as error:
        raise LabSeqError(
            f"{target.name} cannot be written ({error.strerror}); free some space or set LABSEQ_CACHE_DIR"
        ) from None


class _ProgressBar:
    """What pooch expects of a progress bar, passed on as (fraction, message)."""

    def __init__(self, name: str, progress: Progress | None):
        self.name, self.progress = name, progress
        self.total = 0
        self.done = 0

    def update(self, n_bytes: int) -> None:
        self.done += n_bytes
        if self.progress and self.total:
            self.progress(min(1.0, self.done / self.total), f"downloading {self.name}")

    def reset(self) -> None:
        self.done = 0

    def close(self) -> None:
        pass
