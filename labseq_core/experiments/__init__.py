"""Experiments: what to run, running it in processes of its own, and what was found."""

from labseq_core.experiments.plan.config import ExperimentConfig
from labseq_core.experiments.plan.variant import FeatureChoice, MethodChoice
from labseq_core.experiments.results.predictions import Predictions
from labseq_core.experiments.results.run_results import RunResult, default_results, write_default
from labseq_core.experiments.run.status import RunStatus, RunSummary, TaskStatus
from labseq_core.experiments.service import (
    cancel,
    comparisons,
    configuration,
    count_runs,
    delete,
    is_current,
    list_runs,
    made_with,
    model,
    notices,
    pin,
    predictions,
    result,
    resume,
    resume_interrupted,
    run_datasets,
    status,
    submit,
    summary,
)
from labseq_core.experiments.store.run_archive import export_run
from labseq_core.experiments.store.run_import import import_run

__all__ = [
    "ExperimentConfig", "FeatureChoice", "MethodChoice", "Predictions", "RunResult", "RunStatus", "RunSummary",
    "TaskStatus", "cancel", "comparisons", "configuration", "count_runs", "default_results", "delete", "export_run",
    "import_run", "is_current", "list_runs", "made_with", "model", "notices", "pin", "predictions", "result", "resume",
    "resume_interrupted", "run_datasets", "status", "submit", "summary", "write_default",
]  # fmt: skip
