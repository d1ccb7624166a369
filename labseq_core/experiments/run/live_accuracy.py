"""Token accuracy while a method learns, on a fixed sample of sequences that it is not trained on.

To measure takes time from training, so it is done about once a second and takes at most SHARE of the work so far: what it
costs is measured too, first on a small part of the sample. What is learned does not depend on it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from labseq_core.evaluation import token_accuracy
from labseq_core.features import EncodedSequences
from labseq_core.progress import Progress

MOST_SEQUENCES, MOST_TOKENS = 300, 5000  # of a sample; one long sequence may have more tokens
SHARE = 0.03  # of the work since training began; where a model grows and with it the cost, up to 0.05
EVERY = 1.0  # seconds from one measurement to the next, at least; in the first seconds a quarter of the time so far
PROBE = 16  # the cost is first guessed from one sequence in so many
NOT_BEFORE = 0.05  # seconds of work

Clock = Callable[[], float]


class LiveAccuracy:
    """Asked at every step of a fit, it answers now and then. Begin the fit when it is made.

    decode: as `predict` takes it;   clock: time as people see it;
    work: the processor's time of this thread, which other processes cannot stretch.
    """

    def __init__(
        self,
        encoded: EncodedSequences,
        labels: Sequence[Sequence[str]],
        decode: str | None = None,
        clock: Clock = time.perf_counter,
        work: Clock = time.thread_time,
    ):
        self._places = sample_places(np.diff(encoded.offsets))
        self._sample = encoded.select(self._places)
        self._labels = [labels[place] for place in self._places]
        self._decode, self._clock, self._work = decode, clock, work
        self._begun = self._last = clock()
        self._work_begun = work()
        self._spent = 0.0  # of work
        self._expected: float | None = None  # work of the next measurement, if known
        self.seconds = 0.0  # that went into it so far

    def measured(self, progress: Progress) -> float | None:
        """The accuracy of what has been learned so far; None where there is nothing yet, or it is too early to ask again."""
        if progress.predict is None or progress.iteration == 0 or not self._places:
            return None
        now, worked = self._clock(), self._work() - self._work_begun
        if worked < NOT_BEFORE or now - self._last < min(EVERY, (now - self._begun) / 4):
            return None
        if self._expected is not None and self._spent + self._expected > SHARE * worked:
            return None
        accuracy = None
        if self._expected is None:
            self._expected = self._guess(progress)
        else:
            predicted, self._expected = self._predicted(progress, self._sample)
            accuracy = token_accuracy(self._labels, predicted)
        self._last = self._clock()
        self.seconds += self._last - now
        self._spent = self._work() - self._work_begun - worked + self._spent
        return accuracy

    def _guess(self, progress: Progress) -> float:
        """About what all of the sample will take, from little of it.

        work of a part + 2 · work per token · tokens of the rest      (2: a guess from little shall be careful)
        """
        lengths = np.diff(self._sample.offsets)
        part = np.arange(0, lengths.size, max(1, min(PROBE, lengths.size // 2)))
        self._predicted(progress, self._sample.select([0]))  # what is needed the first time only does not count
        _, work_of_one = self._predicted(progress, self._sample.select([0]))
        _, work_of_part = self._predicted(progress, self._sample.select(part))
        n_tokens = int(lengths[part].sum())
        per_token = max(0.0, work_of_part - work_of_one) / max(1, n_tokens - int(lengths[0]))
        return work_of_part + 2.0 * per_token * (int(lengths.sum()) - n_tokens)

    def _predicted(self, progress: Progress, encoded: EncodedSequences) -> tuple[list[list[str]], float]:
        """Labels, and the work that they took."""
        begin = self._work()
        predicted = progress.predict(encoded, self._decode)
        return predicted, self._work() - begin

    def of_all(self, predicted: Sequence[Sequence[str]]) -> float | None:
        """The accuracy on the sample where all sequences held out have been labelled."""
        return token_accuracy(self._labels, [predicted[place] for place in self._places]) if self._places else None


def sample_places(lengths: np.ndarray) -> list[int]:
    """Which sequences are taken: evenly from the first to the last."""
    if lengths.size == 0:
        return []
    size = int(min(lengths.size, MOST_SEQUENCES, max(1, MOST_TOKENS // max(1.0, float(lengths.mean())))))
    places = np.linspace(0, lengths.size - 1, size).round().astype(np.int64)
    within = np.cumsum(lengths[places]) <= MOST_TOKENS
    return places[: max(1, int(within.sum()))].tolist()
