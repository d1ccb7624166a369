"""A lock on an open file, which the operating system frees when its process ends, however that happens."""

from __future__ import annotations

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None
    import msvcrt


def lock(file: int) -> None:
    """Take it; raises OSError if another open file holds it."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
