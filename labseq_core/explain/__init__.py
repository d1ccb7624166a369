"""Explanations of fitted models, as plain data."""

from labseq_core.explain.boosting import (
    bound_curves,
    has_rounds,
    largest_weights,
    promised_log_losses,
    repeated_features,
    round_rows,
    rounds_csv,
    sizes_by_round,
)
from labseq_core.explain.confidence import Answers, answers, has_probabilities, withheld_csv, withheld_rows
from labseq_core.explain.contributions import (
    Contributions,
    contributions,
    posterior_contributions,
    training_places,
)
from labseq_core.explain.gp_votes import needs_training_data_to_vote, observation_votes
from labseq_core.explain.gram_view import (
    INFLUENCE_COLUMNS,
    Coefficients,
    GramSample,
    Influence,
    Spectrum,
    TrainingView,
    coefficients,
    gram_sample,
    influences,
    spectrum,
)
from labseq_core.explain.lattice import RECURSIONS, Lattice, Step, forced
from labseq_core.explain.margins import Margins, cumulative, margin_row, margins, margins_csv
from labseq_core.explain.sequence import Reading, columns_in_use, read_sequence, sentence_of
from labseq_core.explain.sparse_gp import (
    CERTIFICATE_COLUMNS,
    PATH_COLUMNS,
    certificate_rows,
    is_dense_gp,
    is_gp,
    is_sparse_gp,
    nearly_as_good,
    rows_csv,
    same_problem,
    sparse_path,
)
from labseq_core.explain.sparsity import used_of, used_share
from labseq_core.explain.sparsity_paths import share_path
from labseq_core.explain.support import (
    has_support,
    support_csv,
    support_examples,
    support_figure,
    training_rows,
)
from labseq_core.explain.trellis import Trellis, trellis
from labseq_core.explain.weights import (
    has_weights,
    label_weights,
    shows_log_probabilities,
    transition_table,
    weight_summary,
    weights_csv,
)

__all__ = [
    "CERTIFICATE_COLUMNS", "INFLUENCE_COLUMNS", "PATH_COLUMNS", "RECURSIONS", "Answers", "Coefficients", "Contributions",
    "GramSample", "Influence", "Lattice", "Margins", "Reading", "Spectrum", "Step", "TrainingView", "Trellis", "answers",
    "bound_curves", "certificate_rows", "coefficients", "columns_in_use", "contributions", "cumulative",
    "forced", "gram_sample", "has_probabilities", "has_rounds", "has_support", "has_weights",
    "influences", "is_dense_gp", "is_gp", "is_sparse_gp", "label_weights", "largest_weights", "margin_row", "margins",
    "margins_csv", "nearly_as_good", "needs_training_data_to_vote", "observation_votes", "posterior_contributions",
    "promised_log_losses",
    "read_sequence", "repeated_features", "round_rows", "rounds_csv", "rows_csv", "same_problem", "sentence_of",
    "share_path", "shows_log_probabilities", "sizes_by_round", "sparse_path", "spectrum", "support_csv", "support_examples",
    "support_figure", "training_places", "training_rows", "transition_table", "trellis", "used_of", "used_share",
    "weight_summary", "weights_csv", "withheld_csv", "withheld_rows",
]  # fmt: skip
