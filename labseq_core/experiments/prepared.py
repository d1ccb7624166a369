"""What pages would have to compute from the models of a default result, computed beforehand.

A visitor of a new installation, where nothing is compiled yet, would otherwise wait for a minute before the first picture.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from labseq_core.evaluation import token_accuracy, top_labels
from labseq_core.experiments.config import ExperimentConfig
from labseq_core.experiments.results import defaults_directory
from labseq_core.experiments.runner import development_part, scored_part
from labseq_core.explain import Answers, answers, is_dense_gp
from labseq_core.learners.base import SequenceLearner
from labseq_core.persistence import load_archive, save_archive

PREPARED = ("abstention", "sparseness")  # the default results of pages that ask models


def write_prepared(name: str, config: ExperimentConfig, models: Mapping[str, SequenceLearner]) -> Path | None:
    """Ask the models of a default result and keep their answers; None for one whose page does not ask."""
    if name not in PREPARED:
        return None
    test, dev = scored_part(config), development_part(config)
    arrays = {"lengths": test.lengths}
    meta: dict = {"classes": {}, "dev_accuracy": {}, "places": {}}
    for place, (label, learner) in enumerate(models.items()):
        given = answers(learner, test)
        meta["places"][label], meta["classes"][label] = place, given.classes
        if given.marginals is not None:
            arrays[f"marginals_{place}"] = np.concatenate(given.marginals)
        else:
            code = {each: number for number, each in enumerate(given.classes)}
            arrays[f"predicted_{place}"] = np.array([code[each] for row in given.predicted for each in row])
            arrays[f"confidence_{place}"] = np.concatenate(given.confidence)
        if dev is not None and is_dense_gp(type(learner)):
            meta["dev_accuracy"][label] = token_accuracy(dev.labels, learner.predict(dev))
    path = _path(name)
    save_archive(path, arrays, meta)
    return path


def prepared_answers(run_id: str, label: str) -> Answers | None:
    """What the model of a default result says of the test part; None if that was not prepared."""
    found = _read(run_id)
    if found is None or label not in found[1]["places"]:
        return None
    arrays, meta = found
    place, classes = meta["places"][label], meta["classes"][label]
    cuts = np.cumsum(arrays["lengths"])[:-1]
    if f"marginals_{place}" in arrays:
        marginals = np.split(arrays[f"marginals_{place}"], cuts)
        return Answers(*top_labels(marginals, classes), marginals, classes)
    names = np.array(classes, dtype=object)[arrays[f"predicted_{place}"]]
    predicted = [row.tolist() for row in np.split(names, cuts)]
    return Answers(predicted, np.split(arrays[f"confidence_{place}"], cuts), None, classes)


def prepared_dev_accuracy(run_id: str, label: str) -> float | None:
    """Token accuracy of a dense Gaussian process on the development part; None if that was not prepared."""
    found = _read(run_id)
    return None if found is None else found[1]["dev_accuracy"].get(label)


def _path(name: str) -> Path:
    return defaults_directory() / f"{name}.answers.npz"


def _read(run_id: str) -> tuple[dict[str, np.ndarray], dict] | None:
    name = run_id.removeprefix("default:")
    known = run_id.startswith("default:") and name in PREPARED and _path(name).is_file()
    return load_archive(_path(name)) if known else None
