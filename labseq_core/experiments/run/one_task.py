"""One task of a configuration: train, test, and everything that is worth keeping of it."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from labseq_core.chain import ChainPotentials
from labseq_core.checks import LabSeqError
from labseq_core.data.catalogue import dataset_info, load_dataset
from labseq_core.data.label_noise import with_label_noise
from labseq_core.data.sequences import Sequences
from labseq_core.data.splitting import k_folds
from labseq_core.evaluation import fit_temperature, marginals_at
from labseq_core.evaluation.calibration import Probabilities
from labseq_core.evaluation.label_pairs import LabelPairs, pair_up
from labseq_core.evaluation.registry import Tested
from labseq_core.evaluation.resources import ModelSize, Timing
from labseq_core.evaluation.token import confusion_of
from labseq_core.experiments.plan.config import ExperimentConfig
from labseq_core.experiments.plan.tasks import Task, points_of
from labseq_core.experiments.plan.variant import FeatureChoice, MethodChoice
from labseq_core.experiments.results.predictions import Predictions, archive_bytes
from labseq_core.experiments.run.live_accuracy import LiveAccuracy
from labseq_core.experiments.run.memory import peak_megabytes, reset_peak
from labseq_core.explain.confidence import Answers, answers
from labseq_core.explain.sparsity import used_of, used_share
from labseq_core.features import EncodedSequences
from labseq_core.learners.base import SequenceLearner
from labseq_core.learners.registry import make_learner, method_options
from labseq_core.learners.search import held_out, search_score
from labseq_core.progress import Progress

N_EXAMPLES = 30  # test sequences whose labellings are kept to look at
Report = Callable[[Progress], bool | None]


@dataclass(frozen=True, eq=False)
class TaskOutcome:
    """What one task found. `facts` is JSON; of a search, a combination within cross-validation has only `tried`, and so has one
    that was beaten.
    """

    facts: dict  # data_hash, and as far as there are: row, tried, confusion, examples
    blobs: dict[str, bytes] = field(default_factory=dict)  # "predictions", and of the first fold "model"

    @property
    def row(self) -> dict | None:
        return self.facts.get("row")

    @property
    def tried(self) -> dict | None:
        return self.facts.get("tried")

    def beaten(self) -> TaskOutcome:
        """What is kept of a combination that cannot be the best any more: how good it was, and how long it took."""
        return TaskOutcome({name: self.facts[name] for name in ("data_hash", "tried")})


class Cancelled(Exception):
    """The caller asked to stop; what was finished before is kept."""


def run_task(config: ExperimentConfig, task: Task, report: Report, chosen: int | None = None) -> TaskOutcome:
    """Train and test one method on one fold. `report(progress)` returning False raises `Cancelled`.

    chosen: the combination that a search found to be best, for the task that trains with it.
    """
    choice = config.methods[task.method]
    point = task.point if task.point is not None else chosen
    values = {} if point is None else points_of(choice)[point]
    parts = _prepare(config, choice, task.fold)
    learner = _made(choice, {**choice.options, **values}, config.seed)
    reset_peak()
    if task.point is not None and parts.dev is None:
        return TaskOutcome(
            {"data_hash": data_hash_of(config), "tried": _held_out_score(learner, choice, values, parts, report)}
        )
    fit = _Fit(learner, report, choice.decoding)
    watched = parts.dev if choice.watches_development else None
    fit.run(parts.encoded, parts.train.labels, parts.held_out, dev=watched)
    facts, development, dev_scores = {"data_hash": data_hash_of(config)}, None, None
    if parts.dev is not None:
        dev_scores = learner._batch(parts.encoded_dev)
        predicted = learner._predict_by(lambda encoded: dev_scores, parts.encoded_dev, choice.decoding)
        fit.end(predicted)
        development = pair_up(parts.dev.labels, predicted)
        if task.point is not None:
            facts["tried"] = {**values, "score": search_score(parts.dev.labels, predicted), "seconds": fit.seconds}
    return _tested(config, task, fit, parts, facts, development, dev_scores)


def _made(choice: MethodChoice, options: dict, seed: int) -> SequenceLearner:
    """The learner with these options; the seed of the run goes to those that have one."""
    if "seed" in method_options(choice.method):
        options = {"seed": seed, **options}
    return make_learner(choice.method, **options)


class _Fit:
    """A fit seen from outside: tells how far it is and how accurate, and raises `Cancelled` out of it when asked to stop."""

    def __init__(self, learner: SequenceLearner, report: Report, decode: str):
        self.learner, self.report, self.decode = learner, report, decode
        self.seconds = 0.0  # that training took
        self._last: Progress | None = None

    def run(
        self,
        encoded: EncodedSequences,
        labels: list[list[str]],
        held_out: tuple[EncodedSequences, list[list[str]]],
        dev: Sequences | None = None,
    ) -> None:
        """Train. held_out: features and labels of other sequences, on which the accuracy is followed."""
        self._live, begin = LiveAccuracy(*held_out, self.decode), time.perf_counter()
        self.learner.fit(encoded, labels, dev=dev, callback=self._hear)
        self.seconds = time.perf_counter() - begin - self._live.seconds

    def _hear(self, progress: Progress) -> bool:
        self._last = replace(progress, predict=None)  # which would keep alive all that the fit holds
        self._tell(self._last)  # first: to measure may take a moment
        accuracy = self._live.measured(progress)
        if accuracy is not None:
            self._tell(replace(self._last, accuracy=accuracy))
        return True

    def end(self, predicted: list[list[str]]) -> None:
        """Tell how accurate the model is that came of it, by its labels of all that was held out."""
        if self._last is not None:
            self._tell(replace(self._last, accuracy=self._live.of_all(predicted)))

    def _tell(self, progress: Progress) -> None:
        if self.report(progress) is False:
            raise Cancelled


def _held_out_score(
    learner: SequenceLearner, choice: MethodChoice, values: dict, parts: _Parts, report: Report
) -> dict:
    """A combination within cross-validation: trained without a tenth of the training set, scored on it."""
    inside, outside = held_out(len(parts.train))
    labels, fit = parts.train.labels, _Fit(learner, report, choice.decoding)
    others, truth = parts.encoded.select(outside), [labels[place] for place in outside]
    fit.run(parts.encoded.select(inside), [labels[place] for place in inside], (others, truth))
    predicted = learner.predict(others, choice.decoding)
    fit.end(predicted)
    score = search_score(truth, predicted)
    return {**values, "score": score, "seconds": fit.seconds}


def _tested(
    config: ExperimentConfig, task: Task, fit: _Fit, parts: _Parts, facts: dict, development: LabelPairs | None,
    dev_scores: ChainPotentials | None,
) -> TaskOutcome:  # fmt: skip
    """The scores of a trained model, and what pages want of it."""
    learner, test, choice = fit.learner, parts.test, config.methods[task.method]
    begin = time.perf_counter()
    predicted = learner.predict(parts.encoded_test, choice.decoding)
    predict_seconds = time.perf_counter() - begin
    if parts.dev is None:
        fit.end(predicted)
    said, temperature = _answers(config, learner, parts, predicted, dev_scores)
    kept = Predictions.of(task.fold, test.labels, predicted, said.confidence, said.probability)
    tested = Tested(
        labels=pair_up(test.labels, predicted),
        probabilities=Probabilities.of(test.labels, said.marginals, said.classes, predicted)
        if said.probability
        else None,
        confidence=kept.abstention(),
        development=development,
        model=ModelSize(parts.encoded.n_attributes, learner.n_parameters_, used_share(learner), learner.n_bytes_),
        timing=Timing(fit.seconds, predict_seconds, peak_megabytes()),
    )
    facts["row"] = {
        "config_hash": config.hash,
        "dataset": config.dataset,
        "features": config.features_of(choice).label,
        "label": choice.label,
        "method": choice.method,
        "options": json.dumps(_options(choice, learner), sort_keys=True),
        "decode": choice.decoding,
        "noise": choice.noise,
        "fold": task.fold,
        "seed": config.seed,
        **tested.scores("labels", "spans"),
        "n_tokens": test.n_tokens,
        "n_sequences": len(test),
        **tested.scores("probabilities", "confidence", "development"),
        "temperature": temperature,
        "n_train_sequences": len(parts.train),
        "n_train_tokens": parts.train.n_tokens,
        "used_of": used_of(learner),
        **tested.scores("model", "timing"),
    }
    confusion = confusion_of(tested.labels)
    facts["confusion"] = {"labels": list(confusion.labels), "counts": confusion.counts.tolist()}
    blobs = {"predictions": kept.to_bytes()}
    if task.fold == 0:
        facts["examples"] = [
            {"tokens": tokens, "truth": truth, "predicted": labels}
            for tokens, truth, labels in list(zip(test.tokens, test.labels, predicted))[:N_EXAMPLES]
        ]
        blobs["model"] = archive_bytes(learner.save)
    return TaskOutcome(facts, blobs)


def _options(choice: MethodChoice, learner: SequenceLearner) -> dict:
    """The options that differ from the defaults, those that a search chose, and the seed, as JSON has them."""
    names = {*choice.options, *choice.tried} | ({"seed"} & method_options(choice.method).keys())
    specs = method_options(choice.method)
    return {name: specs[name].plain(getattr(learner, name)) for name in names}


def _answers(
    config: ExperimentConfig, learner: SequenceLearner, parts: _Parts, predicted: list[list[str]],
    dev_scores: ChainPotentials | None,
) -> tuple[Answers, float | None]:  # fmt: skip
    """How sure the model is of each label it gave; with `calibrate` at the temperature that is best on the development set,
    which makes probabilities of any scores.
    """
    if not config.calibrate:
        return answers(learner, parts.encoded_test, predicted), None
    temperature = fit_temperature(list(dev_scores), parts.dev.labels, learner.classes_).temperature
    marginals = marginals_at(learner.potentials(parts.encoded_test), temperature)
    return Answers.of_marginals(predicted, marginals, learner.classes_), temperature


@dataclass(frozen=True)
class _Parts:
    train: Sequences
    test: Sequences
    dev: Sequences | None  # none within cross-validation, which keeps to the training part
    encoded: EncodedSequences  # of train
    encoded_test: EncodedSequences

    @cached_property
    def encoded_dev(self) -> EncodedSequences | None:
        return None if self.dev is None else self.encoded.template.encode(self.dev, self.encoded.vocabulary)

    @property
    def held_out(self) -> tuple[EncodedSequences, list[list[str]]]:
        """On what the accuracy is followed while a method learns, and its labels."""
        if self.dev is None:
            return self.encoded_test, self.test.labels
        return self.encoded_dev, self.dev.labels


def training_data(config: ExperimentConfig, label: str, fold: int = 0) -> tuple[EncodedSequences, list[list[str]]]:
    """What a variant of a run was trained on: features and labels."""
    parts = _prepare(config, config.variant(label), fold)
    return parts.encoded, parts.train.labels


def training_tokens_of(config: ExperimentConfig, label: str, fold: int = 0) -> list[list[str]]:
    """The tokens of the same sequences."""
    return _prepare(config, config.variant(label), fold).train.tokens


def scored_data(config: ExperimentConfig, label: str, fold: int = 0) -> tuple[EncodedSequences, Sequences]:
    """What the model of a variant is scored on in a fold: features, and the sequences themselves."""
    parts = _prepare(config, config.variant(label), fold)
    return parts.encoded_test, parts.test


def scored_part(config: ExperimentConfig, fold: int = 0) -> Sequences:
    """What the models of a fold are scored on."""
    return _split(*_split_of(config, fold))[2]


def scored_parts(config: ExperimentConfig) -> list[Sequences]:
    """The same of all folds."""
    return [scored_part(config, fold) for fold in range(max(1, config.folds))]


def _split_of(config: ExperimentConfig, fold: int) -> tuple[str, str, int, int, int, int]:
    return config.dataset, config.test_dataset, config.sequences, config.folds, config.seed, fold


def _prepare(config: ExperimentConfig, choice: MethodChoice, fold: int) -> _Parts:
    """Data and features of a variant in a fold; features are kept for the next variant that has the same."""
    split = _split_of(config, fold)
    parts = _prepare_once(config.features_of(choice), choice.sequences, split)
    return replace(parts, train=with_label_noise(parts.train, choice.noise, config.seed)) if choice.noise else parts


@lru_cache(maxsize=2)
def _prepare_once(features: FeatureChoice, sequences: int, split: tuple) -> _Parts:
    train, dev, test = _split(*split)
    if sequences:
        train = train.select(range(min(sequences, len(train))))
    template = features.make()
    encoded = template.encode(train)
    return _Parts(train, test, dev, encoded, template.encode(test, encoded.vocabulary))


def _split(
    name: str, tested: str, sequences: int, folds: int, seed: int, fold: int
) -> tuple[Sequences, Sequences | None, Sequences]:
    """Training, development and test set, without columns that restate the label."""
    dataset = load_dataset(name)
    telling = dataset_info(name).answer_columns
    train, dev, test = (part.without_columns(telling) for part in (dataset.train, dataset.dev, dataset.test))
    if tested:
        test = _test_of_another(tested, name, set(dataset.labels))
    if sequences:
        train = train.select(range(min(sequences, len(train))))
    if not folds:
        return train, dev, test
    inside, outside = k_folds(len(train), folds, seed)[fold]
    return train.select(inside), None, train.select(outside)


def _test_of_another(tested: str, name: str, labels: set[str]) -> Sequences:
    """The test set of another corpus; it must have the same labels, or there would be nothing to compare."""
    test = load_dataset(tested).test.without_columns(dataset_info(tested).answer_columns)
    if other := sorted(set(test.flat_labels or ()) - labels):
        cause = f"the test set of {tested} has the label {other[0]!r}, which {name} does not have"
        raise LabSeqError(f"{cause}; choose corpora with the same labels")
    return test


def data_hash_of(config: ExperimentConfig) -> str:
    """Of all data that a run uses."""
    own = data_hash(config.dataset)
    if not config.test_dataset:
        return own
    return hashlib.sha256(f"{own} {data_hash(config.test_dataset)}".encode()).hexdigest()[:12]


@lru_cache(maxsize=8)
def data_hash(dataset: str) -> str:
    """12 hex digits of the tokens, labels and columns of a corpus."""
    digest = hashlib.sha256()
    corpus = load_dataset(dataset)
    for part in (corpus.train, corpus.dev, corpus.test):
        digest.update(part.offsets.tobytes())
        for column in (part.flat_tokens, part.flat_labels or [], *part.flat_columns.values()):
            digest.update("\n".join(map(str, column)).encode())
    return digest.hexdigest()[:12]
