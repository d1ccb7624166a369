"""The hidden Markov model against counting in loops and Bayes' rule over all labellings."""

import math

import numpy as np
import pytest

from labseq_core import CRF, HMM, FeatureTemplate, LabSeqError, load_model
from tests.reference import enumeration, toy
from tests.reference.column_model import CountedColumns
from tests.reference.hmm import CountedHMM

LOG_PROBABILITY = {"rtol": 1e-12, "atol": 1e-12}
NODE = {"rtol": 1e-10, "atol": 1e-10}
PROBABILITY = {"rtol": 1e-10, "atol": 1e-13}
UNSEEN = [["uno", "nunca-visto", "otro"], ["jamás"]]


@pytest.mark.parametrize("k", [1e-3, 0.1, 2.0])
def test_potentials_are_logs_of_smoothed_counts(k):
    X, Y = toy.corpus(seed=1)
    counted, model = CountedHMM(X, Y, k), HMM(smoothing=k).fit(X, Y)
    assert model.classes_ == counted.labels
    for x, potentials in zip([*X, *UNSEEN], model.potentials([*X, *UNSEEN])):
        node = [[math.log(counted.emission(label, word)) for label in counted.labels] for word in x]
        edge = [[math.log(counted.transition(a, b)) for b in counted.labels] for a in counted.labels]
        start = [math.log(counted.start(label)) for label in counted.labels]
        np.testing.assert_allclose(potentials.node, node, **LOG_PROBABILITY)
        np.testing.assert_allclose(potentials.edge, edge, **LOG_PROBABILITY)
        np.testing.assert_allclose(potentials.start, start, **LOG_PROBABILITY)
        np.testing.assert_array_equal(potentials.stop, 0.0)


def test_posterior_is_bayes_rule():
    X, Y = toy.corpus(seed=2, max_length=4)
    counted, model = CountedHMM(X, Y, 0.5), HMM(smoothing=0.5).fit(X, Y)
    queries = [*X[:6], *UNSEEN]
    marginals, best = model.marginals(queries), model.predict(queries)
    for number, x in enumerate(queries):
        posterior = counted.posterior(x)
        for y, probability in posterior.items():
            np.testing.assert_allclose(np.exp(model.log_prob([x], [list(y)]))[0], probability, **PROBABILITY)
        expected = [
            [sum(p for y, p in posterior.items() if y[t] == label) for label in counted.labels] for t in range(len(x))
        ]
        np.testing.assert_allclose(marginals[number], expected, **PROBABILITY)
        np.testing.assert_allclose(posterior[tuple(best[number])], max(posterior.values()), **PROBABILITY)


@pytest.mark.parametrize("k", [1e-3, 0.5])
def test_scores_are_logs_of_the_joint_probability(k):
    """F(x, y) = log p(x, y) for every labelling, and Σ_y p(x, y) = p(x) is the partition function."""
    X, Y = toy.corpus(seed=2, max_length=4)
    counted, model = CountedHMM(X, Y, k), HMM(smoothing=k).fit(X, Y)
    queries = [*X[:6], *UNSEEN]
    for x, potentials, found in zip(queries, model.potentials(queries), model.k_best(queries, 3**4), strict=True):
        evidence = math.fsum(counted.joint(x, y) for y in counted.posterior(x))
        np.testing.assert_allclose(enumeration.log_partition(potentials), math.log(evidence), **LOG_PROBABILITY)
        assert len(found) == 3 ** len(x)
        for labels, score in found:
            np.testing.assert_allclose(score, math.log(counted.joint(x, tuple(labels))), **LOG_PROBABILITY)


def crf_of(hmm: HMM, X, Y) -> CRF:
    """A CRF whose weights are the logs of an HMM's probabilities; "unknown" is one more attribute."""
    crf = CRF(start_stop=True, max_iter=1).fit([[[f"word={word}", "unknown"] for word in x] for x in X], Y)
    weights = crf.weights_
    weights.start[:], weights.edge[:], weights.stop[:] = hmm.start_log_prob_, hmm.transition_log_prob_, 0.0
    order = [hmm.vocabulary_.index(name) for name in crf.vocabulary_.names if name != "unknown"]
    is_word = np.array([name != "unknown" for name in crf.vocabulary_.names])
    weights.node[is_word], weights.node[~is_word] = hmm.emission_log_prob_[order], hmm.emission_log_prob_[-1]
    return crf


@pytest.mark.parametrize("k", [0.05, 1.0])
def test_an_hmm_is_a_crf_with_logs_of_probabilities_as_weights(k):
    X, Y = toy.corpus(seed=12)
    hmm = HMM(smoothing=k).fit(X, Y)
    crf = crf_of(hmm, X, Y)
    queries, labels = [*X, *UNSEEN], [*Y, ["A", "B", "C"], ["B"]]
    known = {word for x in X for word in x}
    attributes = [[[f"word={word}" if word in known else "unknown"] for word in x] for x in queries]
    assert crf.predict(attributes) == hmm.predict(queries)
    np.testing.assert_allclose(crf.log_prob(attributes, labels), hmm.log_prob(queries, labels), **LOG_PROBABILITY)
    for one, other in zip(crf.marginals(attributes), hmm.marginals(queries), strict=True):
        np.testing.assert_allclose(one, other, **PROBABILITY)


def test_a_trained_crf_is_at_least_as_good_as_the_hmm_among_its_weights():
    """The CRF minimises -Σ log p(y | x) over all weights, and those of the HMM are among them."""
    X, Y = toy.corpus(seed=13)
    hmm = HMM(smoothing=0.5).fit(X, Y)
    crf = CRF(l2=0.0, start_stop=True, tol=1e-4).fit(X, Y)
    assert -crf.log_prob(X, Y).sum() < -hmm.log_prob(X, Y).sum()


def test_probabilities_add_up_to_one():
    X, Y = toy.corpus(seed=3)
    model = HMM(smoothing=0.3).fit(X, Y)
    for logs, axis in (
        (model.start_log_prob_, 0), (model.transition_log_prob_, 1), (model.emission_log_prob_, 0),
    ):  # fmt: skip
        np.testing.assert_allclose(np.exp(logs).sum(axis=axis), 1.0, rtol=1e-12)


def test_objective_is_minus_the_log_of_the_joint_probability():
    X, Y = toy.corpus(seed=4)
    counted, model = CountedHMM(X, Y, 0.1), HMM(smoothing=0.1).fit(X, Y)
    joint = sum(math.log(counted.joint(x, tuple(y))) for x, y in zip(X, Y))
    assert model.history_["objective"].tolist() == pytest.approx([-joint], rel=1e-12)


def test_only_the_current_word_counts():
    X, Y = toy.corpus(seed=5)
    plain = HMM().fit(X, Y)
    for name in ("S1", "S2", "S3", "POS"):
        rich = HMM().fit(FeatureTemplate(name).encode(X), Y)
        for one, other in zip(plain.potentials(X), rich.potentials(X)):
            np.testing.assert_array_equal(one.node, other.node)
    dicts = HMM().fit([[{"word": word, "length": float(len(word))} for word in x] for x in X], Y)
    for one, other in zip(plain.potentials(X), dicts.potentials(X)):
        np.testing.assert_array_equal(one.node, other.node)


def test_all_unknown_words_share_one_bucket():
    X, Y = toy.corpus(seed=6)
    first, second = HMM().fit(X, Y).potentials([["nunca"], ["jamás"]])
    np.testing.assert_array_equal(first.node, second.node)


def test_attributes_without_a_word_are_refused():
    with pytest.raises(LabSeqError, match="the HMM needs the current word as an attribute"):
        HMM().fit([[["suffix=a"], ["suffix=b"]]], [["A", "B"]])


def observations(X: list[list[str]]) -> list[list[dict[str, float]]]:
    """Words, a flag, and a number that some words lack."""
    return [
        [{f"word={word}": 1.0, **({"cap": 1.0} if word[0].isupper() else {"length": len(word) / 4})} for word in x]
        for x in X
    ]


@pytest.mark.parametrize("k", [1e-3, 0.5])
def test_overlapping_features_by_bayes_rule(k):
    words, Y = toy.corpus(seed=7, max_length=4)
    X, queries = observations(words), observations([*words[:6], *UNSEEN])
    chain, columns = CountedHMM(words, Y, k), CountedColumns(X, Y, k)
    model = HMM(emissions="attributes", smoothing=k).fit(X, Y)
    for x, rows, found in zip(queries, model.marginals(queries), model.potentials(queries), strict=True):
        node = [[columns.log_prob(x, t, label) for label in chain.labels] for t in range(len(x))]
        np.testing.assert_allclose(found.node, node, **NODE)
        chain.emission = lambda label, t, x=x: math.exp(columns.log_prob(x, t, label))
        posterior = chain.posterior(range(len(x)))
        expected = [
            [sum(p for y, p in posterior.items() if y[t] == label) for label in chain.labels] for t in range(len(x))
        ]
        np.testing.assert_allclose(rows, expected, **PROBABILITY)


def test_overlapping_features_count_in_the_objective():
    words, Y = toy.corpus(seed=8)
    X = observations(words)
    chain, columns = CountedHMM(words, Y, 0.1), CountedColumns(X, Y, 0.1)
    model = HMM(emissions="attributes", smoothing=0.1).fit(X, Y)
    joint = 0.0
    for x, y in zip(X, Y):
        chain.emission = lambda label, t, x=x: math.exp(columns.log_prob(x, t, label))
        joint += math.log(chain.joint(range(len(x)), tuple(y)))
    assert model.history_["objective"].tolist() == pytest.approx([-joint], rel=1e-12)


def test_with_words_alone_both_kinds_of_emissions_are_one():
    X, Y = toy.corpus(seed=9)
    word, attributes = HMM().fit(X, Y), HMM(emissions="attributes").fit(X, Y)
    for one, other in zip(word.potentials([*X, *UNSEEN]), attributes.potentials([*X, *UNSEEN]), strict=True):
        np.testing.assert_allclose(one.node, other.node, **LOG_PROBABILITY)
        for name in ("start", "edge", "stop"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_overlapping_features_need_no_word():
    model = HMM(emissions="attributes").fit([[["suffix=a"], ["suffix=b"]]], [["A", "B"]])
    assert model.predict([[["suffix=a"], ["suffix=b"], ["suffix=a"]]]) == [["A", "B", "A"]]


def test_a_model_keeps_the_emissions_it_was_fitted_with(tmp_path):
    X, Y = toy.corpus(seed=10)
    encoded = FeatureTemplate("S3").encode(X)
    for fitted, other in (("word", "attributes"), ("attributes", "word")):
        model = HMM(emissions=fitted).fit(encoded, Y)
        before = model.potentials(X)[0].node
        np.testing.assert_array_equal(model.set_params(emissions=other).potentials(X)[0].node, before)
        model.save(tmp_path / "m.npz")
        np.testing.assert_array_equal(load_model(tmp_path / "m.npz").potentials(X)[0].node, before)
        refitted = model.fit(encoded, Y).potentials(X)[0].node
        np.testing.assert_array_equal(refitted, HMM(emissions=other).fit(encoded, Y).potentials(X)[0].node)


def test_emissions_are_words_or_attributes():
    with pytest.raises(LabSeqError, match="emissions is 'letters'; allowed: word, attributes"):
        HMM(emissions="letters").fit([["a"]], [["A"]])
