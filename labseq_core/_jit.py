"""The only place with numba options: how routines are compiled, where the machine code is kept, how it is made ahead."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import numba

from labseq_core._code_cache import code_directory

PARALLEL_FROM = 10_000_000  # multiplications, some ten milliseconds
# No fastmath: it breaks the guards against -inf. error_model="numpy" spares a zero test at each division.
_OPTIONS = {"nogil": True, "error_model": "numpy", "fastmath": False}


_DIRECTORY = code_directory()


@contextmanager
def _cache_in_own_directory() -> Iterator[None]:
    """numba reads its cache directory when a function is decorated: ours is set for that moment only."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(_DIRECTORY) if _DIRECTORY else before
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


def compiled(function: Callable) -> Callable:
    """Compile a routine to serial machine code, kept on disk between processes."""
    with _cache_in_own_directory():
        return numba.njit(cache=_DIRECTORY is not None, **_OPTIONS)(function)


def compiled_sum(function: Callable) -> Callable:
    """The same for sums of finite numbers, which may be taken in the order that vector units like."""
    with _cache_in_own_directory():
        return numba.njit(cache=_DIRECTORY is not None, **(_OPTIONS | {"fastmath": {"reassoc", "contract"}}))(function)


def compiled_lanes(function: Callable) -> Callable:
    """The same for loops over lanes: a product and the sum it goes into may be rounded once, in one instruction."""
    with _cache_in_own_directory():
        return numba.njit(cache=_DIRECTORY is not None, **(_OPTIONS | {"fastmath": {"contract"}}))(function)


class BatchRoutine:
    """A loop over chunks of a batch, compiled twice from one source: serial, and with its `prange` on all cores.

    Concurrent parallel regions abort the process under numba's simplest threading layer, so the parallel twin runs only on
    the main thread; server threads get the serial one. Chunks are fixed by the data, so both give the same numbers.
    """

    def __init__(self, function: Callable):
        self.py_func = function
        self.serial = compiled(function)
        with _cache_in_own_directory():
            twin = _renamed_copy(function, function.__name__ + "_parallel")
            self.parallel = numba.njit(cache=_DIRECTORY is not None, parallel=True, **_OPTIONS)(twin)

    def __call__(self, *arguments, work: int):
        """`work`: about how many multiplications there are. A small batch is done before a second thread has woken up."""
        on_main_thread = threading.current_thread() is threading.main_thread()
        worthwhile = work >= PARALLEL_FROM and on_main_thread and numba.get_num_threads() > 1
        return (self.parallel if worthwhile else self.serial)(*arguments)


@contextmanager
def parallel_from(multiplications: int) -> Iterator[None]:
    """Another threshold for a while: 0 makes the parallel twins run on any problem."""
    global PARALLEL_FROM
    before, PARALLEL_FROM = PARALLEL_FROM, multiplications
    try:
        yield
    finally:
        PARALLEL_FROM = before


def _renamed_copy(function: Callable, name: str) -> Callable:
    """numba keys its disk cache by qualified name: the parallel twin needs one of its own."""
    twin = type(function)(function.__code__, function.__globals__, name, function.__defaults__, function.__closure__)
    twin.__qualname__ = name
    twin.__module__ = function.__module__
    return twin


def warm_up(
    report: Callable[[str, float], None] | None = None, methods: Iterable[str] | None = None, parallel: bool = True
) -> None:
    """Compile ahead (or load from the cache) by running each routine once on a tiny problem.

    methods: ids of those that will be used (None: all).   parallel: the twins for large problems too.
    `report(what, fraction)` is told what is being compiled.
    """
    from labseq_core._warm_up import steps

    made = steps(methods, parallel)
    for number, (what, step) in enumerate(made):
        if report:
            report(what, number / len(made))
        step()
    if report:
        report("done", 1.0)
