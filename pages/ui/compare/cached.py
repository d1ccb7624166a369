"""Cached calls of the core for the Compare page."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from labseq_core.data.sequences import Sequences
from labseq_core.experiments import ExperimentConfig, Predictions, comparisons
from labseq_core.experiments.results.learning_curve import DefaultCurve, curve_key, default_curve, learning_curve
from labseq_core.experiments.results.sentences import LabelledSentence, disagreeing, labelled, taken_for
from labseq_core.experiments.run.one_task import scored_parts
from labseq_core.experiments.store.run_archive import everything as pack_everything
from pages.ui import cached as caching


@st.cache_data(max_entries=256, show_spinner="Comparing every pair of methods, 10,000 times")
def pairs(run_id: str, metric: str) -> list[dict]:
    """Difference, interval and p values of each pair of methods."""
    return comparisons(run_id, metric)


@st.cache_data(max_entries=2, show_spinner=False)
def everything(run_id: str) -> bytes:
    """All of a run as a zip file."""
    return pack_everything(run_id)


def said_by_all(run_id: str) -> dict[str, Predictions]:
    """What each method said, by its label."""
    return {label: caching.said(run_id, label) for label in caching.finished(run_id).per_label}


@st.cache_data(max_entries=256, show_spinner=False)
def mistaken(run_id: str, label: str, true: str, predicted: str) -> list[int]:
    """Where a method takes one label for another."""
    return taken_for(caching.said(run_id, label), true, predicted)


@st.cache_data(max_entries=64, show_spinner="Looking for sentences on which methods differ")
def disagreements(run_id: str) -> list[int]:
    """Where not all methods say the same."""
    return disagreeing(said_by_all(run_id))


@st.cache_resource(max_entries=4, show_spinner="Reading the corpus")
def scored(run_id: str) -> list[Sequences]:
    """What the models of each fold were scored on. Shared: not to be changed."""
    return scored_parts(caching.finished(run_id).config)


def n_sentences(run_id: str) -> int:
    return sum(map(len, scored(run_id)))


def sentences(run_id: str, places: Sequence[int]) -> list[LabelledSentence]:
    """The sentences at these places with the labels of all methods."""
    return labelled(places, scored(run_id), said_by_all(run_id))


@st.cache_resource(show_spinner=False)
def example_curve() -> DefaultCurve | None:
    """The curve that comes with LabSeq. Shared: not to be changed."""
    return default_curve()


def prepared_curve(config: ExperimentConfig) -> list[dict]:
    """The curve that comes with LabSeq if it is that of a configuration; else nothing."""
    kept = example_curve()
    return kept.rows if kept and curve_key(kept.config) == curve_key(config) else []


@st.cache_data(max_entries=64, show_spinner="Reading the learning curve")
def finished_curve(run_id: str) -> list[dict]:
    """The learning curve of a run's configuration, whose runs are all done."""
    return learning_curve(caching.finished(run_id).config)
