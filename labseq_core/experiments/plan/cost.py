"""What a run will cost, before it is begun: the size of its data, and what each of its methods says of its own cost."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from labseq_core.data.catalogue import dataset_info, load_dataset
from labseq_core.data.sequences import Sequences
from labseq_core.experiments.plan.config import ExperimentConfig
from labseq_core.experiments.plan.tasks import points_of
from labseq_core.experiments.plan.variant import FeatureChoice, MethodChoice
from labseq_core.features import EncodedSequences
from labseq_core.learners.cost import GROWTH, DataSize
from labseq_core.learners.registry import find_method

SAMPLE, SAMPLE_TOKENS = 400, 100_000  # sequences from which the kind of a corpus is known, and tokens of them at most
START_SECONDS = 2.5  # a process, its imports, the corpus, routines that were compiled before
TASK_SECONDS = 0.2  # features, labelling, scoring, saving
BASE_MEGABYTES = 250.0  # of a process that has done nothing yet


@dataclass(frozen=True)
class Cost:
    """Of a whole run on this machine."""

    seconds: float
    megabytes: float  # of the largest training
    by_label: dict[str, float]  # seconds of training, all folds and all values of a search


def expected_cost(config: ExperimentConfig, workers: int | None = None) -> Cost:
    """workers: how many trainings go on at a time; usually as many as the local executor has."""
    folds = max(1, config.folds)
    by_label, megabytes, n_tasks = {}, 0.0, 0
    for choice in config.methods:
        part = _training_size(config, choice)
        tried = [replace(choice, options={**choice.options, **point}, search={}) for point in points_of(choice)]
        fits = [*tried, *(tried[-1:] if config.folds else [])] or [choice]
        costs = [fit_cost(fit, part) for fit in fits]
        by_label[choice.label] = folds * sum(seconds for seconds, _ in costs)
        megabytes = max(megabytes, *(needed for _, needed in costs))
        n_tasks += folds * len(fits)
    workers = min(workers or max(1, (os.cpu_count() or 1) - 1), n_tasks)
    seconds = START_SECONDS + (sum(by_label.values()) + n_tasks * TASK_SECONDS) / workers
    return Cost(seconds, BASE_MEGABYTES + megabytes, by_label)


def _training_size(config: ExperimentConfig, choice: MethodChoice) -> DataSize:
    """Of what a variant is trained on in a fold."""
    size = data_size(config.dataset, config.features_of(choice), config.sequences)
    size = size.share((config.folds - 1) / config.folds) if config.folds else size
    few = choice.sequences and choice.sequences < size.sequences
    return size.share(choice.sequences / size.sequences) if few else size


@lru_cache(maxsize=32)
def data_size(dataset: str, features: FeatureChoice, sequences: int = 0) -> DataSize:
    """Counts of the training part; attributes are counted on its first sequences only."""
    corpus = load_dataset(dataset)
    train = corpus.train.without_columns(dataset_info(dataset).answer_columns)
    encoded = features.make().encode(_sample(train))
    n = min(sequences, len(train)) or len(train)
    tokens = int(train.offsets[n])
    more = tokens / encoded.n_positions
    return DataSize(
        n, tokens, len(corpus.labels), len(encoded.indices) / encoded.n_positions, encoded.n_attributes * more**GROWTH,
        min(_distinct(encoded) * more**GROWTH, tokens),
    )  # fmt: skip


def _sample(train: Sequences) -> Sequences:
    """The first sequences; very long ones are cut."""
    tokens = min(int(train.offsets[min(SAMPLE, len(train))]), SAMPLE_TOKENS)
    n_sequences = int(np.searchsorted(train.offsets, tokens))
    columns = {name: column[:tokens] for name, column in train.flat_columns.items()}
    return Sequences(train.flat_tokens[:tokens], np.minimum(train.offsets[: n_sequences + 1], tokens), None, columns)


def _distinct(encoded: EncodedSequences) -> int:
    """Positions that differ in their attributes, told apart by sums of random numbers."""
    marks = np.random.default_rng(0).random(encoded.n_attributes)[encoded.indices]
    marks = marks * encoded.values if encoded.values.size else marks
    sums = np.diff(np.concatenate([[0.0], np.cumsum(marks)])[encoded.indptr])
    return len(np.unique(np.round(sums, 7)))


def fit_cost(choice: MethodChoice, size: DataSize) -> tuple[float, float]:
    """Seconds and megabytes of one training."""
    method = find_method(choice.method)
    usual = {option.name: option.plain(option.default) for option in method.learner.options}
    return method.learner.cost({**usual, **method.preset, **choice.options}, size)
