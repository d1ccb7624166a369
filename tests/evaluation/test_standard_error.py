"""How far a score would be off with other sequences."""

import numpy as np
import pytest

from labseq_core.evaluation import SequenceCounts, standard_error

TOLERANCE = 1e-12
DRAWS, CLOSE = 4000, 0.06  # of a bootstrap, and its relative error


def random_counts(n: int, seed: int) -> SequenceCounts:
    generator = np.random.default_rng(seed)
    tokens = generator.integers(3, 20, n)
    true, predicted = generator.integers(0, 4, n), generator.integers(0, 4, n)
    right = np.minimum(generator.integers(0, 4, n), np.minimum(true, predicted))
    return SequenceCounts(tokens, generator.binomial(tokens, 0.8), true, predicted, right)


def test_sequences_of_one_length_have_the_error_of_a_mean():
    correct = np.array([5, 3, 4, 4, 1])
    counts = SequenceCounts(np.full(5, 5), correct)
    expected = np.std(correct / 5, ddof=1) / np.sqrt(5)
    assert standard_error(counts) == pytest.approx(expected, rel=TOLERANCE)


@pytest.mark.parametrize("metric", ["accuracy", "span_f1"])
def test_it_is_the_spread_of_a_bootstrap(metric):
    counts = random_counts(300, 0)
    generator = np.random.default_rng(1)
    drawn = []
    for _ in range(DRAWS):
        places = generator.integers(0, 300, 300)
        again = SequenceCounts(*(column[places] for column in vars(counts).values()))
        drawn.append(getattr(again, metric))
    assert standard_error(counts, metric) == pytest.approx(np.std(drawn), rel=CLOSE)


def test_one_sequence_has_none_and_no_spans_at_all_neither():
    assert standard_error(SequenceCounts(np.array([4]), np.array([3]))) is None
    nothing = np.zeros(3, dtype=np.int64)
    assert standard_error(SequenceCounts(nothing + 4, nothing + 3, nothing, nothing, nothing), "span_f1") is None
