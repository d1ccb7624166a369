"""What is shown of a model is what scores with it."""

from __future__ import annotations

import csv
import io
import math

import numpy as np
import pytest

from labseq_core import CRF, HMM, LabSeqError, MaxEnt, NaiveBayes, StructuredPerceptron
from labseq_core.explain import has_weights, label_weights, transition_table, weight_summary, weights_csv
from tests.reference import toy

X, Y = toy.corpus(seed=3, n_sequences=30)
BIO_X = [["Ana", "Paz", "vive", "en", "San", "Juan"], ["en", "Lima"]]
BIO_Y = [["B-P", "I-P", "O", "O", "B-L", "I-L"], ["O", "B-L"]]
LINEAR = [CRF(), CRF(l1=1.0, start_stop=True), MaxEnt(), StructuredPerceptron(epochs=2)]
SCORE = 1e-12


@pytest.mark.parametrize("learner", LINEAR, ids=lambda learner: learner.method_id)
def test_a_word_scores_the_weight_that_is_shown(learner):
    learner.fit(X, Y)
    for place, label in enumerate(learner.classes_):
        shown = {row["attribute"]: row["weight"] for row in label_weights(learner, label, top=100)}
        for word in toy.WORDS:
            (potentials,) = learner.potentials([[word]])
            assert shown.get(f"word={word}", 0.0) == pytest.approx(potentials.node[0, place], abs=SCORE)


def test_an_hmm_shows_log_probabilities_of_words():
    with_bias = [[[f"word={word}", "bias"] for word in sentence] for sentence in X]
    learner = HMM().fit(with_bias, Y)
    shown = {row["attribute"]: row["weight"] for row in label_weights(learner, "B", top=100)}
    assert sum(map(math.exp, shown.values())) == pytest.approx(1.0, abs=SCORE)
    (potentials,) = learner.potentials([[["word=Tres"]]])
    assert shown["word=Tres"] == potentials.node[0, 1]
    (potentials,) = learner.potentials([[["word=never"]]])
    assert shown["(unknown word)"] == potentials.node[0, 1]
    labels, table = transition_table(learner)
    assert labels == learner.classes_
    np.testing.assert_allclose(np.exp(table).sum(axis=1), 1.0, atol=SCORE)


def test_highest_and_lowest_without_zeros_or_repeats():
    learner = CRF(l1=0.5).fit(X, Y)
    column = learner.weights_.node[:, 0]
    everything = label_weights(learner, "A", top=100)
    assert [row["weight"] for row in everything] == sorted(column[column != 0.0], reverse=True)
    assert len(everything) > 2
    assert label_weights(learner, "A", top=1) == [everything[0], everything[-1]]


def test_the_filter_looks_at_names_in_any_case():
    learner = CRF().fit(X, Y)
    assert [row["attribute"] for row in label_weights(learner, "A", contains=" tRES ")] == ["word=Tres"]
    assert label_weights(learner, "A", contains="nowhere") == []


def test_transitions_run_from_row_to_column():
    # B follows A always and A never follows B.
    learner = CRF().fit([["x", "x"]] * 5, [["A", "B"]] * 5)
    labels, table = transition_table(learner)
    assert labels == ["A", "B"]
    assert table[0, 1] > 0.0 > table[1, 0]


@pytest.mark.parametrize(
    "learner", [CRF(constraints="bio"), StructuredPerceptron(constraints="bio")], ids=lambda learner: learner.method_id
)
def test_forbidden_transitions_are_minus_infinity(learner):
    labels, table = transition_table(learner.fit(BIO_X, BIO_Y))
    assert table[labels.index("O"), labels.index("I-P")] == -np.inf
    assert table[labels.index("B-L"), labels.index("I-P")] == -np.inf
    assert np.isfinite(table[labels.index("B-P"), labels.index("I-P")])
    assert "inf" not in weights_csv(learner)


def test_the_summary_counts_what_l1_left():
    learner = CRF(l1=1.0).fit(X, Y)
    summary = weight_summary(learner)
    assert summary["attributes"] == len(toy.WORDS)
    assert summary["parameters"] == 3 * len(toy.WORDS) + 9
    assert summary["nonzero"] == learner.n_nonzero_
    assert 0 < summary["zero"] == summary["parameters"] - summary["nonzero"]
    assert summary["share_zero"] == summary["zero"] / summary["parameters"]


@pytest.mark.parametrize("learner", LINEAR, ids=lambda learner: learner.method_id)
def test_the_csv_has_all_weights_in_full(learner):
    learner.fit(X, Y)
    rows = list(csv.DictReader(io.StringIO(weights_csv(learner))))
    assert len(rows) == weight_summary(learner)["nonzero"]
    assert sorted(float(row["weight"]) for row in rows) == sorted(
        learner.weights_.flat[learner.weights_.flat != 0.0].tolist()
    )
    place = {label: number for number, label in enumerate(learner.classes_)}
    for row in rows:
        if row["kind"] == "transition":
            assert float(row["weight"]) == learner.weights_.edge[place[row["attribute"]], place[row["label"]]]


def test_methods_without_weights_say_so():
    learner = NaiveBayes().fit(X, Y)
    assert not has_weights(NaiveBayes)
    for show in (
        lambda: label_weights(learner, "A"),
        lambda: transition_table(learner),
        lambda: weight_summary(learner),
    ):
        with pytest.raises(LabSeqError, match="NaiveBayes has no weights"):
            show()
    columns = HMM(emissions="attributes").fit(X, Y)
    assert transition_table(columns)[1].shape == (3, 3)
    with pytest.raises(LabSeqError, match="only transitions"):
        label_weights(columns, "A")


def test_bad_requests_say_what_to_do():
    with pytest.raises(LabSeqError, match="no label 'Z'; it knows A, B, C"):
        label_weights(CRF().fit(X, Y), "Z")
    with pytest.raises(LabSeqError, match="top is 0"):
        label_weights(CRF().fit(X, Y), "A", top=0)
    with pytest.raises(LabSeqError, match="not fitted"):
        transition_table(CRF())
