"""Cached calls of the core for the page Inside: what needs training data besides a model."""

from __future__ import annotations

import streamlit as st

from labseq_core.data.sequences import Sequences
from labseq_core.experiments.bundled.default_margins import default_margins
from labseq_core.experiments.run.one_task import scored_data, training_data, training_tokens_of
from labseq_core.explain import (
    Coefficients,
    GramSample,
    Influence,
    Margins,
    TrainingView,
    coefficients,
    gram_sample,
    influences,
    margins,
)
from labseq_core.features import EncodedSequences
from pages.ui import cached as caching

_DEFAULT = "default:"


@st.cache_resource(max_entries=16, show_spinner=False)
def known_margins(run_id: str) -> dict[str, Margins]:
    """By label: margins that were made beforehand; empty for runs of one's own. Shared: not to be changed."""
    return default_margins(run_id.removeprefix(_DEFAULT)) if run_id.startswith(_DEFAULT) else {}


@st.cache_resource(max_entries=64, show_spinner="Finding the best rival of every sentence")
def made_margins(run_id: str, label: str) -> Margins:
    """Margins of what the first model of a method was trained on. Shared: not to be changed."""
    with caching.one_at_a_time:
        observations, labels = training_data(caching.finished(run_id).config)
        return margins(caching.trained(run_id, label), observations, labels)


@st.cache_resource(max_entries=4, show_spinner="Reading the training data")
def training_view(run_id: str) -> TrainingView:
    """The distinct observations that the first models of a run were trained on. Shared: not to be changed."""
    config = caching.finished(run_id).config
    with caching.one_at_a_time:
        observations, labels = training_data(config)
        return TrainingView(observations, labels, training_tokens_of(config))


@st.cache_resource(max_entries=4, show_spinner=False)
def new_text(run_id: str) -> tuple[EncodedSequences, Sequences]:
    """What the first models of a run were scored on. Shared: not to be changed."""
    with caching.one_at_a_time:
        return scored_data(caching.finished(run_id).config)


@st.cache_resource(max_entries=8, show_spinner="Finding the coefficients of the training observations")
def gp_coefficients(run_id: str, label: str) -> Coefficients:
    """Those of a Gaussian process. Shared: not to be changed."""
    return coefficients(caching.trained(run_id, label), training_view(run_id))


@st.cache_data(max_entries=64, show_spinner=False)
def predicted(run_id: str, label: str, sentence: int) -> list[str]:
    """The labels that a model gives one sentence of those it was scored on, numbered from 0 on."""
    return caching.trained(run_id, label).predict(new_text(run_id)[0].select([sentence]))[0]


@st.cache_resource(max_entries=64, show_spinner="Comparing with the training observations")
def influence(run_id: str, label: str, sentence: int, position: int, for_label: str | None) -> Influence:
    """What training observations say for a label of a token. Shared: not to be changed."""
    own = new_text(run_id)[0].select([sentence])
    learner = caching.trained(run_id, label)
    return influences(learner, training_view(run_id), gp_coefficients(run_id, label), own, position, for_label)


@st.cache_resource(max_entries=16, show_spinner=False)
def gram_of(run_id: str, label: str, size: int) -> GramSample:
    """Kernel values between some of the training observations. Shared: not to be changed."""
    return gram_sample(caching.trained(run_id, label).kernel, training_view(run_id), size)
