"""Losses see only potentials: (potentials, labels) -> value, and its derivative with respect to the potentials."""

from labseq_core.losses.exponential import exponential_loss
from labseq_core.losses.log import log_loss
from labseq_core.losses.marginal import marginal_exponential_loss, marginal_log_loss

LOSSES = {
    "log": log_loss,
    "exp": exponential_loss,
    "marginal": marginal_log_loss,
    "marginal-exp": marginal_exponential_loss,
}

__all__ = ["LOSSES", "exponential_loss", "log_loss", "marginal_exponential_loss", "marginal_log_loss"]
