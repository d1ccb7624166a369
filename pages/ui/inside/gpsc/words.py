"""What the GPSC tab says: plain words for coordinates, sparseness and the certificate."""

from __future__ import annotations

from labseq_core.learners.gpsc import GPSC
from labseq_core.learners.sparse_gpsc import SparseGPSC
from pages.ui.drawing.plain_text import in_markdown, sentence

WITHIN = 0.01  # of the accuracy of the dense model: nearly as good
OTHERWISE = "No method of this run is a Gaussian process, so there is no sparseness to show; another run is shown."
INTRODUCTION = (
    "Gaussian process sequence classification (GPSC) puts a **kernel** where the CRF has weights: a word is scored by how "
    "much it is like the words of the training sentences. The **dense** model keeps *all* of them. The **sparse** model "
    "begins with none and takes the most useful ones step by step; so one can watch how few are enough (thesis, Fig. 5.2)."
)
GLOSSARY = """
- **Observation**: a training token with its features, equal ones counted once. The model is a sum over observations of
  coefficients times likeness.
- **Coordinate**: what a sparse model takes at a time: a training token together with a pair of labels or, in labelled
  sequences, a whole sentence with a labelling. **% parameters**: coordinates for each training token, as the thesis counts.
  One observation can be taken with several pairs of labels.
- **% observations touched**: share of the training tokens whose observation has a coefficient. Prediction has to compare
  a new word with these only: the fewer, the faster.
- **refit**: which coefficients are fitted after each step. *last*: those just taken, the others stay: quick but coarse.
  *all*: every one anew. *growth*: as last, and all of them whenever there are many more, and at the end.
- **select**: the sentence to take from. *random*: sentences take turns. *best*: always the one where the objective is
  steepest. *sample*: the steepest of ten at random.
- **Objective**: what training minimises, minus log-likelihood plus the penalty on rough functions.
- **Certificate**: a number that is computed from the gradient and that the objective can be above its minimum *at most*.
  Training stops when it is small: so "converged" is a proof and no guess.
- **Route**: how the dense model computes. *gram*: by kernel values of all pairs of observations. *explicit*: by the
  features that the kernel stands for. *low-rank*: nearly so, with few observations that span the others.
"""
VIEWS = (
    "How few coordinates are enough, how far the dense model is from the best, which training words decide on a new one, and "
    "how alike the kernel finds them."
)
AXIS = "What the horizontal axis counts."
ACCURACY = (
    "Each line begins with an empty model. The sooner it reaches the dashed line of the dense model, the fewer coordinates "
    "are enough."
)
NO_DEVELOPMENT = (
    "Within cross-validation there is no development part, so accuracy on the **training** sentences is shown. Train without "
    "folds to see sentences that training has not seen."
)
OBJECTIVE = (
    "What training minimises, after so many coordinates. The dense model, where it has the same kernel and penalty, is the "
    "lowest that is possible."
)
TOUCHED = "Label pairs for each observation that was touched: 1 means that every one was taken once."
CERTIFICATE = (
    "By how much the objective can be above its minimum at most, as a share of the objective, after each iteration of the "
    "dense model. It can rise for a moment: it is a bound, and the gradient is not lowered at every step."
)
NO_SPARSE = "This run has no sparse GP: train one (`sgps`) beside the dense one to see accuracy against sparseness."
NO_DENSE = (
    "This run has no dense GP: train one (`gps`) with the same kernel to see the line that the sparse one approaches."
)


def enough(name: str, row: dict | None, dense: float, part: str, within: float) -> str:
    """When a sparse model has come near the dense one, as a sentence."""
    points = f"{100 * within:g} percentage point" + ("" if within == 0.01 else "s")
    if row is None:
        return f"- **{name}** does not come within {points} of the dense model ({dense:.1%} on the {part})."
    return (
        f"- **{name}** is within {points} of the dense model ({dense:.1%} on the {part}) with **{row['coordinates']:,}** "
        f"coordinates: **{row['fraction']:.1%}** of the parameters, {row['observations']:.1%} of the observations touched, "
        f"{row['pairs_per_observation']:.2f} label pairs each."
    )


def certificate_line(learner: GPSC) -> str:
    """How the dense model was fitted and how far from the best it can be."""
    share = learner.gap_ / learner.objective_ if learner.objective_ > 0 else 0.0
    rank = f" (rank {learner.rank_:,})" if learner.route_ == "low-rank" else ""
    lost = f" Low rank may lose {learner.error_bound_:.4g} more." if learner.error_bound_ else ""
    return (
        f"Route **{in_markdown(learner.route_)}**{rank}, {learner.n_observations_:,} observations, "
        f"{learner.n_iter_} iterations. The objective, {learner.objective_:.6g}, is at most **{learner.gap_:.3g}** "
        f"({share:.2%}) above the minimum.{lost} "
        f"{sentence(learner.stop_reason_)}."
    )


def sparse_line(name: str, learner: SparseGPSC) -> str:
    """What is left of a sparse model, in a sentence."""
    return (
        f"- **{name}**: {learner.n_coordinates_:,} coordinates; prediction looks at **{learner.n_support_:,}** of "
        f"{learner.n_observations_:,} observations. {sentence(learner.stop_reason_)}."
    )
