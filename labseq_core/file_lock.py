"""A lock on an open file, which the operating system frees when its process ends, however that happens."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from labseq_core.places import private_opener

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None
    import msvcrt

HELD = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)  # what systems say of a lock that another has


def lock(file: int) -> None:
    """Take it; raises OSError if another open file holds it."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)


def lock_file(path: Path) -> int | None:
    """Make a lock file, or take one that its holder has left: the open file, for `unlock_file`. None if somebody holds it.

    Raises OSError where no file can be made, or none can be locked.
    """
    file = private_opener(path, os.O_CREAT | os.O_RDWR)
    try:
        lock(file)
    except OSError as problem:
        os.close(file)
        if problem.errno in HELD:
            return None
        raise
    if _is_at(file, path):
        return file
    os.close(file)  # its holder has just removed it
    return None


def unlock_file(path: Path, file: int) -> None:
    """Give it back. The file goes first, so that nobody takes a lock that is about to have no name."""
    if _is_at(file, path):
        with contextlib.suppress(OSError):
            path.unlink()
    os.close(file)


def is_held(path: Path) -> bool:
    """Whether a process lives that has this lock file. What a dead one left is removed."""
    try:
        file = os.open(path, os.O_RDWR)
    except PermissionError:  # another user's: who cannot be asked is taken for alive
        return True
    except OSError:
        return False
    try:
        _look(file)
    except OSError:
        os.close(file)
        return True
    unlock_file(path, file)
    return False


def _look(file: int) -> None:
    """As `lock`, but several may look at once without taking each other for the holder, where the system can do that."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    else:
        lock(file)


def _is_at(file: int, path: Path) -> bool:
    """Whether the open file is still the one of this name."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except OSError:
        return False
