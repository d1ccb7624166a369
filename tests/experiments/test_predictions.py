"""Stored predictions: the same come back, and nothing but predictions is taken for them."""

from __future__ import annotations

import numpy as np
import pytest

from labseq_core.archives import load_archive, save_archive
from labseq_core.checks import LabSeqError
from labseq_core.experiments.results.predictions import Predictions, archive_bytes
from labseq_core.experiments.results.run_results import default_predictions, default_results

TRUTH, SAID = [["A", "B"], ["A"]], [["A", "A"], ["B"]]
SURE = [np.array([0.5, 0.9]), np.array([1.0])]


def arrays_of(stored: Predictions) -> dict:
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(stored).items()}


def test_the_same_predictions_come_back():
    for sure, probability in ((SURE, True), ([np.array([3.0, np.inf]), np.array([0.0])], False)):
        stored = Predictions.of(1, TRUTH, SAID, sure, probability)
        assert arrays_of(Predictions.from_bytes(stored.to_bytes())) == arrays_of(stored)


def test_those_that_come_with_labseq_are_taken():
    for name in default_results():
        assert default_predictions(name)


ODD_ARRAYS = {
    "truth": [np.array([0, 1, 9], np.int32), np.array([0, -1, 1], np.int32), np.array([0, 1], np.int32), np.zeros(3)],
    "answers": [np.array([0, 1, 2], np.int32)],
    "lengths": [np.array([2, 2]), np.array([3, 0]), np.array([], np.int64), np.array([[2, 1]]), np.array([2**40, 1])],
    "folds": [np.array([0]), np.array([-1, 0]), np.array([0, 10**6])],
    "confidence": [np.array([0.5, 0.9, 1.5]), np.array([0.5, 0.9, np.nan]), np.array([0.5, 0.9, -0.1]), np.ones(2)],
    "more": [np.zeros(2)],
}
ODD_META = [{"labels": "AB"}, {"labels": ["A", "A"]}, {"labels": [1, 2]}, {"probability": 1}]


def test_altered_predictions_are_refused_before_they_are_used():
    arrays, meta = load_archive(Predictions.of(0, TRUTH, SAID, SURE, True).to_bytes())
    altered = [({**arrays, name: odd}, meta) for name, odds in ODD_ARRAYS.items() for odd in odds]
    altered += [(arrays, {**meta, **odd}) for odd in ODD_META]
    altered += [({key: array for key, array in arrays.items() if key != name}, meta) for name in arrays]
    altered += [
        (arrays, {key: value for key, value in meta.items() if key != name}) for name in ("labels", "probability")
    ]
    for odd_arrays, odd_meta in altered:
        data = archive_bytes(lambda path, a=odd_arrays, m=odd_meta: save_archive(path, a, m))
        with pytest.raises(LabSeqError, match=r"the stored predictions are damaged: .*; run it again"):
            pytest.fail(str(arrays_of(Predictions.from_bytes(data))))
    with pytest.raises(
        LabSeqError, match="the stored predictions is not a LabSeq predictions file, or it is damaged; run"
    ):
        Predictions.from_bytes(b"nonsense")


def test_an_archive_that_unpacks_to_gigabytes_is_not_unpacked(monkeypatch):
    data = archive_bytes(lambda path: save_archive(path, {"zeros": np.zeros(2**20)}, {}))
    assert len(data) < 2**16
    monkeypatch.setattr("labseq_core.archives.MAX_UNPACKED", 2**22)
    with pytest.raises(LabSeqError, match="or it is damaged: it would take 8 MB, more than 4; train and save"):
        load_archive(data)
