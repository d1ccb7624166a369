"""What the HM-SVM tab says: plain words for margins, support sequences and the duality gap."""

from __future__ import annotations

import math

from labseq_core.learners.hmsvm import HMSVM
from pages.ui.drawing.plain_text import sentence

OTHERWISE = "No method of this run is an HM-SVM, so there are no support sequences to show; another run is shown."
INTRODUCTION = (
    "A hidden Markov SVM asks that the true labelling of every training sentence beats **all** others by a margin. Nearly "
    "all of them lose anyway. The few that come too close are the **support sequences**: each has a number α, and the "
    "model is nothing but the sum of α times (what speaks for the truth minus what speaks for the rival)."
)
GLOSSARY = """
- **Support sequence**: a wrong labelling of a training sentence that comes closer to the truth than the margin, or beats it.
  **Support example**: a sentence that has one.
- **α**: how hard the model leans on a rival. Per sentence the α sum up to at most `C` (slack `l1`; with slack rescaling it is
  the α divided by the number of wrong labels that do).
- **Margin**: by how much the true labelling wins over a rival. Sentences without support sequences keep it without help:
  taken out of the training data, they would change nothing.
- **Primal objective**: what training minimises, half the squared length of the weights plus C times the violations.
  **Dual objective**: a number that is never above that minimum, and which training pushes up. Their difference, the
  **duality gap**, says how far from the best the model can be at most: training stops when it is small.
- **Working set**: rivals that were found too close and not dropped since for want of weight; only these are optimised, out of
  labels^length many.
"""
FIGURE = (
    "The sentence with its true labels, then its support sequences, largest α first. Only labels that differ from the truth "
    "are written (thesis, Fig. 4.2): they show what the model had to be talked out of."
)
GAP = (
    "Each round looks for new rivals with the Viterbi algorithm, then shifts α among the known ones. The optimum lies "
    "between the two ends; before the last round the primal leaves out sentences that were safe when last looked at."
)
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
WORKING_SET = (
    "Rivals that are held, and those of them that the model leans on. A line that levels off means few new ones come."
)
GROWTH = (
    "Most rivals are found in the first rounds. Later rounds pass by sentences that are safe, and drop rivals that the model "
    "no longer leans on: then a bar points down. **What to try:** a larger `C` or a hard margin needs more rounds and larger "
    "sets."
)


def sparseness_line(learner: HMSVM) -> str:
    """How sparse the model is, in a sentence."""
    return (
        f"The model leans on **{learner.n_support_sequences_:,}** support sequences of "
        f"**{learner.n_support_examples_:,}** of {learner.n_training_sequences_:,} training sentences "
        f"({learner.support_per_example_:.2f} each); **{learner.satisfied_share_:.1%}** of the sentences keep the margin "
        f"without any.{_labellings(learner.log10_constraints_)}"
    )


def _labellings(log10: float | None) -> str:
    power = "" if log10 is None else f"{log10:.0f}".translate(_RAISED)
    return power and f" There are about 10{power} wrong labellings in all."


def gap_line(learner: HMSVM) -> str:
    """How close to the optimum it is."""
    ended = f"after {learner.n_iter_} rounds. {sentence(learner.stop_reason_)}."
    if not math.isfinite(learner.primal_objective_):
        why = (
            "some margins are still closed"
            if learner.exact_
            else "too many labellings were not looked at to bound their cost"
        )
        return f"Dual objective {learner.dual_objective_:.6g}; nothing bounds the optimum from above, as {why}, {ended}"
    share = learner.gap_ / abs(learner.primal_objective_) if learner.primal_objective_ else 0.0
    primal = f"Primal objective {'' if learner.exact_ else 'at most '}{learner.primal_objective_:.6g}"
    return f"{primal}, dual {learner.dual_objective_:.6g}: the gap is {share:.2%} of the primal {ended}"
