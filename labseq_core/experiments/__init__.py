"""Experiments: what to run, running it in processes of its own, and what was found."""

from labseq_core.experiments.config import ExperimentConfig, FeatureChoice, MethodChoice
from labseq_core.experiments.results import RunResult, default_results, write_default
from labseq_core.experiments.service import (
    RunStatus,
    RunSummary,
    TaskStatus,
    cancel,
    list_runs,
    model,
    result,
    status,
    submit,
)

__all__ = [
    "ExperimentConfig", "FeatureChoice", "MethodChoice", "RunResult", "RunStatus", "RunSummary", "TaskStatus", "cancel",
    "default_results", "list_runs", "model", "result", "status", "submit", "write_default",
]  # fmt: skip
