"""What the absolute penalty does: models of a run that differ in `l1` only, as a path from many weights to few."""

from __future__ import annotations

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


def l1_paths(run: RunResult) -> dict[str, list[dict]]:
    """By a name for what the models share: a row per value of l1, smallest first. Empty without two values to compare.

    nonzero: weights other than 0, on average over folds; share: of all weights, `parameters`.
    """
    groups: dict[tuple, list[MethodChoice]] = {}
    for choice in run.config.methods:
        if "l1" in method_options(choice.method) and "l1" not in choice.tried:
            rest = tuple(sorted((name, str(value)) for name, value in choice.options.items() if name != "l1"))
            groups.setdefault((choice.method, rest), []).append(choice)
    summary = {row["label"]: row for row in run.summary()}
    paths = {}
    for (method, _), choices in groups.items():
        known = [choice for choice in choices if summary.get(choice.label, {}).get("used_share_mean") is not None]
        rows = sorted((_row(_l1(choice), summary[choice.label]) for choice in known), key=lambda row: row["l1"])
        if len({row["l1"] for row in rows}) > 1:
            paths[MethodChoice(method, dict(_without_l1(choices[0]))).label] = rows
    return paths


def _l1(choice: MethodChoice) -> float:
    return float(choice.options.get("l1", method_options(choice.method)["l1"].default))


def _without_l1(choice: MethodChoice) -> list[tuple]:
    return [(name, value) for name, value in choice.options.items() if name != "l1"]


def _row(l1: float, row: dict) -> dict:
    share, parameters = row["used_share_mean"], row["n_parameters_mean"]
    known = {"l1": l1, "nonzero": share * parameters, "share": share, "parameters": parameters}
    scores = {f"{score}{end}": row[f"{score}{end or '_mean'}"] for score in PATH_SCORES for end in ("", "_se")}
    return {**known, "dev_accuracy": row["dev_accuracy_mean"], **scores}
