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
from collections.abc import Callable
from functools import cache
from pathlib import Path

import llvmlite
import numba
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult

from labseq_core._checks import LabSeqError
from labseq_core.places import cache_root

PRIVATE_VARIABLE = "LABSEQ_PRIVATE_CODE"  # names the temporary directory to the processes that this one starts
ROOM = 100 << 20  # bytes that must be free where machine code is kept; all of it takes a quarter of that
UNUSED_AFTER = 7 * 24 * 3600  # seconds after which machine code of other sources or versions is removed
_CORE = Path(__file__).resolve().parents[1]
_IMPORTS = re.compile(r"^\s*from (labseq_core[\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)


class NotCompiledYet(Exception):
    """A routine is needed that this process must not compile itself, because others wait for it (see `refuse_to_compile`).

    Neither a `LabSeqError` nor a `RuntimeError`: nobody who catches those, since input can be wrong, may take it for an answer.
    """

    def __init__(self, routine: str):
        super().__init__(f"{routine} is still being compiled; this happens at the first start only")
        self.routine = routine

    @property
    def has_come(self) -> bool:
        """Whether machine code of the routine lies on disk now; perhaps not yet that of what it is used with."""
        directory = code_directory()
        return directory is not None and any(directory.glob(f"{self.routine}-*.code"))


def _tell_once(routine: str) -> None:
    """What a program does when it compiles: say so, since a first `fit` is silent for seconds otherwise."""
    global on_miss
    on_miss = _say_nothing
    print("LabSeq compiles what it needs for this machine; the first time only ...", file=sys.stderr, flush=True)


def _say_nothing(routine: str) -> None:
    pass


def _refuse(routine: str) -> None:
    raise NotCompiledYet(routine)


on_miss: Callable[[str], None] = _tell_once  # is told a routine's name before it is compiled


def refuse_to_compile(refuse: bool = True) -> None:
    """Whether a routine without machine code raises `NotCompiledYet` in this process: a server has others that compile."""
    global on_miss
    on_miss = _refuse if refuse else _tell_once


def compile_quietly() -> None:
    """For processes that report what they compile themselves."""
    global on_miss
    on_miss = _say_nothing


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
        directory = Path(tempfile.mkdtemp(prefix="labseq-compiled-"))
        atexit.register(shutil.rmtree, directory, ignore_errors=True)
        os.environ[PRIVATE_VARIABLE] = str(directory)
        return _made_writable(directory)
    return None


def _made_writable(directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
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
        for module, names in _IMPORTS.findall(waiting.pop().read_text(encoding="utf-8")):
            for found in _imported_files(module, re.findall(r"\w+", names)):
                if found not in seen:
                    seen.add(found)
                    waiting.append(found)
    digest = hashlib.sha256()
    for path in sorted(seen):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def _imported_files(module: str, names: list[str]) -> list[Path]:
    place = _CORE.joinpath(*module.split(".")[1:])
    if not place.is_dir():
        return [place.with_suffix(".py")]
    modules = [place / f"{name}.py" for name in names]
    own = [path for path in modules if path.is_file()]
    return own if len(own) == len(names) else [*own, place / "__init__.py"]


def source_digests() -> list[str]:
    """Of all files with compiled routines."""
    marks = (b"\n@compiled", b"\n@BatchRoutine")
    texts = {source: source.read_bytes() for source in sorted(_CORE.rglob("*.py"))}
    return [source_digest(source) for source, text in texts.items() if any(mark in text for mark in marks)]


class KeptCode(_Cache):
    """The cache of one routine, in the shape that numba's dispatchers ask for."""

    def __init__(self, function: Callable):
        self.routine = f"{function.__module__}.{function.__qualname__}".removeprefix("labseq_core.")
        self._source = Path(function.__code__.co_filename)
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
                return CompileResult._rebuild(target_context, *pickle.loads(path.read_bytes()))
        on_miss(self.routine)
        return None

    def save_overload(self, sig, data) -> None:
        path = self._path(sig, data.codegen)
        if path is None or data.library.has_dynamic_globals or any(not lifted.can_cache for lifted in data.lifted):
            return
        reduced = pickle.dumps(data._reduce())
        with contextlib.suppress(OSError):  # the routine is compiled, and works; only the next process makes it again
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_suffix(f".{os.getpid()}.{time.monotonic_ns()}")
            try:
                partial.write_bytes(reduced)
                os.replace(partial, path)
            finally:
                partial.unlink(missing_ok=True)

    def _path(self, sig, codegen) -> Path | None:
        directory = code_directory()
        if directory is None or not self._enabled:
            return None
        key = hashlib.sha256(f"{sig} {codegen.magic_tuple()}".encode()).hexdigest()[:12]
        return directory / f"{self.routine}-{source_digest(self._source)}-{key}.code"

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
    """Remove what has not been used for a week: directories of other versions, routines of other sources, and what a process
    that was killed had begun to write.
    """
    directory, sources = code_directory(), source_digests()
    if directory is None:
        return
    with contextlib.suppress(OSError):
        os.utime(directory)
        old = time.time() - UNUSED_AFTER
        for other in directory.parent.glob("compiled-*"):
            if other != directory and other.stat().st_mtime < old:
                shutil.rmtree(other, ignore_errors=True)
        for path in directory.glob("*-*-*.*"):
            is_used = path.suffix == ".ready" or (path.suffix == ".code" and path.name.split("-")[-2] in sources)
            if not is_used and path.stat().st_mtime < old:
                path.unlink(missing_ok=True)
