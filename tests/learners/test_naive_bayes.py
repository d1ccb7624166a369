"""Naive Bayes against Bayes' rule in loops, and against the HMM where the two are the same."""

import math

import numpy as np
import pytest

from labseq_core import HMM, FeatureTemplate, NaiveBayes, load_model
from labseq_core.chain import ChainPotentials, forward_backward
from tests.reference import toy
from tests.reference.column_model import CountedColumns

LOG_PROBABILITY = {"rtol": 1e-10, "atol": 1e-10}
PROBABILITY = {"rtol": 1e-9, "atol": 1e-12}


def observations(X: list[list[str]]) -> list[list[dict[str, float]]]:
    """Words, their lengths, a flag, and the word before."""
    return [
        [
            {f"word={word}": 1.0, "length": len(word) / 4, **({"cap": 1.0} if word[0].isupper() else {}),
             **({f"word[-1]={x[t - 1]}": 1.0} if t else {})}
            for t, word in enumerate(x)
        ]
        for x in X
    ]  # fmt: skip


NEW = observations([["nunca", "uno"], ["Jamás"]])


@pytest.mark.parametrize("k", [1e-3, 0.5])
def test_posterior_is_bayes_rule_token_by_token(k):
    X, Y = toy.corpus(seed=1)
    X = observations(X)
    counted, model = CountedColumns(X, Y, k), NaiveBayes(smoothing=k).fit(X, Y)
    for x, rows, potentials in zip([*X, *NEW], model.marginals([*X, *NEW]), model.potentials([*X, *NEW]), strict=True):
        joint = np.array(
            [[math.log(counted.prior(s)) + counted.log_prob(x, t, s) for s in "ABC"] for t in range(len(x))]
        )
        np.testing.assert_allclose(potentials.node, joint, **LOG_PROBABILITY)
        for part in (potentials.start, potentials.edge, potentials.stop):
            np.testing.assert_array_equal(part, 0.0)
        np.testing.assert_allclose(rows, np.exp(joint) / np.exp(joint).sum(axis=1, keepdims=True), **PROBABILITY)


def test_objective_is_minus_the_log_of_the_joint_probability():
    X, Y = toy.corpus(seed=2)
    X = observations(X)
    counted, model = CountedColumns(X, Y, 0.1), NaiveBayes(smoothing=0.1).fit(X, Y)
    joint = sum(
        math.log(counted.prior(label)) + counted.log_prob(x, t, label)
        for x, y in zip(X, Y) for t, label in enumerate(y)
    )  # fmt: skip
    assert model.history_["objective"].tolist() == pytest.approx([-joint], rel=1e-12)


def test_both_decoders_agree():
    X, Y = toy.corpus(seed=3)
    model = NaiveBayes().fit(FeatureTemplate("S2").encode(X), Y)
    assert model.predict(X) == model.predict(X, decode="posterior")


def test_order_of_tokens_does_not_matter():
    X, Y = toy.corpus(seed=4)
    model = NaiveBayes().fit(X, Y)
    assert model.predict([x[::-1] for x in X]) == [labels[::-1] for labels in model.predict(X)]


def test_on_sequences_of_length_1_the_hmm_is_naive_bayes():
    X, Y = toy.corpus(seed=5)
    X, Y = [[token] for x in observations(X) for token in x], [[label] for y in Y for label in y]
    flat, chain = NaiveBayes(smoothing=0.3).fit(X, Y), HMM(emissions="attributes", smoothing=0.3).fit(X, Y)
    for one, other in zip(flat.marginals([*X, *NEW[1:]]), chain.marginals([*X, *NEW[1:]]), strict=True):
        np.testing.assert_allclose(one, other, **PROBABILITY)
    np.testing.assert_allclose(flat.log_prob(X, Y), chain.log_prob(X, Y), **LOG_PROBABILITY)


def test_it_is_the_hmm_whose_labels_forget_the_one_before():
    """start[s] = edge[r, s] = log p(s) with the emissions of the HMM."""
    X, Y = toy.corpus(seed=6)
    X = observations(X)
    flat, chain = NaiveBayes(smoothing=0.3).fit(X, Y), HMM(emissions="attributes", smoothing=0.3).fit(X, Y)
    prior = flat.prior_log_prob_
    for rows, potentials in zip(flat.marginals(X), chain.potentials(X), strict=True):
        forgetful = ChainPotentials(prior, potentials.node, np.tile(prior, (3, 1)), np.zeros(3))
        np.testing.assert_allclose(rows, forward_backward(forgetful).node_marginals, **PROBABILITY)


@pytest.mark.parametrize("learner", [NaiveBayes(), HMM(emissions="attributes")])
def test_extreme_corpora(learner):
    one = learner.fit(observations([["a"], ["b", "c"]]), [["A"], ["A", "A"]])
    assert one.predict(NEW) == [["A", "A"], ["A"]]
    np.testing.assert_array_equal(one.marginals(NEW)[0], 1.0)
    single = learner.fit([[{"word": "a"}]], [["A"]])  # one token of one label
    assert single.predict([[{"word": "a"}, {"word": "b"}]]) == [["A", "A"]]

    rng = np.random.default_rng(7)
    labels = [f"L{number}" for number in range(300)]
    words = [[f"w{rng.integers(0, 50)}" for _ in range(6)] for _ in range(100)]
    Y = [[labels[(6 * i + t) % 300] for t in range(6)] for i in range(100)]
    many = learner.fit(FeatureTemplate("S3").encode(words), Y)
    assert len(many.classes_) == 300
    for rows in many.marginals(words[:5]):
        np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=1e-9)
    assert many.score(words, Y) > 1 / 300


@pytest.mark.parametrize("learner", [NaiveBayes(smoothing=0.2), HMM(emissions="attributes", smoothing=0.2)])
def test_numbers_are_saved(learner, tmp_path):
    X, Y = toy.corpus(seed=8)
    X = observations(X)
    learner.fit(X, Y).save(tmp_path / "m.npz")
    loaded = load_model(tmp_path / "m.npz")
    assert loaded.get_params() == learner.get_params()
    for one, other in zip(learner.potentials([*X, *NEW]), loaded.potentials([*X, *NEW]), strict=True):
        np.testing.assert_array_equal(one.node, other.node)
        np.testing.assert_array_equal(one.edge, other.edge)
    assert loaded.column_model_.gaussians.attributes.size == 1
