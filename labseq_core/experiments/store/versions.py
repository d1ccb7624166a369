"""What a result was made with."""

from __future__ import annotations

import platform
from functools import lru_cache
from importlib.metadata import version

from labseq_core.experiments.store.sources import sources_digest


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """Versions of what can change a number; `core` is a hash of those of the core's sources that can."""
    packages = {name: version(name) for name in ("numpy", "scipy", "numba")}
    return {"core": sources_digest(), "python": platform.python_version(), **packages}
