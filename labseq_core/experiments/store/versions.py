"""What a result was made with."""

from __future__ import annotations

import hashlib
import platform
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """Versions of what can change a number; `core` is a hash of the core's sources."""
    core = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    for source in sorted(core.rglob("*.py")):
        if "_dashboard" not in source.parts:
            digest.update(source.read_bytes())
    packages = {name: version(name) for name in ("numpy", "scipy", "numba")}
    return {"core": digest.hexdigest()[:12], "python": platform.python_version(), **packages}
