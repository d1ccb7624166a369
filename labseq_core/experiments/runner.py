"""Running a configuration: methods and folds as independent tasks, each giving a row of numbers and its predictions."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from labseq_core.data.catalogue import dataset_info, load_dataset
from labseq_core.data.sequences import Sequences
from labseq_core.data.splitting import k_folds
from labseq_core.evaluation import evaluate
from labseq_core.experiments.config import ExperimentConfig, FeatureChoice
from labseq_core.features import EncodedSequences
from labseq_core.learners.base import SequenceLearner
from labseq_core.learners.registry import make_learner, method_options
from labseq_core.learners.search import search
from labseq_core.solvers.history import Progress

N_EXAMPLES = 30  # test sequences whose labellings are kept to look at
Report = Callable[[Progress], bool | None]


@dataclass(frozen=True)
class Task:
    """One method on one fold."""

    label: str
    method: int  # its place in the configuration
    fold: int


@dataclass(frozen=True)
class TaskResult:
    row: dict
    truth: list[list[str]]
    predicted: list[list[str]]
    tokens: list[list[str]]
    learner: SequenceLearner
    tried: list[dict]  # by a search: values, score on the development data, seconds


class Cancelled(Exception):
    """The caller asked to stop; what was finished before is kept."""


def tasks_of(config: ExperimentConfig) -> list[Task]:
    """Fold by fold, so that the features of a fold are made once for all methods."""
    folds = range(max(1, config.folds))
    return [Task(choice.label, place, fold) for fold in folds for place, choice in enumerate(config.methods)]


def run_task(config: ExperimentConfig, task: Task, report: Report) -> TaskResult:
    """Train and test one method on one fold. `report(progress)` returning False raises `Cancelled`."""
    choice = config.methods[task.method]
    parts = _prepare(config, task.fold)
    train, test = parts.train, parts.test
    options = dict(choice.options)
    if "seed" in method_options(choice.method):
        options.setdefault("seed", config.seed)
    learner = make_learner(choice.method, **options)
    cancelled = False

    def callback(progress: Progress) -> bool:
        nonlocal cancelled
        cancelled = report(progress) is False
        return not cancelled

    begin, tried = time.perf_counter(), []
    if choice.search:
        found = search(learner, choice.grid(), parts.encoded, train.labels, dev=parts.dev, callback=callback)
        learner, tried = found.learner, [_plain(choice.method, row) for row in found.table]
        options |= _plain(choice.method, found.best)
    else:
        dev = parts.dev if choice.watches_development else None
        learner.fit(parts.encoded, train.labels, dev=dev, callback=callback)
    trained = time.perf_counter()
    if cancelled:
        raise Cancelled
    predicted = learner.predict(parts.encoded_test)
    done = time.perf_counter()
    row = {
        "config_hash": config.hash,
        "dataset": config.dataset,
        "features": config.features.label,
        "label": choice.label,
        "method": choice.method,
        "options": json.dumps(options, sort_keys=True),
        "fold": task.fold,
        "seed": config.seed,
        **evaluate(test.labels, predicted).summary(),
        "train_seconds": trained - begin,
        "predict_seconds": done - trained,
        "n_train_tokens": train.n_tokens,
        "n_attributes": parts.encoded.n_attributes,
        "n_parameters": learner.n_parameters_,
    }
    return TaskResult(row, test.labels, predicted, test.tokens, learner, tried)


def _plain(method: str, values: dict) -> dict:
    """Options as JSON has them; other entries as they are."""
    specs = method_options(method)
    return {name: specs[name].plain(value) if name in specs else value for name, value in values.items()}


@dataclass(frozen=True)
class _Parts:
    train: Sequences
    test: Sequences
    dev: Sequences | None  # none within cross-validation, which keeps to the training part
    encoded: EncodedSequences  # of train
    encoded_test: EncodedSequences


def training_data(config: ExperimentConfig, fold: int = 0) -> tuple[EncodedSequences, list[list[str]]]:
    """What the methods of a run were trained on: features and labels."""
    parts = _prepare(config, fold)
    return parts.encoded, parts.train.labels


def training_tokens_of(config: ExperimentConfig, fold: int = 0) -> list[list[str]]:
    """The words of the same sequences."""
    return _prepare(config, fold).train.tokens


def scored_part(config: ExperimentConfig, fold: int = 0) -> Sequences:
    """What the models of a fold are scored on."""
    return _split(config.dataset, config.folds, config.seed, fold)[2]


def development_part(config: ExperimentConfig) -> Sequences | None:
    """What some methods are followed on; none within cross-validation."""
    return _split(config.dataset, config.folds, config.seed, 0)[1]


def _prepare(config: ExperimentConfig, fold: int) -> _Parts:
    """Parts and features of a fold; kept for the next method on the same fold."""
    return _prepare_once(config.dataset, config.features, config.folds, config.seed, fold)


@lru_cache(maxsize=1)
def _prepare_once(name: str, features: FeatureChoice, folds: int, seed: int, fold: int) -> _Parts:
    train, dev, test = _split(name, folds, seed, fold)
    template = features.make()
    encoded = template.encode(train)
    return _Parts(train, test, dev, encoded, template.encode(test, encoded.vocabulary))


def _split(name: str, folds: int, seed: int, fold: int) -> tuple[Sequences, Sequences | None, Sequences]:
    """Training, development and test part, without columns that restate the label."""
    dataset = load_dataset(name)
    answers = dataset_info(name).answer_columns
    train, dev, test = (part.without_columns(answers) for part in (dataset.train, dataset.dev, dataset.test))
    if not folds:
        return train, dev, test
    inside, outside = k_folds(len(train), folds, seed)[fold]
    return train.select(inside), None, train.select(outside)


def data_hash(dataset: str) -> str:
    """12 hex digits of the words, labels and columns of a corpus."""
    digest = hashlib.sha256()
    corpus = load_dataset(dataset)
    for part in (corpus.train, corpus.dev, corpus.test):
        digest.update(part.offsets.tobytes())
        for column in (part.flat_tokens, part.flat_labels or [], *part.flat_columns.values()):
            digest.update("\n".join(map(str, column)).encode())
    return digest.hexdigest()[:12]


def collect(results: list[TaskResult]) -> dict:
    """Rows of all tasks, and per method what its predictions on all folds say together."""
    collected: dict = {"rows": [result.row for result in results], "per_label": {}, "confusion": {}, "examples": []}
    collected["searches"] = [
        {"label": result.row["label"], "fold": result.row["fold"], **row} for result in results for row in result.tried
    ]
    for label in dict.fromkeys(result.row["label"] for result in results):
        own = [result for result in results if result.row["label"] == label]
        truth = [labels for result in own for labels in result.truth]
        predicted = [labels for result in own for labels in result.predicted]
        evaluation = evaluate(truth, predicted)
        names = ("label", "precision", "recall", "f1", "support")
        collected["per_label"][label] = [
            {name: getattr(score, name) for name in names} for score in evaluation.per_label
        ]
        counts = evaluation.confusion
        collected["confusion"][label] = {"labels": list(counts.labels), "counts": counts.counts.tolist()}
        for place, tokens in enumerate(own[0].tokens[:N_EXAMPLES]):
            if place == len(collected["examples"]):
                collected["examples"].append({"tokens": tokens, "truth": own[0].truth[place], "predictions": {}})
            collected["examples"][place]["predictions"][label] = own[0].predicted[place]
    return collected
