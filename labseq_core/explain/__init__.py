"""Explanations of fitted models, as plain data."""

from labseq_core.explain.boosting import (
    bound_curves,
    has_rounds,
    largest_weights,
    promised_log_losses,
    repeated_features,
    round_rows,
    rounds_csv,
)
from labseq_core.explain.support import (
    has_support,
    sparseness,
    support_csv,
    support_examples,
    support_figure,
    training_rows,
)
from labseq_core.explain.weights import (
    has_weights,
    label_weights,
    shows_log_probabilities,
    transition_table,
    weight_summary,
    weights_csv,
)

__all__ = [
    "bound_curves", "has_rounds", "has_support", "has_weights", "label_weights", "largest_weights", "promised_log_losses",
    "repeated_features", "round_rows", "rounds_csv", "shows_log_probabilities", "sparseness", "support_csv",
    "support_examples", "support_figure", "training_rows", "transition_table", "weight_summary", "weights_csv",
]  # fmt: skip
