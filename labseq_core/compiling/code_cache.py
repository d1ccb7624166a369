"""Machine code kept on disk between processes, keyed by content: an edited callee makes its callers anew, and a wheel and a
source tree with the same sources share it. The only file that knows the inside of numba's cache.

One file per routine and signature, put in place whole, so a killed process leaves nothing half-made and two that compile
the same routine at once write the same file.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import pickle
import platform
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import llvmlite
import numba
from llvmlite.binding import get_host_cpu_features, get_host_cpu_name
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult

from labseq_core.checks import LabSeqError
from labseq_core.places import cache_root, private_directory, private_opener

PRIVATE_VARIABLE = "LABSEQ_PRIVATE_CODE"  # names the temporary directory to the processes that this one starts
ROOM = 100 << 20  # bytes that must be free where machine code is kept; all of it takes a quarter of that
_PRIVATE = "labseq-compiled-"  # how the names of such directories begin
UNUSED_AFTER = 7 * 24 * 3600  # seconds after which machine code of other sources or versions is removed
_CORE = Path(__file__).resolve().parents[1]
_IMPORTS = re.compile(r"^\s*from (labseq_core[\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)


class NotCompiledYet(Exception):
    """A routine is needed that this process must not compile itself, because others wait for it (see `on_miss`).

    Neither a `LabSeqError` nor a `RuntimeError`: nobody who catches those, since input can be wrong, may take it for an answer.
    """

    def __init__(self, routine: str):
        super().__init__(f"{routine.rpartition('-')[0]} is still being compiled; this happens at the first start only")
        self.routine = routine

    @property
    def has_come(self) -> bool:
        """Whether machine code of the routine lies on disk now; perhaps not yet that of what it is used with."""
        directory = code_directory()
        return directory is not None and any(directory.glob(f"{self.routine}-*.code"))


def tell_once(routine: str) -> None:
    """What a program does when it compiles: say so, since a first `fit` is silent for seconds otherwise."""
    global on_miss
    on_miss = say_nothing
    print("LabSeq compiles what it needs for this machine; the first time only ...", file=sys.stderr, flush=True)


def say_nothing(routine: str) -> None:
    """For processes that report themselves what they compile."""


# Is told a routine (its name and the digest of its sources) that has no machine code, before it is compiled.
on_miss: Callable[[str], None] = tell_once
write_failed = False  # whether this process could not write some machine code


def versions_digest() -> str:
    """Of what compiles: machine code of other versions is never looked at."""
    made_by = f"{numba.__version__} {llvmlite.__version__} {sys.implementation.cache_tag} {platform.machine()}"
    return hashlib.sha256(made_by.encode()).hexdigest()[:12]


@cache
def code_directory() -> Path | None:
    """Where machine code is kept: in the cache, or where that cannot be written or is full, in a private temporary place.

    None where neither can be written: routines are then compiled anew in each process.
    """
    private = os.environ.get(PRIVATE_VARIABLE)
    if private and Path(private).is_dir():
        return Path(private)
    with contextlib.suppress(OSError, LabSeqError):
        return _made_writable(cache_root() / f"compiled-{versions_digest()}")
    with contextlib.suppress(OSError):
        directory = Path(tempfile.mkdtemp(prefix=_PRIVATE))
        atexit.register(shutil.rmtree, directory, ignore_errors=True)
        _made_writable(directory)
        os.environ[PRIVATE_VARIABLE] = str(directory)
        return directory
    return None


def _made_writable(directory: Path) -> Path:
    """Or one that has code of these sources already: it is read even where nothing more can be written."""
    if any(directory.glob(f"*-{core_digest()}.ready")):
        return directory
    private_directory(directory)
    with tempfile.TemporaryFile(dir=directory) as probe:
        probe.write(b"0")
    if shutil.disk_usage(directory).free < ROOM:
        raise OSError("too little space for machine code")
    return directory


@cache
def source_digest(source: Path) -> str:
    """Of a file with compiled routines and of all of ours that it imports, directly or not."""
    seen, waiting = {source}, [source]
    while waiting:
        for imported in _imports(waiting.pop()):
            if imported not in seen:
                seen.add(imported)
                waiting.append(imported)
    return _digest(seen)


@cache
def core_digest() -> str:
    """Of all that decides what is compiled, which is more than what is compiled, and of the processor: several may share a home
    directory.
    """
    sources = _digest(path for path in _CORE.rglob("*.py") if "_dashboard" not in path.parts)
    processor = f"{get_host_cpu_name()} {get_host_cpu_features().flatten()}"
    return _hash(f"{sources} {processor} {numba.config.DISABLE_JIT}".encode())


def _digest(sources: Iterable[Path]) -> str:
    named = sorted((_name(source), source) for source in sources)
    return _hash(b"".join(name.encode() + _contents(source) for name, source in named))


def _name(source: Path) -> str:
    """The same in a wheel and in a tree."""
    return source.relative_to(_CORE).as_posix() if source.is_relative_to(_CORE) else source.name


def _hash(contents: bytes) -> str:
    return hashlib.sha256(contents).hexdigest()[:12]


@cache
def _contents(source: Path) -> bytes:
    return source.read_bytes()


@cache
def _imports(source: Path) -> list[Path]:
    if source == _CORE / "compiling" / "routines.py":  # what it imports keeps machine code and calls it, and makes none
        return []
    statements = _IMPORTS.findall(_contents(source).decode())
    return [path for module, names in statements for path in _imported_files(module, re.findall(r"\w+", names))]


def _imported_files(module: str, names: list[str]) -> list[Path]:
    place = _CORE.joinpath(*module.split(".")[1:])
    if not place.is_dir():
        return [place.with_suffix(".py")]
    modules = [place / f"{name}.py" for name in names]
    own = [path for path in modules if path.is_file()]
    return own if len(own) == len(names) else [*own, place / "__init__.py"]


class KeptCode(_Cache):
    """The cache of one routine, in the shape that numba's dispatchers ask for."""

    def __init__(self, function: Callable):
        name = f"{function.__module__}.{function.__qualname__}".removeprefix("labseq_core.")
        # Of the sources as they are loaded: who edits them while this process runs must not get its code for theirs.
        self.routine = f"{name}-{source_digest(Path(function.__code__.co_filename).resolve())}"
        self._enabled = True

    @property
    def cache_path(self) -> str:
        return str(code_directory())

    def load_overload(self, sig, target_context):
        target_context.refresh()
        path = self._path(sig, target_context.codegen())
        if path is not None:
            # Whatever cannot be read is made again: a file cut short by a full disk, or one of another build.
            with contextlib.suppress(Exception):
                result = CompileResult._rebuild(target_context, *pickle.loads(path.read_bytes()))
                with contextlib.suppress(OSError):
                    os.utime(path)  # used, says the clean-up
                return result
        on_miss(self.routine)
        return None

    def save_overload(self, sig, data) -> None:
        path = self._path(sig, data.codegen)
        if path is None or data.library.has_dynamic_globals or any(not lifted.can_cache for lifted in data.lifted):
            return
        reduced = pickle.dumps(data._reduce())
        partial = path.with_suffix(f".{os.getpid()}.{time.monotonic_ns()}")
        try:
            private_directory(path.parent)
            with open(partial, "wb", opener=private_opener) as file:
                file.write(reduced)
            os.replace(partial, path)
        except OSError:  # the routine is compiled, and works; only the next process makes it again
            global write_failed
            write_failed = True
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)

    def _path(self, sig, codegen) -> Path | None:
        directory = code_directory()
        if directory is None or not self._enabled:
            return None
        return directory / f"{self.routine}-{_hash(f'{sig} {codegen.magic_tuple()}'.encode())}.code"

    def enable(self) -> None:
        self._enabled = True

    def disable(self) -> None:
        self._enabled = False

    def flush(self) -> None:
        directory = code_directory()
        if directory is not None:
            for path in directory.glob(f"{self.routine}-*.code"):
                path.unlink(missing_ok=True)


def remove_unused() -> None:
    """Remove what has not been used for a week: code of other versions, routines of other sources, what a killed process had
    begun to write, and the private directories of killed processes.
    """
    directory = code_directory()
    if directory is None:
        return
    old = time.time() - UNUSED_AFTER
    for other in [*_other_directories(directory), *Path(tempfile.gettempdir()).glob(f"{_PRIVATE}*")]:
        with contextlib.suppress(OSError):
            if other != directory and other.stat().st_mtime < old:
                shutil.rmtree(other, ignore_errors=True)
    used = {core_digest(), *map(source_digest, _CORE.rglob("*.py"))}
    for path in directory.glob("*-*.*"):
        is_used = path.suffix == ".lock" or (path.suffix in (".code", ".ready") and used & set(path.stem.split("-")))
        with contextlib.suppress(OSError):
            if not is_used and path.stat().st_mtime < old:
                path.unlink()
                for mark in directory.glob("*.ready"):  # which promises that its code is there
                    if not mark.stem.endswith(core_digest()):
                        mark.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        os.utime(directory)


def _other_directories(directory: Path) -> list[Path]:
    name = re.compile("compiled-[0-9a-f]{12,16}")
    if not name.fullmatch(directory.name):  # a private one, in a place that is not ours
        return []
    return [other for other in directory.parent.glob("compiled-*") if name.fullmatch(other.name)]
