"""A routine's chunks on all cores: the same serial machine code, called from threads, since it releases Python's lock."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

import numba

_pool: ThreadPoolExecutor | None = None


def thread_count() -> int:
    """As many as numba would use: the cores this process may run on, or `NUMBA_NUM_THREADS`."""
    return numba.config.NUMBA_NUM_THREADS


def may_use_threads() -> bool:
    """Only the main thread gets helpers: a server's own threads must not take the cores from each other."""
    return thread_count() > 1 and threading.current_thread() is threading.main_thread()


def run_chunks(routine: Callable, n_chunks: int, arguments: tuple) -> None:
    """`routine(chunk, chunk + 1, *arguments)` for each chunk; a thread takes the next one when it is done with its last."""
    numbers = itertools.count()

    def work() -> None:
        for chunk in numbers:
            if chunk >= n_chunks:
                return
            routine(chunk, chunk + 1, *arguments)

    helpers = [_helpers().submit(work) for _ in range(min(thread_count(), n_chunks) - 1)]
    try:
        work()
    finally:
        wait(helpers)
    for helper in helpers:
        helper.result()


def _helpers() -> ThreadPoolExecutor:
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(thread_count() - 1, thread_name_prefix="labseq-chunks")
    return _pool


def _forget() -> None:
    """A forked process has the pool but not its threads."""
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
