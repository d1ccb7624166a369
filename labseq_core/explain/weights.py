"""What a fitted model has learned about attributes and about pairs of labels.

Methods with explicit weights show these; an HMM shows log probabilities in their place.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import numpy as np

from labseq_core.chain.constraints import constraints_for
from labseq_core.checks import require
from labseq_core.learners.base import SequenceLearner
from labseq_core.learners.hmm import EMITTED, HMM
from labseq_core.learners.hmsvm import HMSVM
from labseq_core.learners.linear import LinearLearner

UNKNOWN_WORD = "(unknown word)"


def has_weights(method: type[SequenceLearner]) -> bool:
    """Whether the models of a method can be looked into here."""
    return issubclass(method, LinearLearner | HMM)


def shows_log_probabilities(learner: SequenceLearner) -> bool:
    """Whether the numbers below are logarithms of probabilities, so that none is positive."""
    return isinstance(learner, HMM)


def label_weights(learner: SequenceLearner, label: str, top: int = 15, contains: str = "") -> list[dict]:
    """The `top` highest and the `top` lowest nonzero weights of a label, highest first.

    contains: only attributes whose name has this in it, upper or lower case. Of an HMM only the highest, since its
    lowest are all the words that never had the label.
    """
    require(top >= 1, f"top is {top}; give at least 1")
    names, table = _attribute_table(learner)
    known = learner.classes_
    require(label in known, f"the model has no label {label!r}; it knows {', '.join(known[:10])}")
    column, wanted = table[:, known.index(label)], contains.strip().casefold()
    rows = np.flatnonzero(column)
    if wanted:
        rows = rows[[wanted in names[row].casefold() for row in rows.tolist()]]
    rows = rows[np.argsort(-column[rows], kind="stable")]
    if shows_log_probabilities(learner):
        rows = rows[:top]
    elif rows.size > 2 * top:
        rows = np.concatenate([rows[:top], rows[-top:]])
    return [{"attribute": names[row], "weight": float(column[row])} for row in rows.tolist()]


def transition_table(learner: SequenceLearner) -> tuple[list[str], np.ndarray]:
    """The labels, and the weights (S, S) of their pairs: [from, to], -inf where constraints forbid the pair."""
    if isinstance(learner, HMSVM) and hasattr(learner, "expansion_"):  # only attributes are hidden in the kernel
        edge = learner.expansion_.eta * learner.expansion_.delta
    else:
        _require_weights(learner)
        if isinstance(learner, HMM):
            return list(learner.classes_), learner.transition_log_prob_.copy()
        edge = learner.weights_.edge
    constraints = constraints_for(learner.constraints, learner.classes_)
    return list(learner.classes_), edge.copy() if constraints is None else np.where(constraints.edge, -np.inf, edge)


def weight_summary(learner: SequenceLearner) -> dict:
    """How many attributes and parameters a model has, and how many of these are exactly zero."""
    names, table = _attribute_table(learner)
    if isinstance(learner, HMM):
        parts = [table, learner.transition_log_prob_, learner.start_log_prob_]
    else:
        parts = [learner.weights_.flat]
    parameters = sum(part.size for part in parts)
    nonzero = sum(int(np.count_nonzero(part)) for part in parts)
    zero = parameters - nonzero
    share = zero / parameters if parameters else 0.0
    return {
        "attributes": len(names), "parameters": parameters, "nonzero": nonzero, "zero": zero, "share_zero": share,
    }  # fmt: skip


def weights_csv(learner: SequenceLearner, **about: str) -> str:
    """All nonzero weights with full precision; the attribute of a transition is the label before. `about`: columns before
    them that say the same in each row, such as the run.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*about, "kind", "attribute", "label", "weight"))
    for kind, names, table in _tables(learner):
        for row, column in np.argwhere((table != 0.0) & np.isfinite(table)).tolist():
            writer.writerow((*about.values(), kind, names[row], learner.classes_[column], float(table[row, column])))
    return text.getvalue()


def _tables(learner: SequenceLearner) -> Iterator[tuple[str, list[str], np.ndarray]]:
    yield "attribute", *_attribute_table(learner)
    yield "transition", *transition_table(learner)
    if isinstance(learner, HMM):
        yield "start", [""], learner.start_log_prob_[np.newaxis]
    else:
        yield "start", [""], learner.weights_.start[np.newaxis]
        yield "stop", [""], learner.weights_.stop[np.newaxis]


def _attribute_table(learner: SequenceLearner) -> tuple[list[str], np.ndarray]:
    """Names of attributes, and their weights (attributes, S)."""
    _require_weights(learner)
    names = list(learner.vocabulary_.names)
    if not isinstance(learner, HMM):
        return names, learner.weights_.node
    found = learner.emission_log_prob_
    require(found is not None, "an HMM with emissions='attributes' has no table of words, only transitions")
    # Rows of emissions are the current words in the order of the vocabulary, then one for all other words.
    return [name for name in names if name.startswith(EMITTED)] + [UNKNOWN_WORD], found


def _require_weights(learner: SequenceLearner) -> None:
    name = type(learner).__name__
    require(has_weights(type(learner)), f"{name} has no weights to show; choose CRF, MaxEnt, the perceptron or an HMM")
    require(hasattr(learner, "classes_"), f"this {name} is not fitted yet; call fit first")
    by_kernel = hasattr(learner, "expansion_")
    require(
        not by_kernel, f"this {name} has a kernel, so it has no weights of attributes; look at its support sequences"
    )
