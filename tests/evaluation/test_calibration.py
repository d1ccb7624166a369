from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from labseq_core.checks import LabSeqError
from labseq_core.evaluation import calibration
from tests.reference import abstention as naive

TOLERANCE = 1e-12  # the same sums in another order
CLASSES = ["a", "b", "c"]


@st.composite
def labelled_marginals(draw, known_only=False):
    """Truth and (l, 3) marginals of some sequences; whole numbers over their sum give many ties and edges of bins."""
    names = CLASSES if known_only else [*CLASSES, "never seen"]
    lowest = 1 if known_only else 0
    truth, marginals = [], []
    for length in draw(st.lists(st.integers(1, 6), min_size=1, max_size=4)):
        weights = st.lists(st.integers(lowest, 5), min_size=3, max_size=3).filter(any)
        table = np.array([draw(weights) for _ in range(length)], dtype=np.float64)
        truth.append([draw(st.sampled_from(names)) for _ in range(length)])
        marginals.append(table / table.sum(axis=1, keepdims=True))
    return truth, marginals


@given(data=labelled_marginals(), bins=st.integers(1, 12))
def test_as_by_loops(data, bins):
    truth, marginals = data
    flat = [label for labels in truth for label in labels]
    rows = np.concatenate(marginals)
    probabilities = [dict(zip(CLASSES, row)) for row in rows.tolist()]
    confidence = rows.max(axis=1).tolist()
    right = [CLASSES[column] == label for column, label in zip(rows.argmax(axis=1).tolist(), flat)]
    found = calibration(truth, marginals, CLASSES, bins)
    assert found.log_loss == pytest.approx(naive.log_loss(flat, probabilities), abs=TOLERANCE)
    assert found.brier == pytest.approx(naive.brier(flat, probabilities), abs=TOLERANCE)
    assert found.ece == pytest.approx(naive.expected_calibration_error(right, confidence, bins), abs=TOLERANCE)
    for row, (count, promised, kept) in zip(found.reliability, naive.reliability(right, confidence, bins), strict=True):
        assert row.tokens == count
        if count:
            assert (row.confidence, row.accuracy) == pytest.approx((promised / count, kept / count), abs=TOLERANCE)
        else:
            assert (row.confidence, row.accuracy) == (None, None)


@given(data=labelled_marginals(known_only=True))
def test_agrees_with_scikit_learn(data):
    truth, marginals = data
    flat, rows = [label for labels in truth for label in labels], np.concatenate(marginals)
    found = calibration(truth, marginals, CLASSES)
    assert found.log_loss == pytest.approx(metrics.log_loss(flat, rows, labels=CLASSES), abs=TOLERANCE)
    by_label = [
        metrics.brier_score_loss([given == label for given in flat], rows[:, column])
        for column, label in enumerate(CLASSES)
        if label in flat
    ]
    missing = [np.mean(rows[:, column] ** 2) for column, label in enumerate(CLASSES) if label not in flat]
    assert found.brier == pytest.approx(sum(by_label) + sum(missing), abs=TOLERANCE)


def test_a_perfect_and_a_hopeless_model():
    sure = [np.array([[1.0, 0.0], [0.0, 1.0]])]
    perfect = calibration([["a", "b"]], sure, ["a", "b"])
    assert (perfect.log_loss, perfect.brier, perfect.ece) == (0.0, 0.0, 0.0)
    hopeless = calibration([["b", "a"]], sure, ["a", "b"])
    assert (hopeless.log_loss, hopeless.brier, hopeless.ece) == (math.inf, 2.0, 1.0)
    assert [row.tokens for row in hopeless.reliability] == [0] * 9 + [2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [], ["a"]), "nothing to evaluate"),
        (([["a"]], [np.array([[0.5]])], ["a"]), "sum to 1"),
        (([["a"]], [np.array([[1.5, -0.5]])], ["a", "b"]), "probabilities"),
        (([["a"]], [np.array([[1.0]])], ["a"], 0), "bins is 0"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(LabSeqError, match=message):
        calibration(*arguments)
