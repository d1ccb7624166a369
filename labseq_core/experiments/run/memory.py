"""How much memory this process takes, and whether there was too little, as far as the system says."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

_STATUS, _RESET, _EVENTS = Path("/proc/self/status"), Path("/proc/self/clear_refs"), Path("/proc/vmstat")
FEWER = "take fewer sequences, or a smaller kernel"
TOO_LITTLE_MEMORY = f"there is too little memory for it; {FEWER}"


def reset_peak() -> None:
    """Forget the peak so far (Linux only: elsewhere a peak is that of the whole process)."""
    with contextlib.suppress(OSError):
        _RESET.write_text("5")


def killed_for_memory() -> int | None:
    """How many processes the system has killed so far because memory ran out; None where it does not say."""
    try:
        return next(int(line.split()[1]) for line in _EVENTS.read_text().splitlines() if line.startswith("oom_kill "))
    except (OSError, StopIteration):
        return None


def peak_megabytes() -> float | None:
    """The most that this process held since `reset_peak`; None where the system does not say."""
    try:
        lines = _STATUS.read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        pass
    try:
        import resource
    except ImportError:
        return None
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
