"""What pages remember of a finished run, for all visitors: until another run has come under its id, and not longer.

A run that is submitted again keeps its id and gets new numbers. So functions that remember something of a run take the run
itself, and what they remember is found again by its id together with when it was finished.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import streamlit as st

from labseq_core.experiments import RunResult, RunSummary


@dataclass(frozen=True, eq=False)
class FinishedRun(RunResult):
    """A result as pages hold it. Shared: not to be changed."""

    version: str = ""  # what tells it from another run of the same id

    @classmethod
    def trained(cls, run: RunResult, finished: float | None) -> FinishedRun:
        """A run of the store, which was finished at this time."""
        return cls(**vars(run), version=repr(finished))

    @classmethod
    def bundled(cls, run: RunResult) -> FinishedRun:
        """A result that comes with LabSeq."""
        made = sorted(run.versions.items())
        return cls(**vars(run), version=repr((run.config.hash, run.created, made)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FinishedRun) and key_of(self) == key_of(other)

    def __hash__(self) -> int:
        return hash(key_of(self))


def key_of(run: FinishedRun | RunSummary) -> tuple[str, str]:
    """What everything that is computed from a run depends on."""
    return run.run_id, run.version if isinstance(run, FinishedRun) else repr(run.finished)


_KEYS = {FinishedRun: key_of, RunSummary: key_of}
# As Streamlit's own, but for the keys of runs. What is shared is not to be changed; of what is copied everybody has a copy.
cache_shared = partial(st.cache_resource, hash_funcs=_KEYS)
cache_copied = partial(st.cache_data, hash_funcs=_KEYS)
