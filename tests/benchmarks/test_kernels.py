"""The table of kernels: splits that do not overlap, and means of what was measured."""

import numpy as np
import pytest

from benchmarks import kernels
from labseq_core import HMSVM, Polynomial, load_dataset
from labseq_core.data.catalogue import dataset_info


def test_mean_and_error():
    rows = [{"a": 0.1}, {"a": 0.3}, {"a": None}]
    assert kernels.mean(rows, "a", 100) == "20.00 ± 10.00"
    assert kernels.mean(rows[:1], "a") == "0.10"
    assert kernels.mean(rows, "b") == ""


def test_a_small_table(monkeypatch, capsys):
    part = load_dataset("spanish-ner").train.select(range(40))
    halves = [(range(20), range(20, 40)), (range(20, 40), range(20))]
    splits = [kernels.split(part.select(inside), part.select(outside), "S2") for inside, outside in halves]
    monkeypatch.setitem(kernels.PARTS, "spanish", lambda folds: iter(splits))
    method = kernels.Method(lambda C: HMSVM(C, kernel=Polynomial(2), tol=0.1), "C", 1.0, (1e-6, 1.0))
    monkeypatch.setitem(kernels.METHODS, "spanish", {"degree 2": method})
    found = kernels.run("spanish", 2, False, ["degree 2"])
    kernels.show("spanish", found)
    text = capsys.readouterr().out
    mean = 100 * np.mean([row["accuracy"] for row in found["degree 2, C 1"]])
    assert f"| degree 2, C 1 | 2 | {mean:.2f} ±" in text
    assert "quoted: T F1" in text


@pytest.mark.corpus
def test_letters_are_trained_on_one_fold_and_tested_on_the_others():
    if not dataset_info("ocr-letters").available:
        pytest.skip("ocr-letters is neither in the cache nor in LABSEQ_DATA_MIRROR")
    train, labels, test, truth = next(kernels.ocr(1))
    assert len(train) + len(test) == 6877
    assert len(labels) == len(train) < len(test) == len(truth)
    assert train.n_attributes <= 128
