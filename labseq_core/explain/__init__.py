"""Explanations of fitted models, as plain data."""

from labseq_core.explain.weights import (
    has_weights,
    label_weights,
    shows_log_probabilities,
    transition_table,
    weight_summary,
    weights_csv,
)

__all__ = [
    "has_weights", "label_weights", "shows_log_probabilities", "transition_table", "weight_summary", "weights_csv",
]  # fmt: skip
