from __future__ import annotations

import csv
import io
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labseq_core.checks import LabSeqError
from labseq_core.evaluation import (
    AbstentionCurve,
    abstention_curve,
    compare_at,
    coverage_table,
    curves_csv,
    threshold_table,
    top_labels,
)
from tests.reference import abstention as naive

RATIO_TOLERANCE = 1e-12  # the same ratio of counts, rounded along another way

# Few distinct values, so that ties are the rule.
CONFIDENCES = st.sampled_from([0.0, 0.25, 0.5, 0.5000000001, 0.75, 1.0])
GAPS = st.sampled_from([0.0, 1e-9, 0.5, 3.0, 700.0, math.inf])


def tokens(confidence):
    return st.lists(st.tuples(st.booleans(), confidence), min_size=1, max_size=40)


def curve_of(pairs, calibrated=True):
    """Each token a sequence of its own; 'a' is the truth."""
    truth = [["a"]] * len(pairs)
    predicted = [["a" if right else "b"] for right, _ in pairs]
    return abstention_curve(truth, predicted, [np.array([sure]) for _, sure in pairs], calibrated=calibrated)


def expect_naive(pairs, calibrated):
    right, confidence = [good for good, _ in pairs], [sure for _, sure in pairs]
    curve, expected = curve_of(pairs, calibrated), naive.abstention_rows(right, confidence)
    rows = curve.rows()
    assert len(rows) == len(expected)
    for row, wanted in zip(rows, expected, strict=True):
        assert row == pytest.approx(wanted, abs=RATIO_TOLERANCE)
    for name in ("coverage", "precision", "recall", "risk", "error_reduction"):
        assert getattr(curve, name).tolist() == pytest.approx([row[name] for row in expected], abs=RATIO_TOLERANCE)
    assert curve.aurc == pytest.approx(naive.area_under_risk(right, confidence), abs=RATIO_TOLERANCE)
    assert curve.n_tokens == len(pairs)


@given(pairs=tokens(CONFIDENCES))
def test_probabilities_as_by_loops(pairs):
    expect_naive(pairs, calibrated=True)


@given(pairs=tokens(GAPS))
def test_gaps_as_by_loops(pairs):
    expect_naive(pairs, calibrated=False)


@given(pairs=tokens(CONFIDENCES), threshold=st.floats(-0.5, 1.5))
def test_any_threshold_as_by_loops(pairs, threshold):
    point = curve_of(pairs).at(threshold)
    answered = [good for good, sure in pairs if sure >= threshold]
    assert (point.answered, point.correct) == (len(answered), sum(answered))
    assert point.coverage == len(answered) / len(pairs)
    assert point.recall == sum(answered) / len(pairs)
    if not answered:
        assert (point.precision, point.risk, point.error_reduction) == (None, None, None)
    else:
        assert point.precision == sum(answered) / len(answered)


@given(pairs=tokens(GAPS), coverage=st.floats(0.0, 1.0))
def test_the_threshold_for_a_coverage_is_the_highest(pairs, coverage):
    curve = curve_of(pairs, calibrated=False)
    found = curve.threshold_for(coverage)
    if coverage > 0.0:
        assert curve.at(found).coverage >= coverage
        higher = [value for value in curve.thresholds.tolist() if value > found]
        assert all(curve.at(value).coverage < coverage for value in higher)
    else:
        assert found == math.inf


@given(folds=st.lists(tokens(CONFIDENCES), min_size=1, max_size=4))
def test_folds_together_are_the_curve_of_all_tokens(folds):
    whole = [pair for fold in folds for pair in fold]
    together = AbstentionCurve.concatenate([curve_of(fold) for fold in folds])
    flat = AbstentionCurve.of(np.array([sure for _, sure in whole]), np.array([right for right, _ in whole]))
    for curve in (together, flat):
        assert curve.rows() == curve_of(whole).rows()
        assert (curve.aurc, curve.calibrated) == (curve_of(whole).aurc, True)
        assert (curve.answered.dtype, curve.correct.dtype) == (np.int64, np.int64)


@given(pairs=tokens(GAPS), coverage=st.floats(0.0, 1.0))
def test_the_surest_share_as_by_loops(pairs, coverage):
    point = curve_of(pairs, calibrated=False).at_coverage(coverage)
    # Groups of equal confidence, surest first, until there are enough.
    answered = []
    for gap in sorted({sure for _, sure in pairs}, reverse=True):
        if len(answered) / len(pairs) >= coverage:
            break
        answered += [right for right, sure in pairs if sure == gap]
    if coverage > 0.0 or math.inf not in [sure for _, sure in pairs]:
        assert (point.answered, point.correct) == (len(answered), sum(answered))
    wrong = [not right for right, _ in pairs]
    if answered and any(wrong):
        risk = sum(not right for right in answered) / len(answered)
        assert point.error_reduction == pytest.approx(1 - risk / (sum(wrong) / len(wrong)), abs=RATIO_TOLERANCE)


def test_all_kinds_of_confidence_can_be_compared_at_a_share():
    sure = curve_of([(True, 0.9), (True, 0.8), (False, 0.6), (False, 0.5)])
    gaps = curve_of([(False, 9.0), (True, 4.0), (True, 3.0), (True, 1.0)], calibrated=False)
    rows = coverage_table({"p": sure, "gap": gaps}, [0.5, 1.0])
    assert [(row["at"], row["method"], row["probability"], row["threshold"], row["error_reduction"]) for row in rows] == [
        (0.5, "p", True, 0.8, 1.0), (0.5, "gap", False, 4.0, -1.0), (1.0, "p", True, 0.5, 0.0), (1.0, "gap", False, 1.0, 0.0),
    ]  # fmt: skip
    assert rows[0]["aurc"] == sure.aurc


def test_ties_are_one_step_by_hand():
    curve = curve_of([(True, 0.9), (False, 0.6), (True, 0.6), (True, 0.4)])
    assert curve.thresholds.tolist() == [0.9, 0.6, 0.4]
    assert curve.answered.tolist() == [1, 3, 4]
    assert curve.correct.tolist() == [1, 2, 3]
    # 1 · 0 + 2 · 1/3 + 1 · 1/4 over 4
    assert curve.aurc == pytest.approx((2 / 3 + 1 / 4) / 4, abs=RATIO_TOLERANCE)
    assert curve.at(0.6).error_reduction == pytest.approx(1 - (1 / 3) / (1 / 4), abs=RATIO_TOLERANCE)
    assert curve.at(0.91).answered == 0


@pytest.mark.parametrize(("right", "risk"), [(True, 0.0), (False, 1.0)])
def test_all_right_and_all_wrong(right, risk):
    for size in (1, 5):
        curve = curve_of([(right, 0.5 + 0.1 * place) for place in range(size)])
        assert curve.risk.tolist() == [risk] * size
        assert curve.aurc == risk
        assert curve.error_reduction.tolist() == [0.0] * size
        assert curve.at(0.0).error_reduction == 0.0


def test_marginals_by_hand():
    marginals = [np.array([[0.7, 0.3], [0.2, 0.8]]), np.array([[0.5, 0.5]])]
    predicted, confidence = top_labels(marginals, ["a", "b"])
    assert predicted == [["a", "b"], ["a"]]
    assert [row.tolist() for row in confidence] == [[0.7, 0.8], [0.5]]
    curve = abstention_curve([["a", "a"], ["a"]], predicted, confidence)
    assert curve.thresholds.tolist() == [0.8, 0.7, 0.5]
    assert curve.correct.tolist() == [0, 1, 2]
    assert curve.calibrated
    # A rounded sum just above 1 is 1.
    assert top_labels([np.array([[1.0 + 1e-15]])], ["a"])[1][0].tolist() == [1.0]


def test_a_gap_answers_as_many_as_the_first_probability():
    sure = curve_of([(True, 0.9), (True, 0.8), (False, 0.6), (False, 0.5)])
    gaps = curve_of([(False, math.inf), (True, 4.0), (True, 4.0), (False, 1.0)], calibrated=False)
    first, second = compare_at({"gap": gaps, "p": sure}, 0.7)
    assert (first["method"], first["probability"], first["threshold"], first["answered"]) == ("gap", False, 4.0, 3)
    assert (second["method"], second["threshold"], second["answered"], second["precision"]) == ("p", 0.7, 2, 1.0)
    assert second["aurc"] == sure.aurc
    rows = threshold_table({"p": sure, "gap": gaps}, [0.0, 0.7])
    assert [(row["at"], row["method"], row["answered"]) for row in rows] == [
        (0.0, "p", 4), (0.0, "gap", 4), (0.7, "p", 2), (0.7, "gap", 3),
    ]  # fmt: skip


def test_nothing_answered_stays_nothing_for_a_gap():
    sure, gaps = curve_of([(True, 0.9)]), curve_of([(True, 4.0)], calibrated=False)
    assert [row["answered"] for row in compare_at({"p": sure, "gap": gaps}, 0.95)] == [0, 0]


def test_the_csv_has_every_step():
    curves = {"p": curve_of([(True, 0.9), (False, 0.6)]), "gap": curve_of([(True, math.inf)], calibrated=False)}
    rows = list(csv.DictReader(io.StringIO(curves_csv(curves, run_id="r1"))))
    assert [(row["run_id"], row["method"], row["probability"]) for row in rows] == [
        ("r1", "p", "True"), ("r1", "p", "True"), ("r1", "gap", "False"),
    ]  # fmt: skip
    assert [float(row["precision"]) for row in rows] == [1.0, 0.5, 1.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [], []), "nothing to evaluate"),
        (([["a"]], [["a"]], []), "confidence has 0 sequences, y_true has 1"),
        (([["a"]], [["a"]], [np.array([0.1, 0.2])]), "confidence of sequence 0 has shape"),
        (([["a"]], [["a"]], [np.array([math.nan])]), "confidence contains NaN"),
        (([["a"]], [["a"]], [np.array([1.5])]), "calibrated=False"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(LabSeqError, match=message):
        abstention_curve(*arguments)


def test_other_bad_input_is_named():
    curve = curve_of([(True, 0.9)])
    with pytest.raises(LabSeqError, match="threshold is NaN"):
        curve.at(math.nan)
    with pytest.raises(LabSeqError, match="coverage is 2"):
        curve.threshold_for(2)
    with pytest.raises(LabSeqError, match="a column for each"):
        top_labels([np.ones((1, 3))], ["a", "b"])
    gap = curve_of([(True, 4.0)], calibrated=False)
    for call, message in [
        (lambda: AbstentionCurve.concatenate([]), "curves is empty"),
        (lambda: AbstentionCurve.concatenate([curve, gap]), "cannot be put together"),
        (lambda: AbstentionCurve.of(np.array([]), np.array([], dtype=bool)), "nothing to evaluate"),
        (lambda: AbstentionCurve.of(np.array([0.5]), np.array([True, False])), "two flat arrays of one length"),
        (lambda: AbstentionCurve.of(np.array([0.5]), np.array([1])), "correct is of type int64"),
        (lambda: AbstentionCurve.of(np.array([math.nan]), np.array([True])), "confidence contains NaN"),
        (lambda: AbstentionCurve.of(np.array([1.5]), np.array([True])), "calibrated=False"),
    ]:
        with pytest.raises(LabSeqError, match=message):
            call()
    with pytest.raises(LabSeqError, match="no curve is calibrated"):
        compare_at({"gap": curve_of([(True, 4.0)], calibrated=False)}, 0.5)
