"""Cached calls of the core for the page One sequence: keyed by names, numbers and words, all results shared."""

from __future__ import annotations

from dataclasses import dataclass

from labseq_core.data.sequences import Sequences
from labseq_core.experiments.run.one_task import training_data
from labseq_core.explain import (
    Contributions,
    Reading,
    columns_in_use,
    contributions,
    needs_training_data_to_vote,
    observation_votes,
    posterior_contributions,
    read_sequence,
    sentence_of,
    training_places,
)
from labseq_core.scoring.kernel_expansion import KernelExpansion
from pages.ui import cached as caching
from pages.ui.memory import FinishedRun, cache_copied, cache_shared

_SEVERAL = 3  # places of a training observation that are shown
_SPINNER = "Asking the models"


@dataclass(frozen=True)
class Asked:
    """A sentence of what the models of a run were scored on, or words in its place."""

    run: FinishedRun
    number: int  # from 0 on
    words: tuple[str, ...] | None = None


def part(run: FinishedRun) -> Sequences:
    """What the models that a run keeps were scored on: the test part, or the first fold that was held out. Shared: not to be
    changed.
    """
    return caching.scored(run)[0]


@cache_shared(max_entries=64, show_spinner=False)
def _sentence(run: FinishedRun, number: int, words: tuple[str, ...] | None) -> Sequences:
    return sentence_of(part(run), number, words)


def given(asked: Asked) -> Sequences:
    """The sentence itself. Shared: not to be changed."""
    return _sentence(asked.run, asked.number, asked.words)


@cache_shared(max_entries=256, show_spinner=_SPINNER)
def _reading(
    run: FinishedRun, label: str, number: int, words: tuple[str, ...] | None, force: tuple[int, str] | None
) -> Reading:
    learner, one = caching.trained(run, label), _sentence(run, number, words)
    return read_sequence(learner, one, dict([force]) if force else None, run.config.variant(label).decoding)


def reading(asked: Asked, label: str, force: tuple[int, str] | None = None) -> Reading:
    """What a model makes of it; force: a position, from 0 on, and the label that it must have. Shared: not to be changed."""
    return _reading(asked.run, label, asked.number, asked.words, force)


@cache_shared(max_entries=4, show_spinner="Counting the votes of the training words")
def _votes(run: FinishedRun, label: str) -> KernelExpansion | None:
    """A Gaussian process that keeps features only, as votes of training observations; None where that would take long, and
    for all other models.
    """
    learner = caching.trained(run, label)
    if not needs_training_data_to_vote(learner) or caching.training_tokens(run) > caching.QUICK_TOKENS:
        return None
    with caching.one_at_a_time:
        return observation_votes(learner, *training_data(run.config, label))


@cache_shared(max_entries=64, show_spinner=False)
def _why(
    run: FinishedRun,
    label: str,
    number: int,
    words: tuple[str, ...] | None,
    chosen: tuple[str, ...],
    rival: tuple[str, ...],
) -> Contributions:
    learner, one = caching.trained(run, label), _sentence(run, number, words)
    return contributions(learner, one, chosen, rival, _votes(run, label))


def why(asked: Asked, label: str, position: int, rival: str) -> Contributions:
    """Why a model gives a position the label it does, and not another. Shared: not to be changed."""
    own = reading(asked, label)
    chosen = own.labels_through(position, own.labels[position]) if own.by_posterior else own.labels
    through = own.labels_through(position, rival)
    found = _why(asked.run, label, asked.number, asked.words, tuple(chosen), tuple(through))
    return posterior_contributions(found, own, position) if own.by_posterior else found


@cache_copied(max_entries=64, show_spinner="Looking for these observations in the training data")
def voices(run: FinishedRun, label: str, observations: tuple[int, ...]) -> list[dict]:
    """Where observations of a model stand in its training data: how often (`count`), and the first places, each with the
    sentence (`tokens`), the position in it and the true label there.
    """
    expansion = _votes(run, label) or caching.trained(run, label).expansion_
    with caching.one_at_a_time:
        encoded, labels = training_data(run.config, label)
        places = training_places(expansion, encoded, observations, _SEVERAL)
    sentences = caching.training_sentences(run, label)
    return [
        {
            "count": each["count"],
            "places": [
                {"tokens": sentences[i], "position": t, "label": labels[i][t], "sequence": i + 1}
                for i, t in each["places"]
            ],
        }
        for each in places
    ]


def columns_seen(run: FinishedRun, labels: list[str]) -> list[str]:
    """The columns beside the words that any of these models looks at."""
    used = (columns_in_use(caching.trained(run, label), part(run)) for label in labels)
    return list(dict.fromkeys(name for names in used for name in names))
