"""Cached calls of the core, keyed by names, giving plain data."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Lock

import numpy as np
import streamlit as st

from labseq_core import load_dataset
from labseq_core.data.catalogue import DatasetInfo, dataset_info, list_datasets
from labseq_core.data.guarded_uploads import prepare_upload
from labseq_core.data.sequences import Column, Sequences
from labseq_core.data.uploads import is_upload
from labseq_core.evaluation import AbstentionCurve, Calibration, token_accuracy
from labseq_core.experiments import (
    ExperimentConfig,
    Predictions,
    RunResult,
    RunSummary,
    default_results,
    list_runs,
    model,
    predictions,
    result,
    summary,
)
from labseq_core.experiments.bundled.lessons import lessons
from labseq_core.experiments.run.one_task import scored_parts, training_data, training_tokens_of
from labseq_core.experiments.service import finish_time, is_default, list_finished
from labseq_core.experiments.store.run_ids import run_id_of
from labseq_core.explain import (
    Answers,
    bound_curves,
    promised_log_losses,
    round_rows,
)
from labseq_core.learners.base import SequenceLearner
from labseq_core.learners.registry import METHODS
from pages.ui.drawing.imported import with_mark
from pages.ui.drawing.plain_text import in_markdown
from pages.ui.memory import FinishedRun, cache_copied, cache_shared, key_of

PARTS = ("train", "dev", "test")
SENTENCES_PER_PAGE = 10
_EXAMPLES_SHOWN = 4
_RECENT = 10
RUNS_OFFERED = 100  # in a list to choose from; links and History have all of them
_FEW_POINTS, _MANY_POINTS = 25, 81  # of a curve, where each takes long and where it does not
_LONGEST_LIST = 60  # characters of methods in the line of a run
QUICK_TOKENS = 20_000  # of training data: what is computed on so many takes no second
Shown = Callable[[type[SequenceLearner]], bool]  # whether the models of a learner can be shown


@dataclass(frozen=True)
class PartOverview:
    """What the Data page says about one part of a corpus."""

    n_sequences: int
    n_tokens: int
    n_pages: int
    label_counts: dict[str, int]  # most frequent first
    all_labels: list[str]  # of all parts, so that a label has the same colour in each
    shortest: int  # sequence, in tokens
    longest: int
    length_bins: list[dict]  # from, to, sequences
    columns: list[dict]


@dataclass(frozen=True)
class ScoredText:
    """The sentences that a run was scored on, fold after fold."""

    tokens: list[list[str]]
    labels: list[list[str]]
    n_tokens: int


@st.cache_data(max_entries=64, show_spinner="Reading the corpus")
def overview(dataset: str, part: str) -> PartOverview:
    """Counts of one part."""
    corpus = load_dataset(dataset)
    sequences = getattr(corpus, part)
    counts = dict(Counter(sequences.flat_labels or ()).most_common())
    columns = [_column_row(name, column) for name, column in sequences.flat_columns.items()]
    pages = math.ceil(len(sequences) / SENTENCES_PER_PAGE)
    lengths = sequences.lengths
    return PartOverview(
        len(sequences), sequences.n_tokens, pages, counts, corpus.labels, int(lengths.min()), int(lengths.max()),
        sequences.length_bins(), columns,
    )  # fmt: skip


def lengths(dataset: str, part: str) -> list[int]:
    """Of all sequences of a part."""
    return getattr(load_dataset(dataset), part).lengths.tolist()


def _column_row(name: str, column: Column) -> dict:
    if isinstance(column, np.ndarray):
        given = column[np.isfinite(column)]
        low, high = (given.min(), given.max()) if given.size else (math.nan, math.nan)
        return {"column": name, "kind": "numbers", "distinct": len(np.unique(given)), "values": f"{low:g} to {high:g}"}
    examples = [value for value, _ in Counter(column).most_common(_EXAMPLES_SHOWN)]
    return {"column": name, "kind": "text", "distinct": len(set(column)), "values": ", ".join(examples)}


def corpora() -> dict[str, DatasetInfo]:
    """All corpora of the catalogue by name. Not cached: a download changes what is at hand."""
    return {info.name: info for info in list_datasets()}


@st.cache_data(max_entries=64, show_spinner="Reading the corpus")
def upload(dataset: str) -> DatasetInfo:
    """What is known of an uploaded file."""
    if is_upload(dataset):
        prepare_upload(dataset)
    return dataset_info(dataset)


def usable_columns(info: DatasetInfo) -> list[str]:
    """The columns of a corpus that a method may see: those that restate the label are left out."""
    if not info.available:
        return []
    return [row["column"] for row in overview(info.name, "train").columns if row["column"] not in info.answer_columns]


@st.cache_data(max_entries=64, show_spinner="Reading the corpus")
def labels_of(dataset: str) -> frozenset[str]:
    return frozenset(load_dataset(dataset).labels)


def defaults() -> dict[str, FinishedRun]:
    """The results that are shown before any click."""
    return {name: FinishedRun.bundled(run) for name, run in default_results().items()}


def corpus_defaults() -> dict[str, FinishedRun]:
    """Those that compare methods on a corpus, by its name."""
    return {name: run for name, run in defaults().items() if name == run.config.dataset}


@st.cache_data(show_spinner=False)
def lesson_table(name: str) -> list[dict]:
    """Numbers of a lesson that were made beforehand."""
    return lessons().get(name, [])


def finished(run_id: str) -> FinishedRun:
    """The result of a finished run as it is now."""
    return FinishedRun.bundled(result(run_id)) if is_default(run_id) else _read(run_id, finish_time(run_id))


@st.cache_resource(max_entries=64, show_spinner=False)
def _read(run_id: str, finish: float | None) -> FinishedRun:
    return FinishedRun.trained(result(run_id), finish)


def keys(run_ids: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """What everything depends on that is computed from several finished runs."""
    return tuple(key_of(finished(run_id)) for run_id in run_ids)


@cache_shared(max_entries=16, show_spinner="Reading the model")
def trained(run: FinishedRun, label: str) -> SequenceLearner:
    """The model of a method of a finished run. Shared: not to be changed."""
    return model(run.run_id, label)


@cache_shared(max_entries=16, show_spinner=False)
def rounds(run: FinishedRun, label: str) -> list[dict]:
    """The rounds of a boosting model. Shared: not to be changed."""
    return round_rows(trained(run, label))


@cache_shared(max_entries=16, show_spinner=False)
def promised(run: FinishedRun, label: str) -> list[float]:
    """What the bounds of a boosting model promised of its loss. Shared: not to be changed."""
    return promised_log_losses(trained(run, label))


one_at_a_time = Lock()  # what needs all training data at once must not do so for several visitors


@cache_copied(max_entries=256, show_spinner="Computing the curves")
def bounds_of_round(run: FinishedRun, label: str, number: int) -> dict:
    """The bounds for steps on the feature of a round, at the model before that round."""
    row = rounds(run, label)[number - 1]
    parts = {name: row[name] for name in ("attribute", "previous_label") if row[name]}
    points = _FEW_POINTS if training_tokens(run) > QUICK_TOKENS else _MANY_POINTS
    with one_at_a_time:
        observations, labels = training_data(run.config, label)
        learner = trained(run, label)
        return bound_curves(learner, observations, labels, label=row["label"], after=number - 1, points=points, **parts)


@cache_shared(max_entries=4, show_spinner="Reading the corpus")
def training_sentences(run: FinishedRun, label: str) -> list[list[str]]:
    """The tokens that the first model of a variant was trained on. Shared: not to be changed."""
    return training_tokens_of(run.config, label)


@cache_shared(max_entries=4, show_spinner="Reading the corpus")
def scored(run: FinishedRun) -> list[Sequences]:
    """What the models of a run were scored on, fold by fold; a single test part is one fold. Shared: not to be changed."""
    return scored_parts(run.config)


def scored_text(run: FinishedRun) -> ScoredText:
    """The same, fold after fold."""
    parts = scored(run)
    tokens, labels = ([row for part in parts for row in getattr(part, name)] for name in ("tokens", "labels"))
    return ScoredText(tokens, labels, sum(part.n_tokens for part in parts))


@cache_shared(max_entries=32, show_spinner=False)
def said(run: FinishedRun, label: str) -> Predictions:
    """What a method said of each token that it was scored on, and how sure it was. Shared: not to be changed."""
    return predictions(run.run_id, label)


def answers_of(run: FinishedRun, label: str) -> Answers:
    """The same sentence by sentence."""
    given = said(run, label)
    return Answers(given.labellings("answers"), given.confidences(), given.probability)


@cache_shared(max_entries=64, show_spinner=False)
def abstention(run: FinishedRun, label: str) -> AbstentionCurve:
    """What a model gains by withholding tokens of which it is not sure. Shared: not to be changed."""
    return said(run, label).abstention()


def calibration_of(run: FinishedRun, label: str) -> Calibration:
    """Whether the probabilities of a model keep their word: means over folds, and the diagram of all tokens."""
    row = next(row for row in run.summary() if row["label"] == label)
    means = (row[f"{name}_mean"] for name in ("log_loss", "brier", "ece"))
    return Calibration(*means, said(run, label).reliability())


@cache_copied(max_entries=64, show_spinner="Asking the dense model")
def accuracy_on(run: FinishedRun, label: str, part: str) -> float:
    """Token accuracy of a model on the development part, or on what it was trained on."""
    if part == "dev":
        return next(row["dev_accuracy"] for row in run.rows if row["label"] == label)
    with one_at_a_time:
        observations, labels = training_data(run.config, label)
        return token_accuracy(labels, trained(run, label).predict(observations, run.config.variant(label).decoding))


def training_tokens(run: FinishedRun) -> int:
    """How many tokens the first models of a run were trained on, at most."""
    return max(row["n_train_tokens"] for row in run.rows)


def any_method(learner: type[SequenceLearner]) -> bool:
    return True


def finished_runs(shown: Shown = any_method, first: str = "") -> dict[str, str]:
    """Ids of finished runs with a method that can be shown, newest first, with a line that tells them apart; default results
    come last, the one of this name before the others.
    """
    fitting = [name for name, method in METHODS.items() if shown(method.learner)]
    done = {run.run_id: _run_line(run) for run in list_finished(RUNS_OFFERED, fitting)}
    always = [run for run in defaults().values() if {each.method for each in run.config.methods} & {*fitting}]
    always.sort(key=lambda run: run.run_id != f"default:{first}")
    return done | {run.run_id: default_line(run) for run in always}


def are_more(offered: Iterable[str]) -> bool:
    """Whether a list of finished runs is as long as it may be, so that older ones are left out."""
    return sum(not is_default(run_id) for run_id in offered) >= RUNS_OFFERED


def run_line(run_id: str) -> str:
    """One line that tells a run from others."""
    known = [run for run in defaults().values() if run.run_id == run_id]
    return default_line(known[0]) if known else _run_line(summary(run_id))


def _run_line(run: RunSummary) -> str:
    features = f"{run.features} · first {run.sequences} sequences" if run.sequences else run.features
    return with_mark(_line(run.dataset, run.labels, features, run.folds, run.seed, run.run_id), run)


def default_line(run: RunResult) -> str:
    """One line that tells a default result from others."""
    config = run.config
    labels = tuple(choice.label for choice in config.methods)
    return _line(config.dataset, labels, config.features.label, config.folds, config.seed, "comes with LabSeq")


def _line(dataset: str, labels: tuple[str, ...], features: str, folds: int, seed: int, name: str) -> str:
    split = f"{folds} folds" if folds else "train/test"
    return f"{corpus_name(dataset)}: {short_methods(labels)} · {features} · {split} · seed {seed} · {name}"


def short_methods(labels: tuple[str, ...]) -> str:
    """The methods of a run; where that would be long, without their options."""
    whole = ", ".join(labels)
    if len(whole) <= _LONGEST_LIST:
        return whole
    titles = Counter(label.partition(" (")[0] for label in labels)
    return ", ".join(title if count == 1 else f"{count} × {title}" for title, count in titles.items())


def corpus_name(dataset: str) -> str:
    """Short enough for a line: an uploaded file has a long id."""
    return f"upload {dataset.partition(':')[2][:8]}" if is_upload(dataset) else dataset


def is_answered(config: ExperimentConfig) -> bool:
    """Whether the store has the run of this configuration already, trained here."""
    return any(run.state == "done" and not run.imported for run in list_runs(1, text=run_id_of(config)))


@cache_copied(max_entries=10_000, show_spinner=False)
def leader(run: FinishedRun | RunSummary) -> tuple[str, float]:
    """The method of a finished run with the best token accuracy, and that."""
    best = max(result(run.run_id).summary(), key=lambda row: row["accuracy_mean"])
    return best["label"], best["accuracy_mean"]


def recent_runs() -> list[dict]:
    """The newest runs, as rows of a table."""
    return [
        {
            "corpus": corpus_name(run.dataset),
            "state": with_mark(run.state, run),
            "progress": run.fraction,
            "methods": ", ".join(run.labels),
            "run": run.run_id,
        }
        for run in list_runs(_RECENT)
    ]


def bayes_accuracies(config: ExperimentConfig) -> dict[str, float]:
    """Where the distribution behind a corpus is known: accuracy of its labels on the test set, by the decodings that the
    variants of a run have.
    """
    info = corpora().get(config.test_dataset or config.dataset)
    used = {choice.decoding for choice in config.methods}
    return {decoding: value for decoding, value in info.bayes_test_accuracy.items() if decoding in used} if info else {}


def provenance(run: RunResult) -> str:
    """What a result was made from and with, as Markdown."""
    versions = in_markdown(", ".join(f"{name} {version}" for name, version in run.versions.items()))
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.created))
    return f"{with_mark(f'Run {run.run_id}', run)}, {when}; configuration {run.config.hash}, data {run.data_hash}; {versions}."
