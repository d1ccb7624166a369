"""What the absolute penalty does: models of a run that differ in `l1` only, as a path from many weights to few."""

from __future__ import annotations

from dataclasses import replace

from labseq_core.experiments.plan.variant import MethodChoice
from labseq_core.experiments.results.run_results import RunResult
from labseq_core.learners.registry import method_options

PATH_SCORES = ("accuracy", "span_f1")
L1_COLUMNS = (
    "l1",
    "nonzero",
    "share",
    "parameters",
    "dev_accuracy",
    *(f"{s}{e}" for s in PATH_SCORES for e in ("", "_se")),
)


def l1_groups(run: RunResult) -> dict[str, list[MethodChoice]]:
    """By a name for what the variants share: those that differ in l1 only, smallest l1 first; two values at least."""
    groups: dict[str, list[MethodChoice]] = {}
    known = {row["label"] for row in run.summary() if row["used_share_mean"] is not None}
    for choice in run.config.methods:
        if "l1" in method_options(choice.method) and "l1" not in choice.tried and choice.label in known:
            rest = {name: value for name, value in choice.options.items() if name != "l1"}
            groups.setdefault(replace(choice, options=rest).label, []).append(choice)
    return {name: sorted(choices, key=_l1) for name, choices in groups.items() if len(choices) > 1}


def l1_paths(run: RunResult) -> dict[str, list[dict]]:
    """By a name for what the models share: a row per value of l1, smallest first. Empty without two values to compare.

    nonzero: weights other than 0, on average over folds; share: of all weights, `parameters`.
    """
    summary = {row["label"]: row for row in run.summary()}
    return {
        name: [_row(_l1(choice), summary[choice.label]) for choice in choices]
        for name, choices in l1_groups(run).items()
    }


def _l1(choice: MethodChoice) -> float:
    return float(choice.options.get("l1", method_options(choice.method)["l1"].default))


def _row(l1: float, row: dict) -> dict:
    share, parameters = row["used_share_mean"], row["n_parameters_mean"]
    known = {"l1": l1, "nonzero": share * parameters, "share": share, "parameters": parameters}
    scores = {f"{score}{end}": row[f"{score}{end or '_mean'}"] for score in PATH_SCORES for end in ("", "_se")}
    return {**known, "dev_accuracy": row["dev_accuracy_mean"], **scores}
