from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from sklearn.metrics import accuracy_score, confusion_matrix, precision_recall_fscore_support

from labseq_core.checks import LabSeqError
from labseq_core.evaluation import LabelScore, confusion, hamming_risk, per_label, token_accuracy
from tests.evaluation.strategies import BIO, labelling_pairs

RATIO_TOLERANCE = 1e-12  # the same ratio of counts, rounded along another way

Y_TRUE = [["N", "V", "N", "N"], ["V"], ["D", "N"]]
Y_PRED = [["N", "N", "N", "V"], ["V"], ["N", "N"]]


def flat(nested):
    return [label for sequence in nested for label in sequence]


def test_accuracy_by_hand():
    assert token_accuracy(Y_TRUE, Y_PRED) == pytest.approx(4 / 7, rel=RATIO_TOLERANCE)


def test_hamming_risk_by_hand():
    # 2 of 4, 0 of 1 and 1 of 2 are wrong.
    assert hamming_risk(Y_TRUE, Y_PRED) == pytest.approx((2 / 4 + 0 / 1 + 1 / 2) / 3, rel=RATIO_TOLERANCE)


def test_confusion_by_hand():
    matrix = confusion(Y_TRUE, Y_PRED)
    assert matrix.labels == ("D", "N", "V")
    assert matrix.counts.dtype == np.int64
    assert matrix.counts.tolist() == [[0, 1, 0], [0, 3, 1], [0, 1, 1]]


def test_per_label_by_hand():
    d, n, v = per_label(Y_TRUE, Y_PRED)
    # D was never predicted: its precision is 0/0 = 0.
    assert d == LabelScore("D", precision=0.0, recall=0.0, f1=0.0, support=1, predicted=0)
    assert n == LabelScore("N", precision=3 / 5, recall=3 / 4, f1=2 * 3 / 9, support=4, predicted=5)
    assert v == LabelScore("V", precision=1 / 2, recall=1 / 2, f1=1 / 2, support=2, predicted=2)


def test_confusion_in_a_given_order_with_a_label_that_does_not_occur():
    matrix = confusion(Y_TRUE, Y_PRED, labels=["V", "X", "N", "D"])
    assert matrix.labels == ("V", "X", "N", "D")
    assert matrix.counts.tolist() == [[1, 0, 1, 0], [0, 0, 0, 0], [1, 0, 3, 0], [0, 0, 1, 0]]


def test_confusion_refuses_to_drop_a_label():
    with pytest.raises(LabSeqError, match="does not contain D, V"):
        confusion(Y_TRUE, Y_PRED, labels=["N"])


def test_a_label_named_twice_is_refused():
    with pytest.raises(LabSeqError, match="twice"):
        per_label(Y_TRUE, Y_PRED, labels=["N", "N"])


def test_per_label_rows_can_be_chosen():
    whole = {row.label: row for row in per_label(Y_TRUE, Y_PRED)}
    chosen = per_label(Y_TRUE, Y_PRED, labels=["V", "X"])
    assert chosen == [whole["V"], LabelScore("X", 0.0, 0.0, 0.0, 0, 0)]


def test_counts_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        confusion(Y_TRUE, Y_PRED).counts[0, 0] = 5


@pytest.mark.parametrize(("predicted", "accuracy"), [("A", 1.0), ("B", 0.0)])
def test_one_sequence_of_length_one(predicted, accuracy):
    assert token_accuracy([["A"]], [[predicted]]) == accuracy
    assert hamming_risk([["A"]], [[predicted]]) == 1.0 - accuracy


@given(pair=labelling_pairs(BIO))
def test_agrees_with_scikit_learn(pair):
    y_true, y_pred = pair
    true, predicted = flat(y_true), flat(y_pred)
    labels = sorted({*true, *predicted})
    assert token_accuracy(y_true, y_pred) == pytest.approx(accuracy_score(true, predicted), abs=RATIO_TOLERANCE)
    everything = confusion_matrix(true, predicted, labels=BIO)
    assert confusion(y_true, y_pred, labels=BIO).counts.tolist() == everything.tolist()
    occurring = [BIO.index(label) for label in labels]
    assert confusion(y_true, y_pred).counts.tolist() == everything[np.ix_(occurring, occurring)].tolist()
    oracle = precision_recall_fscore_support(true, predicted, labels=labels, zero_division=0)
    rows = per_label(y_true, y_pred)
    assert [row.label for row in rows] == labels
    ours = [[row.precision, row.recall, row.f1, row.support] for row in rows]
    np.testing.assert_allclose(ours, np.transpose(oracle), rtol=0, atol=RATIO_TOLERANCE)


@given(pair=labelling_pairs(BIO))
def test_hamming_risk_is_the_mean_error_of_a_sequence(pair):
    errors = [1 - accuracy_score(true, predicted) for true, predicted in zip(*pair)]
    assert hamming_risk(*pair) == pytest.approx(sum(errors) / len(errors), abs=RATIO_TOLERANCE)
