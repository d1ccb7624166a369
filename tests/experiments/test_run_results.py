"""Means over folds, and what is timed."""

from __future__ import annotations

import math
from dataclasses import replace

from labseq_core.evaluation.metric import Metric
from labseq_core.evaluation.registry import METRICS
from labseq_core.experiments import default_results
from labseq_core.experiments.results.run_results import timed_metrics
from tests.outside import added

FOUND = default_results()["toy-pos"]


def mean_and_error(values: list[float | None]) -> tuple[float | None, float | None]:
    rows = [{**FOUND.rows[0], "fold": fold, "log_loss": value} for fold, value in enumerate(values)]
    (summary,) = replace(FOUND, rows=rows).summary()
    return summary["log_loss_mean"], summary["log_loss_se"]


def test_means_over_folds_and_their_standard_errors():
    assert mean_and_error([1.0, 3.0]) == (2.0, 1.0)
    assert mean_and_error([1.0, None]) == (1.0, None)
    assert mean_and_error([None, None]) == (None, None)
    assert mean_and_error([math.inf, 1.0]) == (math.inf, None), "no error of what is not finite"


def test_a_metric_that_is_timed_is_no_score_whenever_it_comes():
    joules = Metric("joules", "Joules", "energy", "timing", of=lambda timing: 1.0, share=False)
    rows = [{**FOUND.rows[0], "joules": 3.0}]
    with added(METRICS, joules):
        assert "joules" in timed_metrics()
        assert "joules" not in replace(FOUND, rows=rows).scores()[0]
        assert "joules" in replace(FOUND, rows=rows).times_csv().splitlines()[0]
    assert "joules" not in timed_metrics()
