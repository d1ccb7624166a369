"""How sure models are, and what is withheld: probabilities where there are any, gaps where not."""

import csv
import io

import numpy as np
import pytest

from labseq_core import CRF, LabSeqError, StructuredPerceptron
from labseq_core.evaluation import token_accuracy
from labseq_core.explain import answers, has_probabilities, withheld_csv, withheld_rows
from tests.reference import toy

WORDS, LABELS = toy.corpus(seed=21, n_sequences=30)


@pytest.fixture(scope="module")
def crf() -> CRF:
    return CRF().fit(WORDS, LABELS)


def test_a_probabilistic_model_is_as_sure_of_a_label_as_that_is_probable(crf):
    predicted = [*crf.predict(WORDS[:-1]), ["B"] * len(WORDS[-1])]  # the last ones are not the most probable
    given = answers(crf, WORDS, predicted)
    assert given.probability
    assert has_probabilities(CRF)
    assert given.predicted == predicted
    for confidence, labels, by_label in zip(given.confidence, predicted, crf.predict_marginals(WORDS), strict=True):
        assert confidence.tolist() == [row[label] for row, label in zip(by_label, labels, strict=True)]
    best = answers(crf, WORDS, crf.predict(WORDS, decode="posterior"))
    for confidence, marginals in zip(best.confidence, crf.marginals(WORDS), strict=True):
        assert confidence.tolist() == marginals.max(axis=1).tolist()


def test_answers_by_score_gaps():
    learner = StructuredPerceptron(epochs=2).fit(WORDS, LABELS)
    given = answers(learner, WORDS, learner.predict(WORDS))
    assert not given.probability
    assert not has_probabilities(StructuredPerceptron)
    assert given.predicted == learner.predict(WORDS)
    assert [row.tolist() for row in given.confidence] == [row.tolist() for row in learner.score_gaps(WORDS)]


def test_withheld_tokens_are_those_below_the_threshold(crf):
    given = answers(crf, WORDS, crf.predict(WORDS))
    threshold = float(np.median(np.concatenate(given.confidence)))
    rows = withheld_rows(WORDS, LABELS, given, threshold)
    expected = [
        (number + 1, place + 1)
        for number, words in enumerate(WORDS)
        for place in range(len(words))
        if given.confidence[number][place] < threshold
    ]
    assert [(row["sequence"], row["position"]) for row in rows] == expected
    assert expected
    for row in rows:
        number, place = row["sequence"] - 1, row["position"] - 1
        assert (row["token"], row["true"]) == (WORDS[number][place], LABELS[number][place])
        assert row["right"] == (row["true"] == given.predicted[number][place])
        assert row["confidence"] == given.confidence[number][place]
    written = list(csv.DictReader(io.StringIO(withheld_csv(rows, run="r1"))))
    assert [float(row["confidence"]) for row in written] == [row["confidence"] for row in rows]
    assert {row["run"] for row in written} == {"r1"}
    assert withheld_rows(WORDS, LABELS, given, 0.0) == []
    assert sum(row["right"] for row in withheld_rows(WORDS, LABELS, given, 1.1)) == round(
        token_accuracy(LABELS, given.predicted) * sum(map(len, WORDS))
    )


def test_other_sequences_are_refused(crf):
    with pytest.raises(LabSeqError, match="different sequences"):
        withheld_rows([row[:-1] or row for row in WORDS], LABELS, answers(crf, WORDS, crf.predict(WORDS)), 1.1)
    with pytest.raises(LabSeqError, match="different sequences"):
        withheld_rows(WORDS[1:], LABELS[1:], answers(crf, WORDS, crf.predict(WORDS)), 0.5)
