"""Which sequences a cell of a confusion matrix opens, and where methods disagree."""

import pytest

from labseq_core.checks import LabSeqError
from labseq_core.experiments import predictions, result
from labseq_core.experiments.results.example_sequences import disagreeing, labelled, taken_for
from labseq_core.experiments.run.one_task import scored_parts
from tests.experiments.runs import quick, trained_here

PERCEPTRON = "Averaged perceptron (epochs=2)"


@pytest.fixture(scope="module")
def run_id() -> str:
    return trained_here(quick())


@pytest.fixture(scope="module")
def said(run_id):
    return {label: predictions(run_id, label) for label in ("HMM", PERCEPTRON)}


def test_every_cell_opens_its_sequences(run_id, said):
    matrix = result(run_id).confusion["HMM"]
    truth, predicted = said["HMM"].labellings("truth"), said["HMM"].labellings("predicted")
    for true, row in zip(matrix["labels"], matrix["counts"]):
        for label, count in zip(matrix["labels"], row):
            tokens = [
                place
                for place, pair in enumerate(zip(truth, predicted))
                for cell in zip(*pair)
                if cell == (true, label)
            ]
            assert len(tokens) == count
            assert taken_for(said["HMM"], true, label) == sorted(set(tokens))
    assert taken_for(said["HMM"], "nonsense", "O") == []


def test_methods_disagree_where_their_labels_differ_most_first(said):
    rows = zip(*(each.labellings("predicted") for each in said.values()))
    different = [sum(a != b for a, b in zip(*pair)) for pair in rows]
    expected = sorted((-count, place) for place, count in enumerate(different) if count)
    assert disagreeing(said) == [place for _, place in expected]
    assert disagreeing({"HMM": said["HMM"], "the same": said["HMM"]}) == []


def test_sentences_have_their_words_in_every_fold(run_id, said):
    parts = scored_parts(result(run_id).config)
    first = len(parts[0])
    found = labelled([0, first, first + 3], parts, said)
    assert [(each.fold, each.number) for each in found] == [(1, 1), (2, 1), (2, 4)]
    for each in found:
        part = parts[each.fold - 1]
        assert each.tokens == part.tokens[each.number - 1]
        assert each.truth == part.labels[each.number - 1]
    assert found[2].predictions[PERCEPTRON] == said[PERCEPTRON].labellings("predicted")[first + 3]


def test_another_corpus_is_told(run_id, said):
    parts = scored_parts(result(run_id).config)
    with pytest.raises(LabSeqError, match="the corpus has changed"):
        labelled([0], [parts[0]], said)
    with pytest.raises(LabSeqError, match="the corpus has changed"):
        labelled([0], parts[::-1], said)
