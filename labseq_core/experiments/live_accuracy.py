"""Token accuracy while a method learns, on a fixed sample of sequences that it is not trained on.

To measure takes time from training, so it is done about once a second and takes at most SHARE of the time so far: what it
costs is measured too, first on a small part of the sample. Results do not depend on it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from labseq_core.data.sequences import Sequences
from labseq_core.evaluation import token_accuracy
from labseq_core.features import EncodedSequences
from labseq_core.learners.base import SequenceLearner
from labseq_core.solvers.history import Progress

MOST_SEQUENCES, MOST_TOKENS = 300, 5000  # of a sample; one long sequence may have more tokens
SHARE = 0.04  # of the time since training began
EVERY = 1.0  # seconds from one measurement to the next, at least; in the first seconds a quarter of the time so far
PROBE = 16  # the cost is first guessed from one sequence in so many
NOT_BEFORE = 0.2  # seconds


class LiveAccuracy:
    """Asked at every step of a fit, it answers now and then. `seconds`: what it has spent so far."""

    def __init__(
        self, learner: SequenceLearner, held_out: Sequences, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._learner, self._held_out, self._clock = learner, held_out, clock
        self._places = sample_places(held_out.lengths)
        self._sample: tuple[EncodedSequences, list[list[str]]] | None = None
        self._begun = self._last = clock()
        self._expected: float | None = None  # seconds of the next measurement, if known
        self.seconds = 0.0

    def measured(self, progress: Progress) -> float | None:
        """The accuracy of what has been learned so far; None where there is nothing yet, or it is too early to ask again."""
        if progress.predict is None or progress.iteration == 0 or not self._places:
            return None
        now = self._clock()
        elapsed = now - self._begun
        if elapsed < NOT_BEFORE or now - self._last < min(EVERY, elapsed / 4):
            return None
        if self._expected is None:
            self._probe(progress, now)
            return None
        if self.seconds + self._expected > SHARE * elapsed:
            return None
        encoded, labels = self._sample
        accuracy = token_accuracy(labels, progress.predict(encoded))
        self._last = self._clock()
        self._expected = self._last - now
        self.seconds += self._expected
        return accuracy

    def _probe(self, progress: Progress, begin: float) -> None:
        """Makes the sample, and labels a little of it to know about what all of it will take.

        expected = seconds of a part + 2 · seconds per token · tokens of the rest;   2: a guess from little shall be careful
        """
        sample = self._held_out.select(self._places)
        self._sample = self._learner.encode(sample), sample.labels
        one = np.zeros(1, dtype=np.int64)
        part = np.arange(0, len(sample), max(1, min(PROBE, len(sample) // 2)))
        self._seconds_for(progress, one)  # what is needed the first time only does not count
        seconds_of_one, seconds_of_part = self._seconds_for(progress, one), self._seconds_for(progress, part)
        n_one, n_part = int(sample.lengths[0]), int(sample.lengths[part].sum())
        per_token = max(0.0, seconds_of_part - seconds_of_one) / max(1, n_part - n_one)
        self._expected = seconds_of_part + 2.0 * per_token * (sample.n_tokens - n_part)
        self.seconds += self._clock() - begin

    def _seconds_for(self, progress: Progress, places: np.ndarray) -> float:
        begin = self._clock()
        progress.predict(self._sample[0].select(places))
        return self._clock() - begin

    def of_labels(self, labels: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> float | None:
        """The accuracy on the sample where all sequences held out have been labelled."""
        if not self._places:
            return None
        return token_accuracy([labels[place] for place in self._places], [predicted[place] for place in self._places])


def sample_places(lengths: np.ndarray) -> list[int]:
    """Which of the sequences are taken: evenly from the first to the last."""
    if lengths.size == 0:
        return []
    size = int(min(lengths.size, MOST_SEQUENCES, max(1, MOST_TOKENS // max(1.0, float(lengths.mean())))))
    places = np.linspace(0, lengths.size - 1, size).round().astype(np.int64)
    within = np.cumsum(lengths[places]) <= MOST_TOKENS
    return places[: max(1, int(within.sum()))].tolist()
