"""Support sequences as data: the figure shows what differs, the CSV has everything, the figures add up."""

import csv
import io

import pytest

from labseq_core import CRF, HMSVM, LabSeqError, Polynomial
from labseq_core.explain import (
    has_support,
    label_weights,
    support_csv,
    support_examples,
    support_figure,
    training_rows,
    transition_table,
)
from tests.reference import toy

WORDS, LABELS = toy.corpus(seed=21, n_sequences=30)


@pytest.fixture(scope="module")
def model() -> HMSVM:
    return HMSVM(tol=1e-3).fit(WORDS, LABELS)


def test_figure_4_2(model):
    first = support_examples(model)[0]["sequence"]
    truth, *rivals = support_figure(model, first, top=1000)
    rows = model.support_of(first)
    assert truth["labels"] == LABELS[first] == rows[0]["labels"]
    assert [row["alpha"] for row in rivals] == sorted((row["alpha"] for row in rivals), reverse=True)
    for shown, row in zip(rivals, rows[1:], strict=True):
        assert any(label is not None for label in shown["labels"])
        assert [given or true for given, true in zip(shown["labels"], truth["labels"])] == row["labels"]
        assert all(given != true for given, true in zip(shown["labels"], truth["labels"]))
    assert len(support_figure(model, first, top=1)) == 2
    without = next(i for i in range(30) if i not in model.support_numbers())
    assert support_figure(model, without) == []


def test_sparseness_adds_up(model):
    examples = support_examples(model)
    assert model.n_support_examples_ == len(examples)
    assert model.n_support_sequences_ == sum(row["rivals"] for row in examples)
    assert model.support_per_example_ == pytest.approx(model.n_support_sequences_ / len(examples))
    assert model.satisfied_share_ == pytest.approx(1 - len(examples) / 30)
    assert model.working_set_size_ >= model.n_support_sequences_
    wrong = sum(len(model.classes_) ** len(words) - 1 for words in WORDS)
    assert 10**model.log10_constraints_ == pytest.approx(wrong)
    assert [row["alpha"] for row in examples] == sorted((row["alpha"] for row in examples), reverse=True)


def test_csv_and_training(model):
    rows = list(csv.DictReader(io.StringIO(support_csv(model, run="r1"))))
    assert len(rows) == len(model.support_sequences_)
    assert {row["run"] for row in rows} == {"r1"}
    assert rows[0]["labels"].split() == LABELS[int(rows[0]["sequence"]) - 1]
    assert [float(row["alpha"]) for row in rows] == model.support_sequences_["alpha"].tolist()
    history = training_rows(model)
    assert history[-1]["gap"] == pytest.approx(model.gap_)
    assert history[-1]["support_sequences"] == model.n_support_sequences_
    assert sum(row["growth"] for row in history) == history[-1]["working_set"] == model.working_set_size_
    assert all(0 <= row["looked_at"] <= len(WORDS) for row in history)
    hard = HMSVM(slack="none", tol=1e-2).fit([["a", "b"], ["b", "a"]], [["A", "B"], ["B", "A"]])
    assert all(row["primal"] is None or row["primal"] >= row["dual"] - 1e-9 for row in training_rows(hard))


def test_what_has_none(model):
    assert has_support(HMSVM)
    assert not has_support(CRF)
    with pytest.raises(LabSeqError, match="CRF has no support sequences to show; choose HMSVM"):
        support_examples(CRF(max_iter=1).fit(WORDS, LABELS))
    with pytest.raises(LabSeqError, match="not fitted"):
        support_examples(HMSVM())
    with pytest.raises(LabSeqError, match="sequence is 30; the model was trained on 30"):
        support_figure(model, 30)


def test_a_kernel_hides_attributes_but_not_transitions():
    kernel = HMSVM(kernel=Polynomial(2), tol=1e-2, eta=0.5).fit(WORDS, LABELS)
    with pytest.raises(LabSeqError, match="has a kernel, so it has no weights of attributes"):
        label_weights(kernel, "A")
    labels, table = transition_table(kernel)
    assert labels == kernel.classes_
    assert table.tolist() == kernel.potentials(WORDS[:1])[0].edge.tolist()
