"""What a result was made with."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from functools import lru_cache
from importlib.metadata import version

from labseq_core.experiments.store.sources import sources_digest
from labseq_core.learners.registry import METHODS


def versions(methods: Iterable[str] = ()) -> dict[str, str]:
    """Versions of what can change a number; `core` is a hash of those of the core's sources that can.

    methods: ids; of those from outside the hash of their source is among the versions.
    """
    sources = {f"method {method}": source for method in methods if (source := METHODS.source_of(method))}
    return {**_installed(), **sources}


@lru_cache(maxsize=1)
def _installed() -> dict[str, str]:
    packages = {name: version(name) for name in ("numpy", "scipy", "numba")}
    return {"core": sources_digest(), "python": platform.python_version(), **packages}
