"""Only one process at a time makes or mends a store."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from labseq_core.experiments.store.errors import StoreUnusable
from labseq_core.file_lock import lock_file, unlock_file

_WAIT = 0.05  # seconds
GIVE_UP = 30.0  # seconds


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Wait for a living process that is at it; what a dead one left is no hindrance. Raises OSError in a folder that cannot be
    written.
    """
    lock, give_up = path.with_name(f"{path.name}.mending"), time.monotonic() + GIVE_UP
    while (file := lock_file(lock)) is None:
        if time.monotonic() > give_up:
            raise StoreUnusable(
                f"another process has been making or mending the run store {path.name} for {GIVE_UP:.0f} s; wait until it is "
                "done, or end it"
            )
        time.sleep(_WAIT)
    try:
        yield
    finally:
        unlock_file(lock, file)
