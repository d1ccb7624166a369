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


def test_each_chunk_is_done_once_and_by_several_threads():
    done, by = [], set()

    def routine(first: int, end: int, argument: str) -> None:
        time.sleep(0.005)
        done.append((first, end, argument))
        by.add(threading.get_ident())

    threads.run_chunks(routine, 12, ("argument",))
    assert sorted(done) == [(chunk, chunk + 1, "argument") for chunk in range(12)]
    assert len(by) == 3


@pytest.mark.parametrize("where", ["here", "elsewhere"])
def test_an_error_on_any_thread_is_raised_when_all_have_stopped(where):
    here, busy = threading.get_ident(), []

    def routine(first: int, end: int) -> None:
        busy.append(first)
        time.sleep(0.01)
        if (threading.get_ident() == here) == (where == "here"):
            raise ZeroDivisionError(where)
        busy.remove(first)

    with pytest.raises(ZeroDivisionError, match=where):
        threads.run_chunks(routine, 30, ())
    before = len(busy)
    time.sleep(0.05)
    assert len(busy) == before, "a thread went on after the error was raised"


def test_only_the_main_thread_gets_helpers():
    answers = []
    thread = threading.Thread(target=lambda: answers.append(threads.may_use_threads()))
    thread.start()
    thread.join()
    assert threads.may_use_threads()
    assert answers == [False]
