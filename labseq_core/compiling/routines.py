"""How routines are compiled: the only place with numba's options."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from inspect import signature

import numba
from numba.core.dispatcher import Dispatcher
from numba.core.types import unliteral

from labseq_core.compiling.code_cache import KeptCode
from labseq_core.compiling.threads import may_use_threads, run_chunks

PARALLEL_FROM = 10_000_000  # multiplications, some ten milliseconds
# No fastmath: it breaks the guards against -inf. error_model="numpy" spares a zero test at each division. Nobody calls our
# routines from C.
_OPTIONS = {"nogil": True, "error_model": "numpy", "fastmath": False, "no_cfunc_wrapper": True}


def _compile(function: Callable, **options) -> Callable:
    routine = numba.njit(**(_OPTIONS | options))(function)
    if routine is not function:  # it is where NUMBA_DISABLE_JIT is set
        routine._cache = KeptCode(function)
        routine.get_call_template = partial(_call_template, routine)
    return routine


def _call_template(routine: Dispatcher, arguments, keywords):
    """One specialisation for `f(0)` and `f(t)`: numba would compile a routine again for each constant it is called with."""
    general = {name: unliteral(kind) for name, kind in keywords.items()}
    return Dispatcher.get_call_template(routine, tuple(map(unliteral, arguments)), general)


def compiled(function: Callable) -> Callable:
    """Compile a routine to serial machine code, kept on disk between processes."""
    return _compile(function)


def compiled_sum(function: Callable) -> Callable:
    """The same for sums of finite numbers, which may be taken in the order that vector units like."""
    return _compile(function, fastmath={"reassoc", "contract"})


def compiled_lanes(function: Callable) -> Callable:
    """The same for loops over lanes: a product and the sum it goes into may be rounded once, in one instruction."""
    return _compile(function, fastmath={"contract"})


class BatchRoutine:
    """A loop over the chunks first .. end - 1 of a batch: its first two parameters; another is called `chunks`, their bounds.

    Large batches are shared out among threads. Chunks are fixed by the data and write to places of their own, so the
    numbers do not depend on how many threads there are.
    """

    def __init__(self, function: Callable):
        self.py_func = function
        self.serial = compiled(function)
        self._bounds = list(signature(function).parameters).index("chunks") - 2

    def __call__(self, *arguments, work: int) -> None:
        """`work`: about how many multiplications there are. A small batch is done before a second thread has woken up."""
        n_chunks = arguments[self._bounds].size - 1
        if work >= PARALLEL_FROM and n_chunks > 1 and may_use_threads():
            run_chunks(self.serial, n_chunks, arguments)
        else:
            self.serial(0, n_chunks, *arguments)


@contextmanager
def parallel_from(multiplications: int) -> Iterator[None]:
    """Another threshold for a while: 0 makes threads share any problem."""
    global PARALLEL_FROM
    before, PARALLEL_FROM = PARALLEL_FROM, multiplications
    try:
        yield
    finally:
        PARALLEL_FROM = before
