"""The hidden Markov model against counting in loops and Bayes' rule over all labellings."""

import math

import numpy as np
import pytest

from labseq_core import HMM, FeatureTemplate, LabSeqError
from tests.reference import toy
from tests.reference.hmm import CountedHMM

LOG_PROBABILITY = {"rtol": 1e-12, "atol": 1e-12}
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
