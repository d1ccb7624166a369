"""The real corpora, where the mirror or the cache has them: sizes as published, labels, no leaks between the parts."""

from __future__ import annotations

import numpy as np
import pytest

from labseq_core.data.catalogue import dataset_info, load_dataset
from labseq_core.data.sequences import Dataset

pytestmark = pytest.mark.corpus

# (sentences, tokens) of train, dev, test
SIZES = {
    "conll2002-es": [(8323, 264_715), (1517, 51_533), (1915, 52_923)],
    "conll2000": [(8042, 190_717), (894, 21_010), (2012, 47_377)],
    "treebank-sample": [(3469, 81_902), (282, 6_328), (254, 5_970)],
    "prosody": [(4582, 78_400), (1145, 20_800), (4822, 90_063)],
    "ud-english-ewt": [(12_544, 204_577), (2001, 25_147), (2077, 25_094)],
    "wnut17": [(3394, 62_730), (1009, 15_733), (1287, 23_394)],
    "ocr-letters": [(5547, 42_160), (704, 5_375), (626, 4_617)],
    "cb513": [(409, 118_220), (51, 12_299), (51, 13_492)],
}
COLUMNS = {"conll2002-es": ["pos"], "conll2000": ["pos"], "prosody": ["prominence"]}
COLUMNS["ocr-letters"] = [*(f"p{place}" for place in range(128)), "fold"]


def real(name: str) -> Dataset:
    if not dataset_info(name).available:
        pytest.skip(f"{name} is neither in the cache nor in LABSEQ_DATA_MIRROR")
    return load_dataset(name)


@pytest.mark.parametrize("name", SIZES)
def test_sizes_labels_and_columns(name):
    dataset, info = real(name), dataset_info(name)
    parts = (dataset.train, dataset.dev, dataset.test)
    assert [(len(part), part.n_tokens) for part in parts] == SIZES[name]
    assert len(dataset.labels) == info.n_labels
    assert all(list(part.flat_columns) == COLUMNS.get(name, []) for part in parts)
    assert dataset.task == info.task
    if info.task == "segment":
        assert all(label == "O" or label[:2] in ("B-", "I-") for label in dataset.labels)


@pytest.mark.parametrize("name", SIZES)
def test_columns_that_restate_the_label_or_the_cut_are_no_observations(name):
    assert set(dataset_info(name).answer_columns) == {"prominence", "fold"} & set(COLUMNS.get(name, []))


def test_prosody_words_in_all():
    dataset = real("prosody")
    assert dataset.train.n_tokens + dataset.dev.n_tokens == 99_200
    assert dataset.labels == ["A", "N"]
    accented = [value != "0" for value in dataset.test.flat_columns["prominence"]]
    assert accented == [label == "A" for label in dataset.test.flat_labels]


def test_ocr_letters_in_all():
    dataset = real("ocr-letters")
    parts = (dataset.train, dataset.dev, dataset.test)
    assert sum(len(part) for part in parts) == 6_877
    assert sum(part.n_tokens for part in parts) == 52_152
    assert [np.unique(part.flat_columns["fold"]).tolist() for part in parts] == [list(range(2, 10)), [1], [0]]


def test_cb513_tears_no_copies_apart():
    dataset = real("cb513")
    assert sum(part.n_tokens for part in (dataset.train, dataset.dev, dataset.test)) == 144_011
    chains = [{"".join(chain) for chain in part.tokens} for part in (dataset.train, dataset.dev, dataset.test)]
    assert not chains[0] & chains[1]
    assert not (chains[0] | chains[1]) & chains[2]
