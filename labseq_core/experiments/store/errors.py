"""What can be wrong with a run store."""

from __future__ import annotations

from labseq_core.checks import LabSeqError


class StoreUnusable(LabSeqError):
    """It cannot be read or written now, which may pass: a full disk, missing rights."""


class StoreFull(StoreUnusable):
    """There is no space left where it lies: worth waiting for."""


class StoreDamaged(LabSeqError):
    """It was damaged; a new one has been begun."""


class RunDamaged(LabSeqError):
    """What the store has of a run is not what was written; all else can be used."""

    def __init__(self, run_id: str):
        super().__init__(
            f"run {run_id} is damaged in the run store: the disk has changed it, or another program; delete the run, or run "
            "the same comparison again"
        )
