"""What a result was made with."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import version

from labseq_core.evaluation.registry import METRICS
from labseq_core.experiments.store.sources import sources_digest
from labseq_core.features.registry import TEMPLATES
from labseq_core.kernels import KERNELS
from labseq_core.learners.registry import METHODS


def versions(config: Mapping | None = None) -> dict[str, str]:
    """Versions of what can change a number; `core` is a hash of those of the core's sources that can.

    config: of a run, as plain data; the sources of what it names from outside are among the versions, and those of all metrics
    from outside, which every run computes.
    """
    words = set(re.findall(r"[\w-]+", json.dumps(config, ensure_ascii=False)))
    named = [(known, name) for known in (METHODS, KERNELS, TEMPLATES) for name in known if name in words]
    named += [(METRICS, name) for name in METRICS]
    sources = {f"{known.noun} {name}": source for known, name in named if (source := known.source_of(name))}
    return {**_installed(), **sources}


@lru_cache(maxsize=1)
def _installed() -> dict[str, str]:
    packages = {name: version(name) for name in ("numpy", "scipy", "numba")}
    return {"core": sources_digest(), "python": platform.python_version(), **packages}
