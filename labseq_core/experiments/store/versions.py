"""What a result was made with."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import version

from labseq_core.checks import LabSeqError
from labseq_core.evaluation.registry import METRICS
from labseq_core.experiments.plan.config import ExperimentConfig
from labseq_core.experiments.store.sources import sources_digest
from labseq_core.registry import Source, from_outside


def versions(config: Mapping | None = None) -> dict[str, str]:
    """Versions of what can change a number; `core` is a hash of those of the core's sources that can.

    config: of a run, as plain data; the sources of what it uses from outside are among the versions, and those of all metrics
    from outside, which every run computes.
    """
    sources = from_outside(list(METRICS), METRICS) | (_used(config) if config else {})
    return {**_installed(), **{thing: source.hash for thing, source in sources.items()}}


def _used(config: Mapping) -> dict[str, Source]:
    try:
        return ExperimentConfig.from_dict(dict(config)).from_outside()
    except LabSeqError:
        return {}  # it names what is not here, so nothing of that is among the versions here


@lru_cache(maxsize=1)
def _installed() -> dict[str, str]:
    packages = {name: version(name) for name in ("numpy", "scipy", "numba")}
    return {"core": sources_digest(), "python": platform.python_version(), **packages}
