"""Margins of the training sequences of default results: made by `labseq defaults`, so that a page can show them at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from labseq_core.archives import MOST_TOKENS, LoadedArrays, load_archive, names_in, save_archive
from labseq_core.checks import require
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
    arrays, meta = load_archive(_path(name), "margins", f"run 'labseq defaults {name}'")
    return restored_margins(LoadedArrays(arrays), meta)


def restored_margins(loaded: LoadedArrays, meta: dict) -> dict[str, Margins]:
    """From what `write_margins` writes: a margin of each model for each sequence, and two lengths of each model."""
    labels, norms = names_in(meta, "labels"), meta.get("norms")
    fits = isinstance(norms, list) and len(norms) == len(labels) and all(map(_are_lengths, norms))
    require(fits, "norms are no two lengths for each label")
    tokens = loaded.indices("tokens", below=MOST_TOKENS)
    restored = {}
    for place, (label, lengths) in enumerate(zip(labels, norms)):
        values = loaded.floats(str(place), tokens.size, infinite=True)
        require(not np.isnan(values).any(), f"{place} has margins that are no numbers")
        restored[label] = Margins(values, tokens, **lengths)
    loaded.require_all_taken("margins")
    return restored


def _are_lengths(norms: object) -> bool:
    if not isinstance(norms, dict) or set(norms) != {"length", "total"}:
        return False
    return all(value is None or (isinstance(value, float) and 0.0 <= value < np.inf) for value in norms.values())


def _path(name: str) -> Path:
    return defaults_directory() / f"{name}.{TRAINING_MARGINS}.npz"
