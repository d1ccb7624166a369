"""Memory of this process, and how fast things are. Imports nothing of ours: every program's process uses it."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path


def best_seconds(ways: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """The least time of each way; they take turns, so that a busy moment does not fall on one alone."""
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(repeats):
        for name, way in ways.items():
            started = time.perf_counter()
            way()
            best[name] = min(best[name], time.perf_counter() - started)
    return best


def resident_megabytes() -> float | None:
    """What this process holds now; where the system does not say, the most that it held so far."""
    return _status("VmRSS") or peak_megabytes()


def peak_megabytes() -> float | None:
    """The most that this process held so far; None where the system does not say.

    Linux's ru_maxrss is no use here: a new process inherits that of the process which started it.
    """
    found = _status("VmHWM")
    if found is not None:
        return found
    try:
        import resource
    except ImportError:
        return None
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def megabytes_of(process: int) -> float | None:
    """What another process holds now; None where the system does not say."""
    return _status("VmRSS", str(process))


def _status(key: str, process: str = "self") -> float | None:
    status = Path(f"/proc/{process}/status")
    if not status.exists():
        return None
    kilobytes = next(line.split()[1] for line in status.read_text().splitlines() if line.startswith(key + ":"))
    return int(kilobytes) / 1024


def at_least_one(text: str) -> int:
    """The type of an option on the command line that counts something."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def say(text: str) -> None:
    """A line of progress."""
    print(text, file=sys.stderr, flush=True)


def print_report(report: Mapping, show: Callable[[Mapping], None], as_json: bool) -> None:
    """For machines, or for people."""
    if as_json:
        print(json.dumps(report))
    else:
        show(report)


def write_result(path: str | Path, result: Mapping) -> None:
    Path(path).write_text(json.dumps(result), encoding="utf-8")
