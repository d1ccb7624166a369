from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labseq_core import load_dataset
from labseq_core.checks import LabSeqError
from labseq_core.data.label_noise import with_label_noise
from labseq_core.data.sequences import Sequences

LABELS = st.lists(st.lists(st.sampled_from("ABC"), min_size=1, max_size=6), min_size=1, max_size=8)


@given(LABELS, st.floats(0, 1), st.integers(0, 99))
def test_exactly_the_share_is_wrong_and_nothing_else_changes(labels, share, seed):
    before = Sequences.from_lists(labels, labels)
    if len(set(before.flat_labels)) < 2:
        return
    noisy = with_label_noise(before, share, seed)
    wrong = [old != new for old, new in zip(before.flat_labels, noisy.flat_labels)]
    assert sum(wrong) == round(share * before.n_tokens)
    assert set(noisy.flat_labels) <= set(before.flat_labels)
    assert noisy.flat_tokens == before.flat_tokens
    assert with_label_noise(before, share, seed).flat_labels == noisy.flat_labels


def test_more_noise_is_the_same_noise_and_more_and_spares_no_label():
    train = load_dataset("toy-pos").train
    some, more = (with_label_noise(train, share, 3).flat_labels for share in (0.1, 0.3))
    kept = [old != new for old, new in zip(train.flat_labels, some)]
    assert all(a == b for a, b, wrong in zip(some, more, kept) if wrong)
    assert with_label_noise(train, 0.1, 4).flat_labels != some
    changed = np.array([old for old, new in zip(train.flat_labels, more) if old != new])
    for label in set(train.flat_labels):
        share = np.mean(changed == label) / np.mean(np.array(train.flat_labels) == label)
        assert share == pytest.approx(1.0, abs=0.35), label


def test_what_cannot_be_made_noisy_is_told():
    with pytest.raises(LabSeqError, match="no labels to replace"):
        with_label_noise(Sequences.from_lists([["a"]]), 0.1, 0)
    with pytest.raises(LabSeqError, match="one label only"):
        with_label_noise(Sequences.from_lists([["a"]], [["A"]]), 0.1, 0)
    with pytest.raises(LabSeqError, match=r"is 1\.5; choose one from 0 to 1"):
        with_label_noise(Sequences.from_lists([["a"]], [["A"]]), 1.5, 0)
