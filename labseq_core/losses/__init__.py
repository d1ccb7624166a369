"""Losses see only potentials: (potentials, labels) -> value, and its derivative with respect to the potentials."""

from labseq_core.losses.base import Loss
from labseq_core.losses.exponential import EXPONENTIAL, exponential_loss
from labseq_core.losses.log import LOG, log_loss
from labseq_core.losses.marginal import MARGINAL, marginal_log_loss
from labseq_core.losses.marginal_exponential import MARGINAL_EXPONENTIAL, marginal_exponential_loss
from labseq_core.registry import Registry

LOSSES: Registry[Loss] = Registry("loss", (LOG, MARGINAL, MARGINAL_EXPONENTIAL, EXPONENTIAL))

__all__ = [
    "LOG", "LOSSES", "Loss", "exponential_loss", "log_loss", "marginal_exponential_loss", "marginal_log_loss",
]  # fmt: skip
