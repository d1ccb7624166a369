"""What the server loads before the first visitor comes: all parts of all pages, and the first chart."""

from __future__ import annotations

import importlib
import pkgutil

import pages.ui
from labseq_core.experiments import default_results
from pages.ui import cached
from pages.ui.drawing import charts


def load() -> None:
    for module in pkgutil.walk_packages(pages.ui.__path__, "pages.ui."):
        importlib.import_module(module.name)


def draw_first_chart() -> None:
    """Into the memory of charts: plotly loads much at its first."""
    for run in list(default_results().values())[:1]:
        charts.score_bars(run.summary(), cached.bayes_accuracies(run.config))
