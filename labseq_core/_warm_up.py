"""Tiny problems that make every compiled routine once, for `_jit.warm_up`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from labseq_core._jit import parallel_from
from labseq_core.chain import ChainPotentials, forward_backward, k_best, max_marginals, path_scores, viterbi
from labseq_core.features import FeatureTemplate
from labseq_core.learners.registry import METHODS, make_learner, method_options

WORDS = [["Ana", "lives", "in", "Lima", "."], ["It", "rains"]]
LABELS = [["B", "O", "O", "B", "O"], ["O", "O"]]


def _chain() -> None:
    offsets = np.array([0, 2, 3])
    potentials = ChainPotentials(np.zeros(2), np.zeros((3, 2)), np.zeros((2, 2)), np.zeros(2), offsets)
    for routine in (forward_backward, viterbi, max_marginals):
        routine(potentials)
    k_best(potentials, 2)
    path_scores(potentials, np.zeros(3, dtype=np.int64))


def _columns() -> None:
    FeatureTemplate("prosody").encode(WORDS)


def _learner(method_id: str) -> None:
    encoded = FeatureTemplate("S3").encode(WORDS)
    make_learner(method_id).fit(encoded, LABELS).predict(WORDS)
    if "kernel" in method_options(method_id):
        for kernel, route in (("poly:2", "explicit"), ("rbf:1", "gram")):
            make_learner(method_id, kernel=kernel, route=route).fit(encoded, LABELS).predict(WORDS)


def _with_both_twins(step: Callable[[], None]) -> Callable[[], None]:
    """Batch routines have a serial twin, which small problems get, and a parallel one."""

    def run() -> None:
        step()
        with parallel_from(0):
            step()

    return run


def steps(methods: Iterable[str] | None, parallel: bool) -> list[tuple[str, Callable[[], None]]]:
    """What is compiled, and how: inference, features, and each of the methods (None: all)."""
    chosen = METHODS if methods is None else {method_id: METHODS[method_id] for method_id in methods}
    made: list[tuple[str, Callable[[], None]]] = [
        ("inference on chains", _chain),
        ("features from columns", _columns),
    ]
    made += [(method.title, lambda method_id=method_id: _learner(method_id)) for method_id, method in chosen.items()]
    return [(title, _with_both_twins(step) if parallel else step) for title, step in made]
