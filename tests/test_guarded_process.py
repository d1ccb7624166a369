"""A file that is read in a process of its own can fail in any way; the caller hears of it in our words, and nothing is left."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from pathlib import Path

import pytest

from labseq_core.checks import LabSeqError
from labseq_core.guarded_process import AT_ONCE, Limits, call_guarded

LIMITS = Limits(seconds=20.0, megabytes=400, what="toy.txt", fix="give another")


def doubled(tell, number: int) -> dict:
    """What children do in these tests: found there by name."""
    print("this must not get among the messages")
    tell(0.5, "half")
    return {"doubled": 2 * number, "process": os.getpid()}


def refused(tell) -> None:
    raise LabSeqError("line 3 has 2 columns; add one")


def died(tell) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def surprised(tell) -> None:
    raise KeyError("secret")


def greedy(tell, at_once: bool) -> None:
    held = []
    while True:
        held.append(bytearray((2000 if at_once else 20) << 20))
        time.sleep(0.01)


def endless(tell, place: str = "") -> None:
    if place:
        Path(place).write_text(str(os.getpid()))
    while True:
        time.sleep(0.01)


def test_gives_the_result_and_tells_of_progress():
    told: list[tuple[float, str]] = []
    answer = call_guarded(doubled, LIMITS, lambda *progress: told.append(progress), number=21)
    assert answer["doubled"] == 42
    assert answer["process"] != os.getpid()
    assert told[0] == (0.0, "Reading toy.txt")
    assert (0.5, "half") in told


def test_errors_of_ours_come_as_they_are():
    with pytest.raises(LabSeqError, match=r"^line 3 has 2 columns; add one$"):
        call_guarded(refused, LIMITS)


@pytest.mark.parametrize("ending", [died, surprised])
def test_a_child_that_dies_costs_one_clear_message(ending, capfd):
    with pytest.raises(LabSeqError, match=r"^reading toy.txt failed; it may be damaged. Give another$"):
        call_guarded(ending, LIMITS)
    assert "secret" not in capfd.readouterr().out


@pytest.mark.parametrize("at_once", [False, True])
def test_memory_is_bounded(at_once):
    with pytest.raises(
        LabSeqError, match=r"^toy.txt takes more than 400 MB of memory to read \(\d+ MB\); give another$"
    ):
        call_guarded(greedy, LIMITS, at_once=at_once)


def test_time_is_bounded():
    began = time.monotonic()
    with pytest.raises(LabSeqError, match=r"^toy.txt takes longer than 1 s to read; give another$"):
        call_guarded(endless, Limits(1.0, 400, "toy.txt", "give another"))
    assert time.monotonic() - began < 5.0


def test_an_interrupted_caller_ends_the_child(tmp_path):
    place = tmp_path / "pid"

    class Interrupted(Exception):
        pass

    def tell(fraction: float, text: str) -> None:
        if place.is_file() and place.read_text():
            raise Interrupted

    with pytest.raises(Interrupted):
        call_guarded(endless, LIMITS, tell, place=str(place))
    with pytest.raises(ProcessLookupError):
        os.kill(int(place.read_text()), 0)


def test_further_callers_wait_and_hear_of_it(tmp_path):
    ended, waited = threading.Event(), []

    def busy(fraction: float, text: str) -> None:
        if ended.is_set():
            raise LabSeqError("over")

    def patient(fraction: float, text: str) -> None:
        waited.append(text)
        if len(waited) == 3:
            ended.set()

    def hold() -> None:
        with pytest.raises(LabSeqError, match="over"):
            call_guarded(endless, LIMITS, busy)

    holders = [threading.Thread(target=hold) for _ in range(AT_ONCE)]
    for holder in holders:
        holder.start()
    time.sleep(0.3)
    assert call_guarded(doubled, LIMITS, patient, number=1)["doubled"] == 2
    for holder in holders:
        holder.join()
    assert re.match("Waiting", waited[0])
