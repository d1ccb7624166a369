"""Chunks that several threads share out."""

from __future__ import annotations

import threading
import time

import numba
import pytest

from labseq_core.compiling import threads


@pytest.fixture(autouse=True)
def three_threads(monkeypatch) -> None:
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 3)
    monkeypatch.setattr(threads, "_pool", None)


SECONDS = 60  # a loaded machine


def test_each_chunk_is_done_once_and_by_several_threads():
    done, by, all_here = [], set(), threading.Barrier(3)

    def routine(first: int, end: int, argument: str) -> None:
        if threading.get_ident() not in by:
            by.add(threading.get_ident())
            all_here.wait(SECONDS)  # so that no thread does the work of all
        done.append((first, end, argument))

    threads.run_chunks(routine, 12, ("argument",))
    assert sorted(done) == [(chunk, chunk + 1, "argument") for chunk in range(12)]
    assert len(by) == 3


@pytest.mark.parametrize("where", ["here", "elsewhere"])
def test_an_error_on_any_thread_is_raised_when_all_have_stopped(where):
    here, busy, all_here = threading.get_ident(), set(), threading.Barrier(3)

    def routine(first: int, end: int) -> None:
        busy.add(first)
        try:
            if first < 3:
                all_here.wait(SECONDS)
            if (threading.get_ident() == here) == (where == "here"):
                raise ZeroDivisionError(where)
            time.sleep(0.05)  # longer than the thread that fails
        finally:
            busy.remove(first)

    with pytest.raises(ZeroDivisionError, match=where):
        threads.run_chunks(routine, 9, ())
    assert busy == set(), "a thread went on after the error was raised"


def test_only_the_main_thread_gets_helpers():
    answers = []
    thread = threading.Thread(target=lambda: answers.append(threads.may_use_threads()))
    thread.start()
    thread.join()
    assert threads.may_use_threads()
    assert answers == [False]
