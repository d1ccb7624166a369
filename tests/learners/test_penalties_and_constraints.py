"""L1, elastic net, warm starts, constraints, restarts and the flat model."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from labseq_core import CRF, LabSeqError, MaxEnt, StructuredPerceptron
from labseq_core.features import encode_attributes
from labseq_core.losses import LOSSES
from labseq_core.scoring.linear import LinearScoring
from tests.reference import toy

X, Y = toy.corpus(seed=3, n_sequences=30)
BIO_X = [["Ana", "Paz", "vive", "en", "San", "Juan"], ["en", "Lima"], ["Ana", "y", "Paz"], ["San", "Juan"]]
BIO_Y = [["B-P", "I-P", "O", "O", "B-L", "I-L"], ["O", "B-L"], ["B-P", "O", "B-P"], ["B-L", "I-L"]]
CONDITION = 1e-4


def slopes(learner: CRF) -> np.ndarray:
    """The gradient of the loss and the l2 penalty at the learner's weights."""
    encoded = encode_attributes(X, learner.vocabulary_)
    scoring = LinearScoring(encoded, len(learner.classes_))
    flat = np.array([learner.classes_.index(label) for labels in Y for label in labels])
    _, statistics = LOSSES["log"](scoring.potentials(learner.weights_), flat)
    return scoring.gradient(statistics) + learner.l2 * learner.weights_.flat


@pytest.mark.parametrize("l2", [0.0, 0.5])
@pytest.mark.parametrize("l1", [0.3, 2.0])
def test_l1_gives_exact_zeros_and_meets_the_optimality_conditions(l1, l2):
    learner = CRF(l1=l1, l2=l2, tol=1e-7, max_iter=5000).fit(X, Y)
    weights, gradient = learner.weights_.flat, slopes(learner)
    zero = weights == 0.0
    assert 0 < learner.n_nonzero_ == np.count_nonzero(~zero) < weights.size
    assert (np.abs(gradient[zero]) <= l1 + CONDITION).all()
    np.testing.assert_allclose(gradient[~zero], -l1 * np.sign(weights[~zero]), atol=CONDITION)
    expected = CRF(l1=l1, l2=l2, tol=1e-7, max_iter=5000).fit(X, Y).objective_
    loss = -learner.log_prob(X, Y).sum()
    np.testing.assert_allclose(expected, loss + 0.5 * l2 * weights @ weights + l1 * np.abs(weights).sum(), rtol=1e-9)


def test_maxent_is_scikit_learns_logistic_regression():
    l2 = 0.7
    learner = MaxEnt(l2=l2, tol=1e-8, max_iter=2000).fit(X, Y)
    encoded = encode_attributes(X)
    dense = np.zeros((encoded.n_positions, encoded.n_attributes))
    for t in range(encoded.n_positions):
        dense[t, encoded.indices[encoded.indptr[t] : encoded.indptr[t + 1]]] = 1.0
    flat = [label for labels in Y for label in labels]
    oracle = LogisticRegression(C=1.0 / l2, fit_intercept=False, tol=1e-10, max_iter=5000).fit(dense, flat)
    np.testing.assert_allclose(np.concatenate(learner.marginals(X)), oracle.predict_proba(dense), atol=1e-5)
    assert not learner.weights_.edge.any()


def test_maxent_is_a_crf_on_single_tokens():
    tokens, labels = [[t] for s in X for t in s], [[t] for s in Y for t in s]
    flat, chain = MaxEnt(tol=1e-8).fit(X, Y), CRF(tol=1e-8).fit(tokens, labels)
    np.testing.assert_allclose(flat.weights_.node, chain.weights_.node, atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_warm_start_at_the_optimum_needs_no_iterations(loss):
    options = {"loss": loss, "tol": 1e-5, "max_iter": 3000, "length_decay": 0.4}
    first = CRF(**options).fit(X, Y)
    again = CRF(**options).fit(X, Y, init=first)
    assert again.n_iter_ <= 1
    np.testing.assert_allclose(again.objective_, first.objective_, rtol=1e-8)


def test_a_warm_start_carries_over_what_both_know():
    first = CRF(tol=1e-6).fit(X, Y)
    wider = [[{"word": word, "new": True} for word in sentence] for sentence in X]
    labels = [["A" if label == "A" else "Z" for label in sentence] for sentence in Y]
    start = CRF().fit(wider, labels, init=first, callback=lambda progress: False)  # stopped before the first step
    a = start.classes_.index("A")
    row = start.vocabulary_.index("word=uno")
    np.testing.assert_array_equal(
        start.weights_.node[row, a], first.weights_.node[first.vocabulary_.index("word=uno"), 0]
    )
    assert start.weights_.edge[a, a] == first.weights_.edge[0, 0]
    with pytest.raises(LabSeqError, match="init must be a fitted model"):
        CRF().fit(X, Y, init=CRF())


@pytest.mark.parametrize("make", [CRF, StructuredPerceptron])
def test_bio_constraints_hold_in_training_and_decoding(make, tmp_path):
    learner = make(constraints="bio").fit(BIO_X, BIO_Y)
    random = np.random.default_rng(0)
    words = ["Ana", "Paz", "San", "Juan", "en", "quien"]
    sentences = [list(random.choice(words, size=6)) for _ in range(50)]
    for labels in learner.predict(sentences):
        for before, label in zip(["O", *labels], labels):
            assert not label.startswith("I-") or before[2:] == label[2:], labels
    edge = learner.potentials(BIO_X)[0].edge
    inside = learner.classes_.index("I-P")
    assert edge[learner.classes_.index("O"), inside] == -np.inf
    assert np.isfinite(learner.weights_.flat).all()
    with pytest.raises(LabSeqError, match="labels of sequence 0 use a forbidden transition"):
        make(constraints="bio").fit([["a", "b", "c"]], [["O", "I-P", "B-P"]])
    with pytest.raises(LabSeqError, match="'A' is not a BIO label"):
        make(constraints="bio").fit(X, Y)
    with pytest.raises(LabSeqError, match="allowed: none, bio"):
        make(constraints="iob").fit(BIO_X, BIO_Y)


def test_constrained_marginals_put_nothing_on_forbidden_labels():
    learner = CRF(constraints="bio").fit(BIO_X, BIO_Y)
    first = np.array([rows[0] for rows in learner.marginals(BIO_X)])
    inside = [place for place, label in enumerate(learner.classes_) if label.startswith("I-")]
    assert (first[:, inside] == 0.0).all()


@pytest.mark.parametrize("loss", ["marginal", "marginal-exp"])
def test_restarts_never_make_it_worse_and_are_seeded(loss):
    options = {"loss": loss, "l2": 0.05, "tol": 1e-4}
    plain = CRF(**options).fit(X, Y)
    fractions = []
    several = CRF(**options, restarts=3, seed=1).fit(
        X, Y, callback=lambda progress: fractions.append(progress.fraction)
    )
    assert fractions == sorted(fractions)
    assert fractions[len(plain.history_) - 1] == 1 / 4
    assert several.objective_ <= plain.objective_ * (1 + 1e-12)
    again = CRF(**options, restarts=3, seed=1).fit(X, Y)
    np.testing.assert_array_equal(several.weights_.flat, again.weights_.flat)
    assert len(several.history_) > len(plain.history_)


@pytest.mark.parametrize("loss", LOSSES)
def test_each_loss_learns_and_reports_its_own_objective(loss):
    learner = CRF(loss=loss, l2=0.1, length_decay=0.3).fit(X, Y)
    assert learner.score(X, Y) > 0.6
    truth = np.array([learner.classes_.index(label) for labels in Y for label in labels])
    per_sequence = learner.log_prob(X, Y)
    token = np.concatenate(learner.marginals(X))[np.arange(truth.size), truth]
    lengths = np.array([len(labels) for labels in Y])
    value = {
        "log": lambda: -per_sequence.sum(),
        "exp": lambda: np.sum(0.3**lengths * (np.exp(-per_sequence) - 1.0)),
        "marginal": lambda: np.sum(-np.log(token) / np.repeat(lengths, lengths)),
        "marginal-exp": lambda: np.sum(1.0 / token),
    }[loss]()
    penalty = 0.05 * learner.weights_.flat @ learner.weights_.flat
    np.testing.assert_allclose(learner.objective_, value + penalty, rtol=1e-8)


def test_a_warm_start_does_not_bring_start_weights_to_a_model_without_them():
    with_start = CRF(start_stop=True).fit(X, Y)
    with_start.weights_.start[:] = [100.0, 0.0, 0.0]  # would decide every first label
    options = {"epochs": 1, "averaged": False, "shuffle": False}
    warm = StructuredPerceptron(**options).fit(X, Y, init=with_start)
    with_start.weights_.start[:] = with_start.weights_.stop[:] = 0.0
    np.testing.assert_array_equal(
        warm.weights_.flat, StructuredPerceptron(**options).fit(X, Y, init=with_start).weights_.flat
    )


def test_a_loss_too_large_to_start_with_is_named():
    """1/p of 200 tokens and 9 labels is 9^200; a weight for its length, or another start, brings it down."""
    words, labels = [[f"w{t % 9}" for t in range(200)], ["w1"]], [[str(t % 9) for t in range(200)], ["1"]]
    with pytest.raises(
        LabSeqError,
        match=r"the exp loss is too large .*: the longest sequence has 200 tokens; set length_decay to .* 0.11",
    ):
        CRF(loss="exp").fit(words, labels)
    assert CRF(loss="exp", length_decay=0.11, l2=0.001).fit(words, labels).score(words, labels) == 1.0
    warm = CRF(l2=0.01).fit(words, [row[::-1] for row in labels])
    warm.weights_.flat[:] *= 1e3  # as sure as it is wrong
    with pytest.raises(LabSeqError, match="the marginal-exp loss is too large to start with, with the weights of init"):
        CRF(loss="marginal-exp").fit(words, labels, init=warm)
