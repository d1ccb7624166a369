"""Cached calls of the core for the page Inside: what needs training data besides a model."""

from __future__ import annotations

from labseq_core.experiments.bundled.default_margins import default_margins
from labseq_core.experiments.run.one_task import scored_data, training_data, training_tokens_of
from labseq_core.experiments.service import is_default
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
from pages.ui.memory import FinishedRun, cache_copied, cache_shared


@cache_shared(max_entries=16, show_spinner=False)
def known_margins(run: FinishedRun) -> dict[str, Margins]:
    """By label: margins that were made beforehand; empty for runs of one's own. Shared: not to be changed."""
    return default_margins(run.run_id.removeprefix("default:")) if is_default(run.run_id) else {}


@cache_shared(max_entries=64, show_spinner="Finding the best rival of every sentence")
def made_margins(run: FinishedRun, label: str) -> Margins:
    """Margins of what the first model of a method was trained on. Shared: not to be changed."""
    with caching.one_at_a_time:
        return margins(caching.trained(run, label), *training_data(run.config, label))


@cache_shared(max_entries=4, show_spinner="Reading the training data")
def training_view(run: FinishedRun, label: str) -> TrainingView:
    """The distinct observations that the first model of a variant was trained on. Shared: not to be changed."""
    with caching.one_at_a_time:
        observations, labels = training_data(run.config, label)
        return TrainingView(observations, labels, training_tokens_of(run.config, label))


@cache_shared(max_entries=4, show_spinner=False)
def new_observations(run: FinishedRun, label: str) -> EncodedSequences:
    """Features of what the first model of a variant was scored on. Shared: not to be changed."""
    with caching.one_at_a_time:
        return scored_data(run.config, label)[0]


@cache_shared(max_entries=8, show_spinner="Finding the coefficients of the training observations")
def gp_coefficients(run: FinishedRun, label: str) -> Coefficients:
    """Those of a Gaussian process. Shared: not to be changed."""
    return coefficients(caching.trained(run, label), training_view(run, label))


@cache_copied(max_entries=64, show_spinner=False)
def predicted(run: FinishedRun, label: str, sentence: int) -> list[str]:
    """The labels that a model gives one sentence of those it was scored on, numbered from 0 on."""
    own = new_observations(run, label).select([sentence])
    return caching.trained(run, label).predict(own, run.config.variant(label).decoding)[0]


@cache_shared(max_entries=64, show_spinner="Comparing with the training observations")
def influence(run: FinishedRun, label: str, sentence: int, position: int, for_label: str | None) -> Influence:
    """What training observations say for a label of a token, unless told the one it is given. Shared: not to be changed."""
    own = new_observations(run, label).select([sentence])
    learner, wanted = caching.trained(run, label), for_label or predicted(run, label, sentence)[position]
    return influences(learner, training_view(run, label), gp_coefficients(run, label), own, position, wanted)


@cache_shared(max_entries=16, show_spinner=False)
def gram_of(run: FinishedRun, label: str, size: int) -> GramSample:
    """Kernel values between some of the training observations. Shared: not to be changed."""
    return gram_sample(caching.trained(run, label).kernel, training_view(run, label), size)
