from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given

from labseq_core.checks import LabSeqError
from labseq_core.evaluation import (
    confusion,
    evaluate,
    hamming_risk,
    per_label,
    segment_scores,
    sequence_accuracy,
    token_accuracy,
)
from tests.evaluation.strategies import BIO, labelling_pairs

METRICS = (token_accuracy, hamming_risk, confusion, per_label, segment_scores, sequence_accuracy, evaluate)
SUMMARY_KEYS = [
    "accuracy",
    "sequence_accuracy",
    "hamming_risk",
    "span_precision",
    "span_recall",
    "span_f1",
    "n_tokens",
    "n_sequences",
]
SPANISH_TRAINING_TOKENS = 264_715
SECONDS_FOR_ALL_METRICS = 1.0  # about ten times what a two-core machine needs


def test_summary_by_hand():
    y_true = [["B-X", "I-X", "O", "O"], ["O"], ["O", "B-X"]]
    y_pred = [["B-X", "I-X", "O", "B-X"], ["O"], ["O", "O"]]
    summary = evaluate(y_true, y_pred).summary()
    assert list(summary) == SUMMARY_KEYS
    assert list(summary.values()) == [5 / 7, 1 / 3, (1 / 4 + 0 + 1 / 2) / 3, 0.5, 0.5, 0.5, 7, 3]


def test_spans_are_not_scored_where_labels_are_not_bio():
    report = evaluate([["NN", "VB"]], [["NN", "NN"]])
    assert report.segments is None
    assert list(report.summary()) == SUMMARY_KEYS
    assert [report.span_precision, report.span_recall, report.span_f1] == [None, None, None]


def test_all_outside_on_both_sides_is_not_bio():
    report = evaluate([["O", "O"]], [["O", "O"]])
    assert (report.accuracy, report.sequence_accuracy, report.span_f1) == (1.0, 1.0, None)


def test_predicting_nothing_scores_zero():
    assert evaluate([["B-X", "O"]], [["O", "O"]]).span_f1 == 0.0


@given(pair=labelling_pairs(BIO))
def test_report_holds_what_the_functions_give(pair):
    report = evaluate(*pair)
    assert report.accuracy == token_accuracy(*pair)
    assert report.sequence_accuracy == sequence_accuracy(*pair)
    assert report.hamming_risk == hamming_risk(*pair)
    assert list(report.per_label) == per_label(*pair)
    assert report.confusion.labels == confusion(*pair).labels
    assert report.confusion.counts.tolist() == confusion(*pair).counts.tolist()
    assert report.n_tokens == sum(map(len, pair[0])) == report.confusion.counts.sum()
    assert report.n_sequences == len(pair[0])
    if report.segments is not None:
        assert report.segments == segment_scores(*pair)


@given(pair=labelling_pairs(BIO))
def test_sequence_accuracy_counts_equal_lists(pair):
    equal = [true == predicted for true, predicted in zip(*pair)]
    assert sequence_accuracy(*pair) == sum(equal) / len(equal)


def test_any_nested_sequences_are_taken():
    y_true, y_pred = [["B-X", "O"], ["O", "B-X"]], [["B-X", "O"], ["O", "O"]]
    expected = evaluate(y_true, y_pred).summary()
    for form in (
        lambda y: tuple(map(tuple, y)),
        np.array,
        lambda y: np.array(y, dtype=object),
        lambda y: [np.array(row) for row in y],
    ):
        assert evaluate(form(y_true), form(y_pred)).summary() == expected


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("y_true", "y_pred", "message"),
    [
        ([["O"], ["O"]], [["O"]], "y_true has 2 sequences, y_pred has 1"),
        ([["O"], ["O", "O"]], [["O"], ["O"]], "sequence 1 has 2 true and 1 predicted labels"),
        # the same number of tokens in all
        ([["O"], ["O", "O"]], [["O", "O"], ["O"]], "sequence 0 has 1 true and 2 predicted labels"),
        ([], [], "empty"),
        ([["O"], []], [["O"], []], "sequence 1 has 0 true and 0 predicted labels; remove"),
        ([["O", "O"]], [["O", 3]], "label 1 of sequence 0 of y_pred is 3; labels must be str"),
        ([["O"], [None]], [["O"], ["O"]], "label 0 of sequence 1 of y_true is None"),
        ([[["O"]]], [["O"]], r"label 0 of sequence 0 of y_true is \['O'\]"),
        ([float("nan")], [["O"]], "y_true must be a list of label sequences.*sequence 0 is nan"),
        # a flat list would otherwise be read letter by letter
        (["O", "B-X"], ["O", "B-X"], "y_true must be a list of label sequences.*sequence 0 is 'O'"),
        ([["O"]], "O", "y_pred must be a list of label sequences"),
        (None, [["O"]], "y_true must be a list of label sequences"),
    ],
)
def test_bad_input_is_one_line_that_names_the_place(metric, y_true, y_pred, message):
    with pytest.raises(LabSeqError, match=message) as caught:
        metric(y_true, y_pred)
    assert "\n" not in str(caught.value)


def test_a_whole_corpus_takes_well_under_a_second():
    generator = np.random.default_rng(0)
    labels = np.array(["O", *(f"{tag}-{kind}" for tag in "BI" for kind in ("PER", "LOC", "ORG", "MISC"))])
    length = 32
    shape = (SPANISH_TRAINING_TOKENS // length, length)
    y_true, y_pred = (labels[generator.integers(len(labels), size=shape)].tolist() for _ in range(2))
    began = time.perf_counter()
    evaluate(y_true, y_pred)
    assert time.perf_counter() - began < SECONDS_FOR_ALL_METRICS
