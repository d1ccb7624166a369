"""What a run will cost, before it is begun: a plain model of the work of each method, times measured constants.

Good for "seconds or minutes?", not for more: how many iterations a fit takes depends on the data. `labseq bench cost` compares
the model with measured times.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb

import numpy as np

from labseq_core.data.catalogue import dataset_info, load_dataset
from labseq_core.experiments.plan.config import ExperimentConfig, FeatureChoice, MethodChoice
from labseq_core.experiments.plan.tasks import points_of
from labseq_core.features import EncodedSequences
from labseq_core.kernels import Linear, Polynomial, parse_kernel
from labseq_core.learners.registry import METHODS, find_method, method_options

SAMPLE = 400  # sequences from which the kind of a corpus is known
START_SECONDS = 2.5  # a process, its imports, the corpus, routines that were compiled before
TASK_SECONDS = 0.2  # features, labelling, scoring, saving
BASE_MEGABYTES = 250.0  # of a process that has done nothing yet
GROWTH = 0.8  # n times as much text has about n to this power times as many distinct attributes
_UNKNOWN = 110  # passes over the data that a method from outside is assumed to take: those of a CRF
MEGABYTE, GIBIBYTE = 2**20, 2**30


@dataclass(frozen=True)
class DataSize:
    """What the cost of a training depends on."""

    sequences: int
    tokens: int
    labels: int
    attributes: float  # of a token
    vocabulary: float  # distinct attributes
    observations: float  # distinct ones: tokens with the same attributes count once

    def share(self, part: float) -> DataSize:
        """Of a part of the data."""
        return replace(
            self, sequences=round(self.sequences * part), tokens=round(self.tokens * part),
            vocabulary=self.vocabulary * part**GROWTH, observations=self.observations * part,
        )  # fmt: skip


@dataclass(frozen=True)
class Cost:
    """Of a whole run on this machine."""

    seconds: float
    megabytes: float  # of the largest training
    by_label: dict[str, float]  # seconds of training, all folds and all values of a search


def expected_cost(config: ExperimentConfig, workers: int | None = None) -> Cost:
    """workers: how many trainings go on at a time; usually as many as the local executor has."""
    whole = data_size(config.dataset, config.features, config.sequences)
    folds = max(1, config.folds)
    part = whole.share((folds - 1) / folds) if config.folds else whole
    by_label, megabytes, n_tasks = {}, 0.0, 0
    for choice in config.methods:
        tried = [replace(choice, options={**choice.options, **point}, search={}) for point in points_of(choice)]
        fits = [*tried, *(tried[-1:] if config.folds else [])] or [choice]
        costs = [fit_cost(fit, part) for fit in fits]
        by_label[choice.label] = folds * sum(seconds for seconds, _ in costs)
        megabytes = max(megabytes, *(needed for _, needed in costs))
        n_tasks += folds * len(fits)
    workers = min(workers or max(1, (os.cpu_count() or 1) - 1), n_tasks)
    seconds = START_SECONDS + (sum(by_label.values()) + n_tasks * TASK_SECONDS) / workers
    return Cost(seconds, BASE_MEGABYTES + megabytes, by_label)


@lru_cache(maxsize=32)
def data_size(dataset: str, features: FeatureChoice, sequences: int = 0) -> DataSize:
    """Counts of the training part; attributes are counted on its first sequences only."""
    corpus = load_dataset(dataset)
    train = corpus.train.without_columns(dataset_info(dataset).answer_columns)
    encoded = features.make().encode(train.select(range(min(SAMPLE, len(train)))))
    n = min(sequences, len(train)) or len(train)
    tokens = int(train.offsets[n])
    more = tokens / encoded.n_positions
    return DataSize(
        n, tokens, len(corpus.labels), len(encoded.indices) / encoded.n_positions, encoded.n_attributes * more**GROWTH,
        min(_distinct(encoded) * more**GROWTH, tokens),
    )  # fmt: skip


def _distinct(encoded: EncodedSequences) -> int:
    """Positions that differ in their attributes, told apart by sums of random numbers."""
    marks = np.random.default_rng(0).random(encoded.n_attributes)[encoded.indices]
    marks = marks * encoded.values if encoded.values.size else marks
    sums = np.diff(np.concatenate([[0.0], np.cumsum(marks)])[encoded.indptr])
    return len(np.unique(np.round(sums, 7)))


def fit_cost(choice: MethodChoice, size: DataSize) -> tuple[float, float]:
    """Seconds and megabytes of one training."""
    method = find_method(choice.method)
    options = {name: option.plain(option.default) for name, option in method_options(method.id).items()}
    options |= {**method.preset, **choice.options}
    base = method.learner.method_id
    if base in _KERNEL_METHODS:
        seconds, megabytes = _kernel_cost(base, options, size)
        return _TIMES_BASE.get(method.id, 1.0) * seconds, megabytes
    if METHODS.source_of(method.id):  # nobody has measured it
        options = {**options, "max_iter": _UNKNOWN}
        work, constant = _MODELS["crf"]
    else:
        work, constant = _MODELS.get(method.id) or _MODELS[base]
    return constant * work(options, size), _weights_megabytes(size.vocabulary, size)


# Work, in units whose seconds are below. T tokens, A attributes of a token, S labels.


def _counting(options: dict, size: DataSize) -> float:
    return size.tokens * (size.attributes + 10)


def _one_pass(size: DataSize, entries: float | None = None) -> float:
    """T (150 + A S + S²): scores, and sums or maxima over pairs of labels, at each position."""
    return size.tokens * (150 + (entries or size.attributes) * size.labels + size.labels**2)


def _gradients(usual: int) -> Callable[[dict, DataSize], float]:
    """Passes of a minimiser, which usually stops after so many iterations; with an L1 penalty it hardly ever does before."""

    def work(options: dict, size: DataSize) -> float:
        iterations = options["max_iter"] if options.get("l1") else min(usual, options["max_iter"])
        return (1 + options.get("restarts", 0)) * iterations * _one_pass(size)

    return work


def _epochs(options: dict, size: DataSize) -> float:
    return options["epochs"] * _one_pass(size)


def _rounds(options: dict, size: DataSize) -> float:
    """A boosting round looks at all features, and repeats inference where the chosen one fires; an exact step several times."""
    step = {"exact": 1.0}.get(options["bound"], 0.6)
    return options["rounds"] * step * size.tokens * (600 + size.attributes * size.labels + size.labels**2)


# Seconds for a unit of work.
_MODELS: dict[str, tuple[Callable[[dict, DataSize], float], float]] = {
    "hmm": (_counting, 2e-8),
    "naive-bayes": (_counting, 5e-8),
    "maxent": (_gradients(80), 3e-9),
    "crf": (_gradients(110), 2e-9),
    "crf-marginal": (_gradients(60), 4e-9),
    "crf-marginal-exp": (_gradients(170), 4e-9),
    "exp": (_gradients(220), 8e-9),
    "perceptron": (_epochs, 1e-9),
    "boost": (_rounds, 5e-10),
    "logitboost": (_rounds, 5e-10),
    "adaboost-mr": (_rounds, 3e-10),
    "viterbi-boost": (_rounds, 3e-10),
}


def _weights_megabytes(features: float, size: DataSize) -> float:
    """What a minimiser keeps of each weight, and what is known of each position."""
    return (features * size.labels * 24 * 8 + size.tokens * (8 * size.labels**2 + 12 * size.attributes)) / MEGABYTE


# Methods with kernels. N distinct observations; E entries of a token under the features that the kernel stands for.

_KERNEL_METHODS = ("dual-perceptron", "hmsvm", "gps", "sgps")
_TIMES_BASE = {"gps-newton": 1.0, "sgps-sequence": 1.0}  # variants, beside the method that they are one of
_RANK = 500  # of low-rank Gaussian processes
# Features are written down where so many times the entries of a token are fewer than the observations.
_TIMES_ENTRIES = {"dual-perceptron": 190, "hmsvm": 30, "gps": 14, "sgps": 14}


def _kernel_cost(method: str, options: dict, size: DataSize) -> tuple[float, float]:
    """By the route that the method would choose itself, as far as it fits into memory."""
    entries = _entries(str(options["kernel"]), size)
    room = options["memory"] * GIBIBYTE / MEGABYTE
    routes = {}
    if entries is not None and options["route"] in ("auto", "explicit"):
        features = max(size.vocabulary, min(size.vocabulary**2 / 2, 0.1 * entries * size.tokens))
        needed = _weights_megabytes(features, size) + 12 * entries * size.tokens / MEGABYTE
        routes["explicit"] = _EXPLICIT[method](options, size, entries), needed
    if options["route"] in ("auto", "gram"):
        needed = size.observations * (4 * size.observations + 200) / MEGABYTE
        # Without room for all kernel values these are made again and again; Gaussian processes then take another route.
        routes["gram"] = _GRAM[method](options, size) * max(1.0, needed / room), min(needed, room)
    linear = entries == size.attributes
    if entries is not None and len(routes) == 2 and not linear and _TIMES_ENTRIES[method] * entries > size.observations:
        del routes["explicit"]
    fitting = {route: cost for route, cost in routes.items() if cost[1] < room}
    if method == "gps" and (options["route"] == "low-rank" or options["rank"] or not fitting):
        rank = options["rank"] or min(_RANK, size.observations, room * MEGABYTE / (16 * size.observations))
        return _low_rank(options, size, rank), 16 * size.observations * rank / MEGABYTE
    return next(iter((fitting or routes).values()))


def _entries(kernel: str, size: DataSize) -> float | None:
    """Features of a token under a simple kernel, if it has any that can be written down."""
    made = parse_kernel(kernel)
    if made == Linear():
        return size.attributes
    if isinstance(made, Polynomial):
        return float(sum(comb(round(size.attributes), k) for k in range(made.degree + 1)))
    return None


def _low_rank(options: dict, size: DataSize, rank: float) -> float:
    return 2e-9 * size.observations * rank * (rank / 4 + _gp_iterations(options) * size.labels)


def _gp_iterations(options: dict) -> int:
    usual = {"linear": 30, "rbf": 150}.get(str(options["kernel"]).partition(":")[0], 60)
    return min(usual, options["max_iter"])


def _sparse(options: dict, size: DataSize) -> float:
    """Coordinates are taken one sequence after the other; what is known of them grows with the observations."""
    taken = options["coordinates"] or options["fraction"] * size.tokens
    return 1.1e-3 * (taken * size.tokens) ** 0.5 + 3e-8 * taken * size.observations * size.labels


_EXPLICIT: dict[str, Callable[[dict, DataSize, float], float]] = {
    "dual-perceptron": lambda options, size, entries: 1e-9 * options["epochs"] * _one_pass(size, entries),
    "hmsvm": lambda options, size, entries: 5e-5 * size.tokens * (1 + entries / 20),
    "gps": lambda options, size, entries: 2e-9 * _gp_iterations(options) * _one_pass(size, entries),
    "sgps": lambda options, size, entries: _sparse(options, size),
}
_GRAM: dict[str, Callable[[dict, DataSize], float]] = {
    "dual-perceptron": lambda options, size: 3.5e-9 * options["epochs"] * size.tokens * (1000 + size.observations / 10),
    "hmsvm": lambda options, size: 1.8e-7 * size.tokens * (2000 + size.observations),
    "gps": lambda options, size: (
        5e-9 * size.observations**2
        + _gp_iterations(options) * (2e-10 * size.labels * size.observations**2 + 2e-9 * _one_pass(size))
    ),
    "sgps": lambda options, size: _sparse(options, size),
}
