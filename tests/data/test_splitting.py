from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labseq_core.checks import LabSeqError
from labseq_core.data.splitting import k_folds, split_fractions


@given(st.integers(2, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(2, n))), st.integers(0, 2**40))
def test_folds_part_the_sequences(sizes, seed):
    n_sequences, folds = sizes
    pairs = k_folds(n_sequences, folds, seed)
    assert len(pairs) == folds
    everything = np.arange(n_sequences)
    np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in pairs])), everything)
    for train, test in pairs:
        np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), everything)
    lengths = [test.size for _, test in pairs]
    assert max(lengths) - min(lengths) <= 1


def test_folds_depend_on_the_seed_alone():
    first, again, other = k_folds(50, 5, 1), k_folds(50, 5, 1), k_folds(50, 5, 2)
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(first, again))
    assert not all(np.array_equal(a[1], b[1]) for a, b in zip(first, other))


def test_folds_are_the_same_on_every_machine():
    assert [test.tolist() for _, test in k_folds(6, 3, 0)] == [[2, 3], [4, 5], [0, 1]]


@pytest.mark.parametrize(("folds", "message"), [(1, "at least 2"), (0, "at least 2"), (5, "at most 4")])
def test_impossible_folds_are_refused(folds, message):
    with pytest.raises(LabSeqError, match=message):
        k_folds(4, folds, 0)


@pytest.mark.parametrize("seed", [-1, 1.5, "a"])
def test_bad_seed_is_refused(seed):
    with pytest.raises(LabSeqError, match="seed"):
        k_folds(4, 2, seed)


@given(st.integers(3, 200), st.one_of(st.none(), st.integers(0, 1000)))
def test_fractions_part_the_sequences_and_leave_none_empty(n_sequences, seed):
    parts = split_fractions(n_sequences, (0.8, 0.1, 0.1), seed)
    assert all(part.size for part in parts)
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(n_sequences))
    if n_sequences >= 20:
        assert abs(parts[0].size - 0.8 * n_sequences) <= 1


@given(st.lists(st.floats(0.001, 1.0), min_size=1, max_size=5), st.integers(0, 20))
def test_no_part_is_empty_however_small_its_fraction(shares, more):
    n_sequences = len(shares) + more
    fractions = np.array(shares) / sum(shares)
    parts = split_fractions(n_sequences, fractions, seed=None)
    assert [part.size > 0 for part in parts] == [True] * len(shares)
    np.testing.assert_array_equal(np.concatenate(parts), np.arange(n_sequences))


def test_without_seed_the_order_is_kept():
    assert [part.tolist() for part in split_fractions(10, (0.8, 0.1, 0.1), seed=None)] == [list(range(8)), [8], [9]]


@pytest.mark.parametrize(
    ("n_sequences", "fractions"), [(2, (0.8, 0.1, 0.1)), (9, (0.5, 0.4)), (9, (1.0, 0.0)), (9, ())]
)
def test_impossible_fractions_are_refused(n_sequences, fractions):
    with pytest.raises(LabSeqError):
        split_fractions(n_sequences, fractions, 0)
