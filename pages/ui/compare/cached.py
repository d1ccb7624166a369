"""Cached calls of the core for the Compare page."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from labseq_core.experiments import ExperimentConfig, Predictions, comparisons
from labseq_core.experiments.results.example_sequences import LabelledSentence, disagreeing, labelled, taken_for
from labseq_core.experiments.results.learning_curve import (
    CurveStatus,
    DefaultCurve,
    curve_key,
    default_curve,
    learning_curve,
)
from labseq_core.experiments.store.run_archive import everything as pack_everything
from pages.ui import cached as caching
from pages.ui.memory import FinishedRun, cache_copied


@cache_copied(max_entries=256, show_spinner="Comparing every pair of methods, 10,000 times")
def pairs(run: FinishedRun, metric: str) -> list[dict]:
    """Difference, interval and p values of each pair of methods."""
    return comparisons(run.run_id, metric)


@cache_copied(max_entries=2, show_spinner=False)
def everything(run: FinishedRun) -> bytes:
    """All of a run as a zip file."""
    return pack_everything(run.run_id)


def said_by_all(run: FinishedRun) -> dict[str, Predictions]:
    """What each method said, by its label."""
    return {label: caching.said(run, label) for label in run.per_label}


@cache_copied(max_entries=256, show_spinner=False)
def mistaken(run: FinishedRun, label: str, true: str, predicted: str) -> list[int]:
    """Where a method takes one label for another."""
    return taken_for(caching.said(run, label), true, predicted)


@cache_copied(max_entries=64, show_spinner="Looking for sentences on which methods differ")
def disagreements(run: FinishedRun) -> list[int]:
    """Where not all methods say the same."""
    return disagreeing(said_by_all(run))


def n_sentences(run: FinishedRun) -> int:
    return sum(map(len, caching.scored(run)))


def sentences(run: FinishedRun, places: Sequence[int]) -> list[LabelledSentence]:
    """The sentences at these places with the labels of all methods."""
    return labelled(places, caching.scored(run), said_by_all(run))


@st.cache_resource(show_spinner=False)
def example_curve() -> DefaultCurve | None:
    """The curve that comes with LabSeq. Shared: not to be changed."""
    return default_curve()


def prepared_curve(config: ExperimentConfig) -> list[dict]:
    """The curve that comes with LabSeq if it is that of a configuration; else nothing."""
    kept = example_curve()
    return kept.rows if kept and curve_key(kept.config) == curve_key(config) else []


def finished_curve(config: ExperimentConfig, now: CurveStatus) -> list[dict]:
    """The learning curve of a configuration, whose runs are all done."""
    return _curve(caching.keys(run.run_id for run in now.runs if run), config)


@st.cache_data(max_entries=64, show_spinner="Reading the learning curve")
def _curve(keys: tuple[tuple[str, str], ...], _config: ExperimentConfig) -> list[dict]:
    """keys: of its runs, which say all that Streamlit has to know of the configuration."""
    return learning_curve(_config)
