"""Losses see only potentials: (potentials, labels) -> value, and its derivative with respect to the potentials."""

from labseq_core.losses.log import log_loss

LOSSES = {"log": log_loss}

__all__ = ["LOSSES", "log_loss"]
