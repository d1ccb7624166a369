"""What the margins of an HM-SVM rest on: support sequences, and how few they are. T Fig. 4.2, 4.6."""

from __future__ import annotations

import math

from labseq_core.checks import require
from labseq_core.csv_text import csv_text
from labseq_core.learners.base import SequenceLearner
from labseq_core.learners.hmsvm import HMSVM


def has_support(method: type[SequenceLearner]) -> bool:
    """Whether the models of a method have support sequences to show."""
    return issubclass(method, HMSVM)


def support_examples(learner: HMSVM) -> list[dict]:
    """Training sequences with support sequences: number from 0 on, how many rivals, and the sum of their α, largest first."""
    _require_support(learner)
    rows = []
    for number in learner.support_numbers():
        truth, *rivals = learner.support_of(number)
        rows.append({"sequence": number, "rivals": len(rivals), "alpha": truth["alpha"]})
    return sorted(rows, key=lambda row: (-row["alpha"], row["sequence"]))


def support_figure(learner: HMSVM, sequence: int, top: int = 10) -> list[dict]:
    """T Fig. 4.2 of one training sequence: alpha and labels of the truth, then of the `top` support sequences with the
    largest α; of these, labels that are as in the truth are None. Empty if the sequence has none.
    """
    _require_support(learner)
    require(top >= 1, f"top is {top!r}; give at least 1")
    rows = learner.support_of(sequence)
    if not rows:
        return []
    truth = rows[0]["labels"]
    shown = [{"alpha": rows[0]["alpha"], "labels": truth}]
    for row in rows[1 : 1 + top]:
        differing = [label if label != true else None for label, true in zip(row["labels"], truth)]
        shown.append({"alpha": row["alpha"], "labels": differing})
    return shown


def training_rows(learner: HMSVM) -> list[dict]:
    """A row per round of training: both objectives, the gap, how many sequences were looked at for new rivals, how many
    labellings were held and had weight, and by how many the held ones grew (below 0: more were dropped than found).

    What is not known yet, such as the primal objective of a hard margin before all margins are open, is None.
    """
    _require_support(learner)
    names = ("iteration", "primal", "dual", "gap", "looked_at", "working_set", "support_sequences", "seconds")
    rows, before = [], 0
    for row in learner._history_rows:
        known = {name: row.get(name) for name in names}
        rows.append(
            {name: None if value is None or not math.isfinite(value) else value for name, value in known.items()}
        )
        held = rows[-1]["working_set"] or 0
        rows[-1]["growth"] = held - before
        before = held
    return rows


def support_csv(learner: HMSVM, **about: object) -> str:
    """All support sequences as CSV text, labels separated by blanks, sequences numbered from 1 on as pages number them;
    `about` are columns before them that say the same in each row, such as the run.
    """
    _require_support(learner)
    rows = (
        (*about.values(), number + 1, row["alpha"], row["is_truth"], " ".join(row["labels"]))
        for number in learner.support_numbers()
        for row in learner.support_of(number)
    )
    return csv_text([*about, "sequence", "alpha", "is_truth", "labels"], rows)


def _require_support(learner: SequenceLearner) -> None:
    name = type(learner).__name__
    require(has_support(type(learner)), f"{name} has no support sequences to show; choose HMSVM")
    learner.fitted_model()
