"""What a fitted model has learned about attributes and about pairs of labels.

Methods with explicit weights show these; an HMM shows log probabilities in their place.
"""

from __future__ import annotations

import numpy as np

from labseq_core.checks import require
from labseq_core.csv_text import csv_text
from labseq_core.learners.base import SequenceLearner
from labseq_core.scoring.model import Table


def has_weights(method: type[SequenceLearner]) -> bool:
    """Whether the models of a method can be looked into here."""
    return method.has_weights


def shows_log_probabilities(learner: SequenceLearner) -> bool:
    """Whether the numbers below are logarithms of probabilities, so that none is positive."""
    return learner.fitted_model().has_log_probabilities


def label_weights(learner: SequenceLearner, label: str, top: int = 15, contains: str = "") -> list[dict]:
    """The `top` highest and the `top` lowest nonzero weights of a label, highest first.

    contains: only attributes whose name has this in it, upper or lower case. Of an HMM only the highest, since its
    lowest are all the words that never had the label.
    """
    require(top >= 1, f"top is {top}; give at least 1")
    table = _tables(learner)["attribute"]
    known = learner.classes_
    require(label in known, f"the model has no label {label!r}; it knows {', '.join(known[:10])}")
    column, wanted = table.values[:, known.index(label)], contains.strip().casefold()
    rows = np.flatnonzero(column)
    if wanted:
        rows = rows[[wanted in table.names[row].casefold() for row in rows.tolist()]]
    rows = rows[np.argsort(-column[rows], kind="stable")]
    if shows_log_probabilities(learner):
        rows = rows[:top]
    elif rows.size > 2 * top:
        rows = np.concatenate([rows[:top], rows[-top:]])
    return [{"attribute": table.names[row], "weight": float(column[row])} for row in rows.tolist()]


def transition_table(learner: SequenceLearner) -> tuple[list[str], np.ndarray]:
    """The labels, and the weights (S, S) of their pairs: [from, to], -inf where constraints forbid the pair."""
    table = _tables(learner, "transition")["transition"]
    return list(learner.classes_), table.values.copy()


def weight_summary(learner: SequenceLearner) -> dict:
    """How many attributes and parameters a model has, and how many of these are exactly zero."""
    tables = _tables(learner)
    parameters = sum(table.values.size for table in tables.values())
    nonzero = sum(int(np.count_nonzero(table.values[np.isfinite(table.values)])) for table in tables.values())
    zero = parameters - nonzero
    share = zero / parameters if parameters else 0.0
    return {
        "attributes": len(tables["attribute"].names), "parameters": parameters, "nonzero": nonzero, "zero": zero,
        "share_zero": share,
    }  # fmt: skip


def weights_csv(learner: SequenceLearner, **about: object) -> str:
    """All nonzero weights with full precision; the attribute of a transition is the label before. `about`: columns before
    them that say the same in each row, such as the run.
    """
    rows = (
        (*about.values(), kind, table.names[row], learner.classes_[column], float(table.values[row, column]))
        for kind, table in _tables(learner).items()
        for row, column in np.argwhere((table.values != 0.0) & np.isfinite(table.values)).tolist()
    )
    return csv_text([*about, "kind", "attribute", "label", "weight"], rows)


def _tables(learner: SequenceLearner, needed: str = "attribute") -> dict[str, Table]:
    """By kind, with -inf for forbidden transitions; one of the needed kind is there."""
    name = type(learner).__name__
    require(learner.has_weights, f"{name} has no weights to show; choose CRF, MaxEnt, the perceptron or an HMM")
    model = learner.fitted_model()
    tables = {table.kind: table for table in model.tables(learner.vocabulary_.names, learner.classes_)}
    require(needed in tables, model.why_no_attributes)
    if model.constraints is not None:
        edge = np.where(model.constraints.edge, -np.inf, tables["transition"].values)
        tables["transition"] = Table("transition", learner.classes_, edge)
    return tables
