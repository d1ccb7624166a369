"""Parts of a decision add up to the difference of the scores, for every method; observations are found where they stand."""

from __future__ import annotations

import numpy as np
import pytest

from labseq_core import FeatureTemplate, LabSeqError
from labseq_core.chain import path_scores
from labseq_core.data.sequences import Sequences
from labseq_core.explain import (
    Lattice,
    contributions,
    needs_training_data_to_vote,
    observation_votes,
    posterior_contributions,
    read_sequence,
    training_places,
)
from labseq_core.explain.contributions import OTHERS
from labseq_core.learners import CRF, GPSC, HMM, HMSVM, METHODS, DualPerceptron, NaiveBayes, make_learner
from labseq_core.scoring.counts import PRIOR
from tests.reference import toy

X, Y = toy.corpus(seed=30, n_sequences=24)
DATA = Sequences.from_lists(
    X, Y, {"length": [[float(len(word)) for word in x] for x in X], "kind": [[word[:1] for word in x] for x in X]}
)
TEMPLATES = {
    "words": FeatureTemplate("S1"),
    "window": FeatureTemplate("S3"),
    "columns": FeatureTemplate("S2", window=3, columns=["length", "kind"]),
}
MORE = {  # further routes to scores
    "hmm over attributes": HMM(emissions="attributes", smoothing=0.01),
    "crf with start and stop": CRF(start_stop=True),
    "hmsvm, polynomial": make_learner("hmsvm", kernel="poly:2", rescale="margin"),
    "hmsvm, linear": make_learner("hmsvm", kernel="linear"),
    "gps, values": make_learner("gps", kernel="rbf:1", route="gram"),
    "gps, features": make_learner("gps", kernel="poly:2", route="explicit"),
    "gps, normalised": make_learner("gps", kernel="normalized(poly:2)", route="explicit"),
    "gps, low rank": make_learner("gps", kernel="poly:2", route="low-rank", rank=8),
    "dual perceptron, polynomial": make_learner("dual-perceptron", kernel="poly:2", epochs=3),
}
LEARNERS = {method: make_learner(method) for method in METHODS} | MORE
CLOSE = {"rtol": 1e-9, "atol": 1e-9}
LONGEST = int(np.argmax(DATA.lengths))


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("name", LEARNERS)
def test_parts_add_up_to_the_difference_of_two_labellings(name, template):
    learner = LEARNERS[name]
    encoded = TEMPLATES[template].encode(DATA)
    learner.fit(encoded, Y)
    new = Sequences.from_lists(
        [["uno", "Nueva", "Tres", "dos", "4"]], None, {"length": [[3.0, 5.0, 9.0, 2.0, 1.0]], "kind": [list("uNTd4")]}
    )
    for one in (DATA.select([int(np.argmax(DATA.lengths))]), new):
        (potentials,) = learner.potentials(one)
        lattice, classes = Lattice(potentials), learner.classes_
        labels = [classes[s] for s in lattice.labels]
        assert labels == learner.predict(one, "viterbi")[0]
        for t in range(len(labels)):
            rival = [classes[s] for s in lattice.labels_through(t, lattice.rival_at(t))]
            found = contributions(learner, one, labels, rival)
            scores = [path_scores(potentials, np.array([classes.index(s) for s in y]))[0] for y in (labels, rival)]
            np.testing.assert_allclose([found.chosen_score, found.rival_score], scores, **CLOSE)
            assert found.difference == pytest.approx(lattice.gaps[t], rel=1e-9, abs=1e-9)
            total = sum(row["difference"] for row in found.rows)
            np.testing.assert_allclose(total, found.difference, **CLOSE)
            assert {row["position"] for row in found.rows if row["kind"] in ("attribute", "observation")} <= set(
                found.positions
            )
            sizes = [abs(row["difference"]) for row in found.rows]
            assert sizes == sorted(sizes, reverse=True)
            for most in (1, 1000):
                together = found.together(most)
                np.testing.assert_allclose(sum(row["difference"] for row in together), found.difference, **CLOSE)
                assert len(together) <= most + 1
            if not learner.fitted_model().by_observations:
                assert together == found.rows


def test_attributes_have_weight_times_value():
    learner = CRF(start_stop=True).fit(TEMPLATES["columns"].encode(DATA), Y)
    one = DATA.select([4])
    tokens, classes = one.tokens[0], learner.classes_
    found = contributions(learner, one, ["A"] * len(tokens), ["B"] + ["A"] * (len(tokens) - 1))
    place = {name: number for number, name in enumerate(learner.vocabulary_.names)}
    rows = {row["name"]: row for row in found.rows if row["kind"] == "attribute"}
    assert rows[f"word={tokens[0]}"]["value"] == 1.0
    weights = learner.weights_.node[place["length"]]
    assert rows["length"]["value"] == len(tokens[0])
    assert rows["length"]["chosen"] == len(tokens[0]) * weights[classes.index("A")]
    assert rows["length"]["rival"] == len(tokens[0]) * weights[classes.index("B")]
    (start,) = [row for row in found.rows if row["kind"] == "start"]
    assert start["name"] == "A against B"
    assert start["chosen"] == learner.weights_.start[0]
    (transition,) = [row for row in found.rows if row["kind"] == "transition"]
    assert (transition["name"], transition["position"]) == ("A → A against B → A", 2)
    assert transition["difference"] == pytest.approx(learner.weights_.edge[0, 0] - learner.weights_.edge[1, 0])


def test_the_same_labelling_twice_has_no_parts():
    learner = CRF().fit(X, Y)
    found = contributions(learner, X[:1], Y[0], Y[0])
    assert (found.rows, found.difference, found.positions) == ([], 0.0, [])


def test_count_models_name_what_is_there_and_what_is_missing():
    attributes = [[["word=a", "big"], ["word=b"]], [["word=b", "big"], ["word=a"]]]
    labels = [["X", "Y"], ["Y", "X"]]
    learner = NaiveBayes(smoothing=0.5).fit(attributes, labels)
    found = contributions(learner, [[["word=new"], ["word=a"]]], ["X", "X"], ["Y", "X"])
    assert {row["name"] for row in found.rows} == {PRIOR, "no known word", "not big"}
    learner = HMM().fit(X, Y)
    (row, *_) = [row for row in contributions(learner, [["never"]], ["A"], ["B"]).rows if row["kind"] == "attribute"]
    assert row["name"] == "(unknown word)"
    assert row["chosen"] == learner.emission_log_prob_[-1, 0]


def test_observations_are_kernel_values_with_coefficients():
    learner = make_learner("gps", kernel="rbf:1", route="gram").fit(TEMPLATES["window"].encode(DATA), Y)
    assert learner.fitted_model().by_observations
    one = DATA.select([2])
    labels = learner.predict(one)[0]
    rival = [next(label for label in learner.classes_ if label != labels[0]), *labels[1:]]
    found = contributions(learner, one, labels, rival)
    rows = [row for row in found.rows if row["kind"] == "observation"]
    assert len(rows) == 20
    beta = learner.expansion_.beta
    for row in rows:
        assert row["chosen"] == row["value"] * beta[row["observation"], learner.classes_.index(labels[0])]
        assert 0.0 < row["value"] <= 1.0
    (others,) = [row for row in found.rows if row["name"] == OTHERS]
    assert others["value"] == len(learner.expansion_.support) - 20
    assert found.observations_at(1) == [*rows, others]
    assert found.observations_at(2) == []
    first, rest = found.observations_at(1, 1)
    assert first == rows[0]
    assert rest["value"] == len(learner.expansion_.support) - 1
    assert rest["difference"] == pytest.approx(sum(row["difference"] for row in [*rows[1:], others]))
    (all_of_them,) = [row for row in found.together(100) if row["kind"] == "observations"]
    assert all_of_them["value"] == len(learner.expansion_.support)
    node = learner.potentials(one)[0].node[0]
    expected = node[learner.classes_.index(labels[0])] - node[learner.classes_.index(rival[0])]
    assert all_of_them["difference"] == pytest.approx(expected)


@pytest.mark.parametrize("template", TEMPLATES)
def test_training_observations_are_found_in_their_sentences(template):
    encoded = TEMPLATES[template].encode(DATA)
    learner = DualPerceptron(epochs=3).fit(encoded, Y)
    chosen = list(range(len(learner.expansion_.support)))
    attributes = encoded.attributes()
    support = learner.expansion_.support.as_sequences().attributes()
    as_set = lambda given: set(given.items()) if isinstance(given, dict) else {(name, 1.0) for name in given}  # noqa: E731
    for number, found in zip(chosen, training_places(learner.expansion_, encoded, chosen, several=100), strict=True):
        wanted = as_set(support[number][0])
        same = [(i, t) for i, row in enumerate(attributes) for t, each in enumerate(row) if as_set(each) == wanted]
        assert found == {"count": len(same), "places": same}
        assert same
    (one,) = training_places(learner.expansion_, encoded, chosen[:1], several=1)
    assert len(one["places"]) == 1


@pytest.mark.parametrize("constraints", [None, "bio"])
def test_a_gaussian_process_of_features_votes_by_observations(constraints):
    spans = [["O"] * len(y) if y[0] == "C" else ["B-P", *["I-P"] * (len(y) - 1)] for y in Y]
    labels = Y if constraints is None else spans
    encoded = TEMPLATES["window"].encode(DATA)
    options = {"kernel": "poly:2", "route": "explicit", "l2": 0.5, "constraints": constraints}
    close = make_learner("gps", tol=1e-9, max_iter=3000, **options).fit(encoded, labels)
    rough = make_learner("gps", tol=0.3, max_iter=3, **options).fit(encoded, labels)
    left = []
    for learner in (close, rough):
        assert needs_training_data_to_vote(learner)
        votes = observation_votes(learner, encoded, labels)
        one = DATA.select([LONGEST])
        (potentials,) = learner.potentials(one)
        lattice = Lattice(potentials)
        pair = [
            [learner.classes_[s] for s in row]
            for row in (lattice.labels, lattice.labels_through(0, lattice.rival_at(0)))
        ]
        found = contributions(learner, one, *pair, votes)
        np.testing.assert_allclose(sum(row["difference"] for row in found.rows), found.difference, **CLOSE)
        assert found.observations_at(1)
        left.append(
            max(abs(row[side]) for row in found.rows if row["kind"] == "left over" for side in ("chosen", "rival"))
        )
        # The loudest of all are found in the training data.
        places = training_places(votes, encoded, [row["observation"] for row in found.observations_at(1, 3)[:3]])
        assert all(place["count"] for place in places)
    assert left[0] < 1e-2, "at the optimum the votes are all there is"
    assert left[1] > left[0]
    with pytest.raises(LabSeqError, match="CRF has coefficients of observations itself, or none at all"):
        observation_votes(CRF().fit(encoded, labels), encoded, labels)


def test_which_methods_explain_by_observations():
    encoded = TEMPLATES["words"].encode(DATA)
    assert (
        not HMSVM(kernel=make_learner("hmsvm", kernel="linear").kernel).fit(encoded, Y).fitted_model().by_observations
    )
    assert not GPSC(route="explicit").fit(encoded, Y).fitted_model().by_observations
    assert DualPerceptron(epochs=1).fit(encoded, Y).fitted_model().by_observations
    assert not CRF().fit(encoded, Y).fitted_model().by_observations


def test_wrong_questions_are_answered_clearly():
    bio = CRF(constraints="bio").fit([["Ana", "Paz", "vive"]], [["B-P", "I-P", "O"]])
    for ask, message in [
        (lambda: contributions(bio, [["a"], ["b"]], ["O"], ["O"]), "X has 2 sequences; contributions are of one"),
        (lambda: contributions(bio, [["a"]], ["O", "O"], ["O"]), "chosen has 2 labels for 1 tokens"),
        (lambda: contributions(bio, [["a"]], ["O"], ["Q"]), "rival has the label 'Q', which the model does not know"),
        (lambda: contributions(bio, [["a"]], ["O"], ["I-P"]), "forbidden transition"),
        (lambda: contributions(CRF(), [["a"]], ["O"], ["O"]), "is not fitted yet"),
    ]:
        with pytest.raises(LabSeqError, match=message):
            ask()


@pytest.mark.parametrize("name", ["crf", "crf-marginal", "hmm", "gps, values"])
def test_parts_of_posterior_decoding_add_up_to_the_log_odds(name):
    learner = LEARNERS[name].fit(TEMPLATES["window"].encode(DATA), Y)
    one = DATA.select([LONGEST])
    reading = read_sequence(learner, one, decode="posterior")
    (probabilities,) = learner.predict_marginals(one)
    for t, label in enumerate(reading.labels):
        ranked = sorted(probabilities[t], key=probabilities[t].get, reverse=True)
        assert [label, reading.rival_at(t)] == ranked[:2]
        for rival in ranked[1:]:
            both = [reading.labels_through(t, chosen) for chosen in (label, rival)]
            by_score = contributions(learner, one, *both)
            found = posterior_contributions(by_score, reading, t)
            odds = np.log(probabilities[t][label] / probabilities[t][rival])
            assert found.difference == pytest.approx(odds, rel=1e-6, abs=1e-9)
            for rows in (found.rows, found.together(3)):
                assert sum(row["difference"] for row in rows) == pytest.approx(odds, rel=1e-6, abs=1e-9)
            (beyond,) = [row for row in found.rows if row["kind"] == "other labellings"]
            # A sum is never less than its largest term.
            assert min(beyond["chosen"], beyond["rival"]) >= -1e-9


def test_scores_are_not_decoded_by_posterior():
    learner = make_learner("perceptron").fit(X, Y)
    with pytest.raises(LabSeqError, match="decode is 'posterior'; StructuredPerceptron is decoded by viterbi"):
        read_sequence(learner, X[:1], decode="posterior")
