"""Gaussian processes over sequences: what few coordinates cost in accuracy, and how far from the optimum the dense fit is.
T Fig. 5.2, Lemma 4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from labseq_core.checks import require
from labseq_core.csv_text import csv_text
from labseq_core.learners.base import SequenceLearner
from labseq_core.learners.gpsc import GPSC
from labseq_core.learners.sparse_gpsc import SparseGPSC

PATH_COLUMNS = (
    "coordinates", "fraction", "objective", "train_accuracy", "dev_accuracy", "observations", "pairs_per_observation",
    "seconds",
)  # fmt: skip
CERTIFICATE_COLUMNS = ("iteration", "objective", "gap", "relative_gap", "seconds")


def is_dense_gp(method: type[SequenceLearner]) -> bool:
    return issubclass(method, GPSC)


def is_sparse_gp(method: type[SequenceLearner]) -> bool:
    return issubclass(method, SparseGPSC)


def is_gp(method: type[SequenceLearner]) -> bool:
    """Whether the models of a method are Gaussian processes."""
    return is_dense_gp(method) or is_sparse_gp(method)


def sparse_path(learner: SparseGPSC) -> list[dict]:
    """A row for each recorded part of the way, as in `path_`: how many coordinates there were, as a share of the training
    positions (`fraction`), the objective, accuracies (dev: None if not followed), the share of positions whose observation
    was touched, and label pairs for each of these observations.
    """
    name = type(learner).__name__
    require(is_sparse_gp(type(learner)), f"{name} takes no coordinates one by one; choose SparseGPSC")
    learner.fitted_model()
    rows = learner.path_.to_dict("records")
    return [{column: _number(row.get(column)) for column in PATH_COLUMNS} for row in rows]


def certificate_rows(learner: GPSC) -> list[dict]:
    """A row per iteration: the objective is at most `gap` above the minimum; `relative_gap` is that over the objective."""
    name = type(learner).__name__
    require(is_dense_gp(type(learner)), f"{name} has no certificate by iteration; choose GPSC")
    learner.fitted_model()
    rows = []
    for row in learner._history_rows:
        objective, gap = row["objective"], _number(row.get("gap"))
        relative = gap / objective if gap is not None and objective > 0.0 else gap
        values = (row["iteration"], objective, gap, relative, row["seconds"])
        rows.append(dict(zip(CERTIFICATE_COLUMNS, values)))
    return rows


def same_problem(one: SequenceLearner, other: SequenceLearner) -> bool:
    """Whether two models minimise one objective, so that its values can be compared."""
    names = ("kernel", "l2", "eta", "constraints")
    return all(getattr(one, name) == getattr(other, name) for name in names)


def nearly_as_good(path: Sequence[dict], accuracy: float, score: str, within: float = 0.01) -> dict | None:
    """The first row of a path that is at most `within` below an accuracy; None if there is none."""
    return next((row for row in path if row[score] is not None and row[score] >= accuracy - within), None)


def rows_csv(models: Mapping[str, Sequence[dict]], columns: Sequence[str], **about: object) -> str:
    """Rows of several models as CSV text; `about` are columns before them that say the same in each row, such as the run."""
    cells = (
        (*about.values(), name, *(row[column] for column in columns)) for name, rows in models.items() for row in rows
    )
    return csv_text([*about, "model", *columns], cells)


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value
