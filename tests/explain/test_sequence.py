"""What is shown of one sentence is what the model says of it; a trellis shows what a recursion has done so far."""

from __future__ import annotations

import numpy as np
import pytest

from labseq_core import CRF, FeatureTemplate, LabSeqError, StructuredPerceptron
from labseq_core.data.sequences import Sequences
from labseq_core.explain import RECURSIONS, columns_in_use, read_sequence, sentence_of, trellis
from labseq_core.learners import METHODS, make_learner
from tests.reference import toy

X, Y = toy.corpus(seed=30, n_sequences=24)
LENGTHS = [[float(len(word)) for word in x] for x in X]
DATA = Sequences.from_lists(X, Y, {"length": LENGTHS, "kind": [[word[:1] for word in x] for x in X]})
LONGEST = int(np.argmax(DATA.lengths))


@pytest.mark.parametrize("method", METHODS)
def test_a_reading_is_what_the_model_says(method):
    learner = make_learner(method).fit(FeatureTemplate("S3").encode(DATA), Y)
    for number in (0, LONGEST):
        one = DATA.select([number])
        reading = read_sequence(learner, one)
        assert reading.labels == learner.predict(one)[0]
        assert reading.decoding == learner.decoding
        assert reading.probabilistic == learner.probabilistic
        if learner.probabilistic:
            for decode in ("viterbi", "posterior"):
                assert read_sequence(learner, one, decode=decode).labels == learner.predict(one, decode)[0]
            given = [learner.classes_.index(label) for label in learner.predict(one)[0]]
            expected = learner.marginals(one)[0][np.arange(len(reading)), given]
        else:
            expected = learner.score_gaps(one)[0]
        np.testing.assert_allclose(reading.confidence, expected, rtol=1e-9, atol=1e-9)
        assert reading.confidence[reading.least_sure] == min(reading.confidence)
        for row, (labels, score) in zip(reading.k_best(4), learner.k_best(one, 4)[0], strict=True):
            assert (row["labels"], row["score"]) == (labels, pytest.approx(score, abs=1e-9))
            assert row["behind"] == pytest.approx(reading.lattice.best_score - score, abs=1e-9)
            if learner.probabilistic:
                assert row["probability"] == pytest.approx(np.exp(learner.log_prob(one, [labels])[0]))
            else:
                assert row["probability"] is None


def test_a_forced_label_is_there_and_the_rest_is_the_best_with_it():
    learner = CRF().fit(X, Y)
    one = [X[LONGEST]]
    free = read_sequence(learner, one)
    rival = free.rival_at(1)
    reading = read_sequence(learner, one, {1: rival})
    assert reading.labels == free.labels_through(1, rival)
    assert reading.labels[1] == rival
    assert reading.confidence[1] == pytest.approx(1.0)
    cost = free.cost_of(1, rival)
    assert cost["behind"] == pytest.approx(free.lattice.best_score - reading.lattice.best_score)
    assert cost["probability"] == pytest.approx(learner.marginals(one)[0][1, learner.classes_.index(rival)])
    with pytest.raises(LabSeqError, match="the model has no label 'Q'; it knows A, B, C"):
        read_sequence(learner, one, {1: "Q"})
    with pytest.raises(LabSeqError, match="X has 2 sequences; give one"):
        read_sequence(learner, X[:2])


def test_constraints_say_what_is_possible():
    learner = CRF(constraints="bio").fit([["Ana", "Paz", "vive"]] * 3, [["B-P", "I-P", "O"]] * 3)
    reading = read_sequence(learner, [["Ana", "Paz"]])
    assert reading.possible_at(0) == ["B-P", "O"]
    assert reading.possible_at(1) == ["B-P", "I-P", "O"]
    with pytest.raises(LabSeqError, match="no labelling is allowed"):
        read_sequence(learner, [["Ana", "Paz"]], {0: "I-P"})


def test_node_rows_hold_every_number():
    learner = StructuredPerceptron(epochs=2).fit(X, Y)
    reading = read_sequence(learner, [X[LONGEST]])
    rows = reading.node_rows(X[LONGEST])
    assert len(rows) == len(reading) * 3
    for row in rows:
        t, s = row["position"] - 1, reading.classes.index(row["label"])
        assert row["token"] == X[LONGEST][t]
        assert row["forward"] == reading.lattice.forward[t, s]
        assert row["marginal"] is None
        assert (row["pointer"] is None) == (t == 0)
    assert sum(row["in_best_labelling"] for row in rows) == len(reading)


def test_other_words_keep_columns_position_by_position():
    learner = CRF(max_iter=5).fit(FeatureTemplate("S1", columns=["length", "kind"]).encode(DATA), Y)
    assert columns_in_use(learner, DATA) == ["length", "kind"]
    assert columns_in_use(CRF(max_iter=5).fit(X, Y), DATA) == []
    own = sentence_of(DATA, LONGEST)
    assert own.labels == [Y[LONGEST]]
    assert sentence_of(DATA, LONGEST, X[LONGEST]).labels == [Y[LONGEST]], "its own words are no others"
    shorter = sentence_of(DATA, LONGEST, ["neu", "dos"])
    assert shorter.flat_labels is None
    assert shorter.flat_tokens == ["neu", "dos"]
    assert shorter.columns["length"] == [LENGTHS[LONGEST][:2]]
    words = ["neu"] * (len(X[LONGEST]) + 2)
    longer = sentence_of(DATA, LONGEST, words)
    assert longer.columns["kind"][0][-3:] == [X[LONGEST][-1][:1], "", ""]
    assert np.isnan(longer.columns["length"][0][-2:]).all()
    beyond = learner.encode(longer).attributes()[0][-1]
    assert not beyond, "a word that is new and has no columns has no attribute that the model knows"
    assert len(read_sequence(learner, longer)) == len(words)
    for ask, message in [
        (lambda: sentence_of(DATA, 24), "there is no sentence 25; choose one from 1 to 24"),
        (lambda: sentence_of(DATA, 0, []), "the sentence has no words"),
    ]:
        with pytest.raises(LabSeqError, match=message):
            ask()


@pytest.mark.parametrize("recursion", RECURSIONS)
def test_a_trellis_shows_what_has_been_reached(recursion):
    learner = CRF().fit(X, Y)
    reading = read_sequence(learner, [[*X[LONGEST], *X[LONGEST], *X[LONGEST]]])
    values, length = reading.lattice.values(recursion), len(reading)
    for position in range(length):
        drawn = trellis(reading, recursion, position, "B", columns=5)
        assert position in drawn.positions
        assert len(drawn.positions) == 5
        assert drawn.labels == ["A", "B", "C"]
        for node in drawn.nodes:
            reached = node.position >= position if recursion == "backward" else node.position <= position
            expected = values[node.position, reading.classes.index(node.label)] if reached else None
            assert node.value == expected
            assert node.chosen == ((node.position, node.label) == (position, "B"))
        assert {(link.position, link.position + 1) for link in drawn.links} <= {
            (t, t + 1) for t in range(drawn.positions.start, drawn.positions.stop - 1)
        }
        if recursion == "viterbi":
            path = reading.lattice.path_to(position, 1)
            for node in drawn.nodes:
                on = node.position <= position and reading.classes[path[node.position]] == node.label
                assert node.on_path == on
            begin = drawn.positions.start
            assert len([link for link in drawn.links if link.kind == "path"]) == position - begin
            assert len(drawn.links) == 3 * (position - begin)
        elif drawn.step.terms.size:
            assert sum(link.share for link in drawn.links) == pytest.approx(1.0)
            side = [link.left if recursion == "backward" else link.right for link in drawn.links]
            assert set(side) == {"B"}


def test_of_many_labels_those_near_the_best_are_drawn():
    labels = [f"L{number:02d}" for number in range(30)]
    learner = CRF(max_iter=20).fit([[f"w{n}" for n in range(30)]], [labels])
    reading = read_sequence(learner, [["w3", "w7", "w11"]])
    drawn = trellis(reading, "forward", 1, "L29", most_labels=6)
    assert len(drawn.labels) == 6
    assert drawn.left_out == 24
    assert {"L29", *reading.labels} <= set(drawn.labels)
    assert drawn.labels == sorted(drawn.labels)
