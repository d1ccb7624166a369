"""A pytest plugin for a run without the compiler, by which the lines of compiled routines are counted (`make coverage`).

Each test goes on only for as long as new lines are likely. Some fail: Python raises where compiled numbers become infinite
or begin anew at 2^64, and tests that look at compiled code find none. The other run, with the compiler, is the judge.
"""

from __future__ import annotations

import signal

import pytest

LONGEST = 4.0  # seconds


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    former = signal.signal(signal.SIGALRM, _enough)
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, former)


def _enough(*_) -> None:
    pytest.skip("long enough for its lines to be counted")
