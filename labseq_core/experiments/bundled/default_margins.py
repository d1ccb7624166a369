"""Margins of the training sequences of default results: made by `labseq defaults`, so that a page can show them at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from labseq_core.archives import load_archive, save_archive
from labseq_core.experiments.results.run_results import default_results, defaults_directory
from labseq_core.experiments.run.one_task import training_data
from labseq_core.experiments.service import model
from labseq_core.explain import Margins, margins

TRAINING_MARGINS = "training-margins"  # the name among the defaults


def make_margins(name: str) -> dict[str, Margins]:
    """By label: those of the first models of a default result, on what they were trained on."""
    run = default_results()[name]
    return {
        choice.label: margins(model(run.run_id, choice.label), *training_data(run.config, choice.label))
        for choice in run.config.methods
    }


def write_margins(name: str) -> Path:
    made = make_margins(name)
    arrays = {str(place): own.values for place, own in enumerate(made.values())}
    arrays["tokens"] = next(iter(made.values())).tokens
    norms = [{"length": own.length, "total": own.total} for own in made.values()]
    save_archive(_path(name), arrays, {"labels": list(made), "norms": norms})
    return _path(name)


def default_margins(name: str) -> dict[str, Margins]:
    """The same as they were written; empty if they have not been."""
    if not _path(name).is_file():
        return {}
    arrays, meta = load_archive(_path(name))
    tokens = arrays["tokens"].astype(np.int64)
    return {
        label: Margins(arrays[str(place)], tokens, **norms)
        for place, (label, norms) in enumerate(zip(meta["labels"], meta["norms"]))
    }


def _path(name: str) -> Path:
    return defaults_directory() / f"{name}.{TRAINING_MARGINS}.npz"
