"""The CRF against scikit-learn's logistic regression and python-crfsuite: the same convex problems, the same optimum."""

import numpy as np
import pycrfsuite
import pytest
from sklearn.linear_model import LogisticRegression

from labseq_core import CRF, FeatureTemplate
from tests.reference import toy

TIGHT = {"tol": 1e-7, "max_iter": 5000}
# Ours stops at a relative gradient of 1e-7; scikit-learn's at 1e-9 absolute.
REGRESSION_PROBABILITY = 1e-6
REGRESSION_OBJECTIVE = 1e-9
# python-crfsuite prints its objective with six digits behind the point and stops on relative changes.
CRFSUITE_OBJECTIVE = 1e-6
CRFSUITE_PROBABILITY = 1e-4


@pytest.mark.parametrize("l2", [0.05, 1.0, 30.0])
@pytest.mark.parametrize("n_labels", [2, 3, 6])
def test_sequences_of_length_one_are_multinomial_logistic_regression(n_labels, l2):
    rng = np.random.default_rng(n_labels)
    matrix = np.round(rng.normal(size=(120, 5)), 3)
    truth = (matrix @ rng.normal(size=(5, n_labels)) + rng.gumbel(size=(120, n_labels))).argmax(axis=1)
    labels = [f"L{label}" for label in truth]
    X = [[{f"x{a}": value for a, value in enumerate(row)}] for row in matrix.tolist()]
    ours = CRF(l2=l2, **TIGHT).fit(X, [[label] for label in labels])
    # With two labels scikit-learn has one weight vector v; ours are v/2 and -v/2, with half the penalty.
    strength = (2.0 if n_labels == 2 else 1.0) / l2
    theirs = LogisticRegression(C=strength, fit_intercept=False, tol=1e-9, max_iter=10_000).fit(matrix, labels)
    assert ours.classes_ == theirs.classes_.tolist()
    probabilities = theirs.predict_proba(matrix)
    np.testing.assert_allclose(np.concatenate(ours.marginals(X)), probabilities, rtol=0.0, atol=REGRESSION_PROBABILITY)
    loss = -np.log(probabilities[range(120), truth]).sum()
    penalty = 0.25 if n_labels == 2 else 0.5
    objective = loss + penalty * l2 * np.sum(theirs.coef_**2)
    np.testing.assert_allclose(ours.objective_, objective, rtol=REGRESSION_OBJECTIVE)
    np.testing.assert_array_equal(ours.weights_.edge, 0.0)


def crfsuite(X: list, Y: list[list[str]], l2: float, path) -> tuple[float, pycrfsuite.Tagger]:
    """The objective that python-crfsuite reaches, and its model."""
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for x, y in zip(X, Y):
        trainer.append(pycrfsuite.ItemSequence(x), y)
    trainer.set_params({
        "c1": 0.0, "c2": l2 / 2, "feature.possible_states": 1, "feature.possible_transitions": 1,
        "epsilon": 1e-8, "delta": 1e-14, "period": 50, "max_iterations": 5000,
    })  # fmt: skip
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return trainer.logparser.last_iteration["loss"], tagger


def corpora() -> dict[str, tuple[list, list[list[str]]]]:
    words, labels = toy.corpus(seed=20, n_sequences=40, labels="ABCD", max_length=8)
    named = FeatureTemplate("S3").encode(words).attributes()
    # Not below zero: python-crfsuite leaves out features whose observed values add up to less than nothing.
    real = [[{f"word={word}": 0.7, "length": len(word) / 3, "bias": 0.1} for word in x] for x in words]
    return {"names": (named, labels), "real values": (real, labels)}


@pytest.mark.parametrize("l2", [0.2, 2.0])
@pytest.mark.parametrize("kind", ["names", "real values"])
def test_python_crfsuite_finds_the_same_optimum(kind, l2, tmp_path):
    X, Y = corpora()[kind]
    ours = CRF(l2=l2, **TIGHT).fit(X, Y)
    objective, tagger = crfsuite(X, Y, l2, tmp_path / "model")
    np.testing.assert_allclose(ours.objective_, objective, rtol=CRFSUITE_OBJECTIVE)
    predicted, agreeing = ours.predict(X), 0
    for x, y, marginals, labels in zip(X, Y, ours.marginals(X), predicted):
        tagger.set(pycrfsuite.ItemSequence(x))
        theirs = [[tagger.marginal(label, t) for label in ours.classes_] for t in range(len(x))]
        np.testing.assert_allclose(marginals, theirs, rtol=CRFSUITE_PROBABILITY)
        np.testing.assert_allclose(np.exp(ours.log_prob([x], [y]))[0], tagger.probability(y), rtol=CRFSUITE_PROBABILITY)
        agreeing += tagger.tag() == labels
    assert agreeing == len(X)
    tagger.close()
