"""Cached calls of the core for the page One sequence: keyed by names, numbers and words, all results shared."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from labseq_core.data.sequences import Sequences
from labseq_core.experiments.run.one_task import scored_part, training_data
from labseq_core.explain import (
    Contributions,
    Reading,
    columns_in_use,
    contributions,
    needs_training_data_to_vote,
    observation_votes,
    read_sequence,
    sentence_of,
    training_places,
)
from labseq_core.scoring.kernel_expansion import KernelExpansion
from pages.ui import cached as caching

_SEVERAL = 3  # places of a training observation that are shown
_SPINNER = "Asking the models"


@dataclass(frozen=True)
class Asked:
    """A sentence of what the models of a run were scored on, or words in its place."""

    run_id: str
    number: int  # from 0 on
    words: tuple[str, ...] | None = None


@st.cache_resource(max_entries=4, show_spinner="Reading the corpus")
def part(run_id: str) -> Sequences:
    """What the models that a run keeps were scored on: the test part, or the first fold that was held out. Shared: not to be
    changed.
    """
    return scored_part(caching.finished(run_id).config)


@st.cache_resource(max_entries=64, show_spinner=False)
def _sentence(run_id: str, number: int, words: tuple[str, ...] | None) -> Sequences:
    return sentence_of(part(run_id), number, words)


def given(asked: Asked) -> Sequences:
    """The sentence itself. Shared: not to be changed."""
    return _sentence(asked.run_id, asked.number, asked.words)


@st.cache_resource(max_entries=256, show_spinner=_SPINNER)
def _reading(
    run_id: str, label: str, number: int, words: tuple[str, ...] | None, force: tuple[int, str] | None
) -> Reading:
    learner, one = caching.trained(run_id, label), _sentence(run_id, number, words)
    return read_sequence(learner, one, dict([force]) if force else None)


def reading(asked: Asked, label: str, force: tuple[int, str] | None = None) -> Reading:
    """What a model makes of it; force: a position, from 0 on, and the label that it must have. Shared: not to be changed."""
    return _reading(asked.run_id, label, asked.number, asked.words, force)


@st.cache_resource(max_entries=4, show_spinner="Counting the votes of the training words")
def _votes(run_id: str, label: str) -> KernelExpansion | None:
    """A Gaussian process that keeps features only, as votes of training observations; None where that would take long, and
    for all other models.
    """
    learner = caching.trained(run_id, label)
    if not needs_training_data_to_vote(learner) or caching.training_tokens(run_id) > caching.QUICK_TOKENS:
        return None
    with caching.one_at_a_time:
        return observation_votes(learner, *training_data(caching.finished(run_id).config))


@st.cache_resource(max_entries=64, show_spinner=False)
def _why(run_id, label, number, words, chosen: tuple[str, ...], rival: tuple[str, ...]) -> Contributions:
    learner, one = caching.trained(run_id, label), _sentence(run_id, number, words)
    return contributions(learner, one, chosen, rival, _votes(run_id, label))


def why(asked: Asked, label: str, chosen: list[str], rival: list[str]) -> Contributions:
    """Why a model prefers one labelling of it to another. Shared: not to be changed."""
    return _why(asked.run_id, label, asked.number, asked.words, tuple(chosen), tuple(rival))


@st.cache_data(max_entries=64, show_spinner="Looking for these observations in the training data")
def voices(run_id: str, label: str, observations: tuple[int, ...]) -> list[dict]:
    """Where observations of a model stand in its training data: how often (`count`), and the first places, each with the
    sentence (`tokens`), the position in it and the true label there.
    """
    expansion = _votes(run_id, label) or caching.trained(run_id, label).expansion_
    with caching.one_at_a_time:
        encoded, labels = training_data(caching.finished(run_id).config)
        found = training_places(expansion, encoded, observations, _SEVERAL)
    sentences = caching.training_sentences(run_id)
    return [
        {
            "count": each["count"],
            "places": [
                {"tokens": sentences[i], "position": t, "label": labels[i][t], "sequence": i + 1}
                for i, t in each["places"]
            ],
        }
        for each in found
    ]


def columns_seen(run_id: str, labels: list[str]) -> list[str]:
    """The columns beside the words that any of these models looks at."""
    found = (columns_in_use(caching.trained(run_id, label), part(run_id)) for label in labels)
    return list(dict.fromkeys(name for names in found for name in names))
