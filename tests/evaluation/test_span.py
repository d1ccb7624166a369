from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import f1_score, precision_score, recall_score
from seqeval.metrics.sequence_labeling import get_entities

from labseq_core.checks import LabSeqError
from labseq_core.evaluation import SegmentCounts, is_bio, segment_scores, spans
from tests.evaluation.strategies import BIO, IOBES, IOE, ODD_BIO, labelling_pairs
from tests.reference import conlleval

RATIO_TOLERANCE = 1e-12  # the same ratio of counts, rounded along another way


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["O"], []),
        (["O", "O", "O"], []),
        (["B-PER"], [(0, 1, "PER")]),
        (["I-PER"], [(0, 1, "PER")]),
        (["B-PER", "I-PER", "O", "B-LOC"], [(0, 2, "PER"), (3, 4, "LOC")]),
        # IOB2: two neighbours of one kind
        (["B-PER", "B-PER", "I-PER"], [(0, 1, "PER"), (1, 3, "PER")]),
        # IOB1: I opens, B only parts neighbours of one kind
        (["I-PER", "I-PER", "B-PER", "O", "I-LOC"], [(0, 2, "PER"), (2, 3, "PER"), (4, 5, "LOC")]),
        # the kind changes within I
        (["B-PER", "I-LOC", "I-LOC", "I-PER"], [(0, 1, "PER"), (1, 3, "LOC"), (3, 4, "PER")]),
        # hyphens belong to the kind; tags without a kind
        (["B-A-B", "I-A-B", "I-A"], [(0, 2, "A-B"), (2, 3, "A")]),
        (["B", "I", "O", "I"], [(0, 2, ""), (3, 4, "")]),
        # IOBES
        (["B-X", "E-X", "B-X", "I-X", "E-X"], [(0, 2, "X"), (2, 5, "X")]),
        (["S-X", "S-X", "O", "S-Y"], [(0, 1, "X"), (1, 2, "X"), (3, 4, "Y")]),
        # labels that are no chunk tags: nothing, but for the one right after another kind
        (["NN", "VB", "NN"], []),
        (["B-X", "NN", "NN", "O", "NN"], [(0, 1, "X"), (1, 3, "")]),
        # a lone full stop counts as O
        (["B-X", ".", "I-X"], [(0, 1, "X"), (2, 3, "X")]),
        ([], []),
    ],
)
def test_spans_worked_out_by_hand(labels, expected):
    assert spans(labels) == expected


def test_scores_worked_out_by_hand():
    y_true = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "B-ORG", "I-ORG", "I-ORG"], ["B-LOC"]]
    y_pred = [["B-PER", "I-PER", "O", "B-ORG"], ["O", "B-ORG", "I-ORG", "O"], ["I-LOC"]]
    scores = segment_scores(y_true, y_pred)
    # PER is exact; the second LOC counts although it lacks its B; ORG is cut short once and put in LOC's place once.
    assert (scores.correct, scores.predicted, scores.true) == (2, 4, 4)
    assert (scores.precision, scores.recall, scores.f1) == (0.5, 0.5, 0.5)
    assert dict(scores.per_type) == {
        "LOC": SegmentCounts(correct=1, predicted=1, true=2),
        "ORG": SegmentCounts(correct=0, predicted=2, true=1),
        "PER": SegmentCounts(correct=1, predicted=1, true=1),
    }
    assert scores.per_type["LOC"].precision == 1.0
    assert scores.per_type["LOC"].recall == 0.5
    assert scores.per_type["LOC"].f1 == pytest.approx(2 / 3, rel=RATIO_TOLERANCE)


def test_a_span_does_not_go_on_in_the_next_sequence():
    scores = segment_scores([["B-PER"], ["I-PER"]], [["B-PER"], ["I-PER"]])
    assert (scores.correct, scores.predicted, scores.true) == (2, 2, 2)


def test_without_any_span_every_share_is_zero():
    scores = segment_scores([["O", "O"], ["O"]], [["O", "O"], ["O"]])
    assert (scores.precision, scores.recall, scores.f1) == (0.0, 0.0, 0.0)
    assert dict(scores.per_type) == {}


def test_spans_found_only_on_one_side():
    missed, invented = segment_scores([["B-X"]], [["O"]]), segment_scores([["O"]], [["B-X"]])
    assert (missed.precision, missed.recall, missed.f1, missed.true) == (0.0, 0.0, 0.0, 1)
    assert (invented.precision, invented.recall, invented.f1, invented.predicted) == (0.0, 0.0, 0.0, 1)


def assert_counts_are_conllevals(y_true, y_pred):
    scores, tally = segment_scores(y_true, y_pred), conlleval.count(y_true, y_pred)
    assert (scores.correct, scores.predicted, scores.true) == tally.totals()
    for kind in tally.predicted | tally.true:
        counts = scores.per_type.get(kind, SegmentCounts(0, 0, 0))
        expected = tally.correct[kind], tally.predicted[kind], tally.true[kind]
        assert (counts.correct, counts.predicted, counts.true) == expected


@pytest.mark.parametrize("alphabet", [BIO, IOE, ODD_BIO], ids=["bio", "ioe", "odd"])
@given(data=st.data())
def test_counts_agree_with_a_naive_conlleval(alphabet, data):
    assert_counts_are_conllevals(*data.draw(labelling_pairs(alphabet)))


@given(pair=labelling_pairs((*BIO, "NN", ".", "-LRB-", "")))
def test_other_labels_open_as_many_spans_as_in_conlleval(pair):
    """How many are *correct* is not compared: conlleval leaves a span of a label without '-' open before O."""
    scores, tally = segment_scores(*pair), conlleval.count(*pair)
    assert (scores.predicted, scores.true) == tally.totals()[1:]


@given(pair=labelling_pairs(IOBES))
def test_spans_agree_with_seqeval(pair):
    for labels in (*pair[0], *pair[1]):
        assert spans(labels) == [(begin, last + 1, kind) for kind, begin, last in get_entities(labels)]


@given(pair=labelling_pairs(BIO))
def test_scores_agree_with_seqeval(pair):
    scores = segment_scores(*pair)
    assert scores.precision == pytest.approx(precision_score(*pair, zero_division=0), abs=RATIO_TOLERANCE)
    assert scores.recall == pytest.approx(recall_score(*pair, zero_division=0), abs=RATIO_TOLERANCE)
    assert scores.f1 == pytest.approx(f1_score(*pair, zero_division=0), abs=RATIO_TOLERANCE)


@given(pair=labelling_pairs(BIO))
def test_kinds_add_up_to_the_whole(pair):
    scores = segment_scores(*pair)
    for name in ("correct", "predicted", "true"):
        assert sum(getattr(counts, name) for counts in scores.per_type.values()) == getattr(scores, name)
    assert list(scores.per_type) == sorted(scores.per_type)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["O", "B-PER", "I-PER"], True),
        (["I-NP"], True),
        (["B-A-B", "O"], True),
        (["O"], False),
        ([], False),
        (["O", "B"], False),
        (["O", "B-"], False),
        (["O", "B-PER", "S-PER"], False),
        (["O", "B-PER", "X"], False),
        (["NN", "VB"], False),
        (["Big", "Inn"], False),
    ],
)
def test_is_bio(labels, expected):
    assert is_bio(labels) is expected


@pytest.mark.parametrize("labels", ["B-PER", [1], 7, [["O"]]])
def test_spans_of_no_labelling_is_an_input_error(labels):
    with pytest.raises(LabSeqError, match="label"):
        spans(labels)
