"""A pytest plugin for a run without the compiler, by which the lines of compiled routines are counted (`make coverage`).

Each test goes on only for as long as new lines are likely. Some fail: Python raises where compiled numbers become infinite
or begin anew at 2^64, and tests that look at compiled code find none. The other run, with the compiler, is the judge.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import coverage
import pytest

LONGEST, SOON = 4.0, 0.01  # seconds
COVERAGE = str(Path(coverage.__file__).parent)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    former = signal.signal(signal.SIGALRM, _enough)
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, former)


def _enough(_, frame: FrameType | None) -> None:
    """Not while coverage counts: it holds a lock then, which nobody would give back."""
    if any(COVERAGE in each.f_code.co_filename for each in _callers(frame)):
        signal.setitimer(signal.ITIMER_REAL, SOON)
    else:
        pytest.skip("long enough for its lines to be counted")


def _callers(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back
