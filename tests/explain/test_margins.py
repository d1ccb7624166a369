"""Margins by listing all labellings; lengths of weights and functions by their definitions."""

import csv
import io
import math

import numpy as np
import pytest

from labseq_core import CRF, GPSC, HMM, HMSVM, RBF, FeatureTemplate, LabSeqError, Linear, Polynomial, SequenceBoost
from labseq_core.chain import ChainPotentials
from labseq_core.explain import Margins, cumulative, margin_row, margins, margins_csv
from tests.reference import enumeration, kernels, toy

WORDS, LABELS = toy.corpus(seed=5, n_sequences=12, max_length=4)
X = FeatureTemplate("S1").encode(WORDS)
CLOSE = {"rtol": 1e-9, "atol": 1e-9}
LEARNERS = {
    "CRF": CRF(start_stop=True),
    "HMM": HMM(),
    "boosting": SequenceBoost(rounds=15),
    "HM-SVM": HMSVM(kernel=Linear(), eta=0.5),
    "HM-SVM, RBF": HMSVM(kernel=RBF(1.0), eta=2.0, route="gram"),
    "GP by features": GPSC(kernel=Polynomial(2), route="explicit", eta=0.5),
    "GP by kernel values": GPSC(kernel=Polynomial(2), route="gram", eta=0.5),
}


@pytest.fixture(scope="module", params=LEARNERS)
def learner(request):
    return LEARNERS[request.param].fit(X, LABELS)


def by_enumeration(chain: ChainPotentials, labels: list[str], classes: list[str]) -> float:
    truth = tuple(classes.index(label) for label in labels)
    return enumeration.score(chain, truth) - enumeration.best_rival(chain, truth)


def test_margins_equal_enumeration(learner):
    found = margins(learner, X, LABELS)
    expected = [by_enumeration(*each, learner.classes_) for each in zip(learner.potentials(X), LABELS, strict=True)]
    np.testing.assert_allclose(found.values, expected, **CLOSE)
    assert found.tokens.tolist() == [len(labels) for labels in LABELS]


def test_a_margin_above_zero_means_the_true_labels_are_predicted(learner):
    right = [guess == truth for guess, truth in zip(learner.predict(X), LABELS, strict=True)]
    assert (margins(learner, X, LABELS).values > 0.0).tolist() == right


@pytest.mark.parametrize("name", ["CRF", "boosting"])
def test_lengths_of_explicit_weights(name):
    learner = LEARNERS[name].fit(X, LABELS)
    found, flat = margins(learner, X, LABELS), learner.weights_.flat.tolist()
    assert found.total == pytest.approx(math.fsum(map(abs, flat)), rel=1e-12)
    assert found.length == pytest.approx(math.sqrt(math.fsum(weight * weight for weight in flat)), rel=1e-12)


def test_pairs_of_labels_count_by_eta():
    learner = LEARNERS["HM-SVM"].fit(X, LABELS)
    # ½‖w‖² is a part of the primal objective; the rest is C times the slacks.
    slack = np.maximum(0.0, 1.0 - margins(learner, X, LABELS).values).sum()
    length = margins(learner, X, LABELS).length
    assert 0.5 * length**2 + learner.C * slack == pytest.approx(learner.primal_objective_, rel=1e-9)


@pytest.mark.parametrize("name", ["HM-SVM, RBF", "GP by kernel values"])
def test_the_length_of_an_expansion(name):
    learner = LEARNERS[name].fit(X, LABELS)
    expansion, found = learner.expansion_, margins(learner, X, LABELS)
    support = kernels.observations(expansion.support.as_sequences())
    gram = kernels.gram(learner.kernel, support, support)
    node = sum(float(beta @ gram @ beta) for beta in expansion.beta.T)
    pairs = learner.eta * float(np.sum(expansion.delta**2))
    assert found.length == pytest.approx(math.sqrt(node + pairs), rel=1e-9)
    assert found.total is None, "features that a kernel stands for are not listed"


def test_both_routes_of_a_gaussian_process_have_the_same_length():
    both = [GPSC(kernel=Polynomial(2), route=route, tol=1e-8).fit(X, LABELS) for route in ("explicit", "gram")]
    lengths = [margins(learner, X, LABELS).length for learner in both]
    assert lengths[0] == pytest.approx(lengths[1], rel=1e-3)


def test_models_of_counts_have_no_length():
    found = margins(HMM().fit(X, LABELS), X, LABELS)
    assert (found.length, found.total) == (None, None)
    assert found.on("length") is None
    assert margin_row(found)["median_by_sum"] is None


def test_scaled_weights_leave_the_normalised_margins():
    learner = CRF().fit(X, LABELS)
    before = margins(learner, X, LABELS)
    learner.weights_.flat[:] *= 3.0
    after = margins(learner, X, LABELS)
    np.testing.assert_allclose(after.values, 3.0 * before.values, **CLOSE)
    for scale in ("length", "sum"):
        np.testing.assert_allclose(after.on(scale), before.on(scale), **CLOSE)


def test_one_label_has_no_rival_and_the_impossible_no_margin():
    found = margins(CRF().fit([["a"], ["b", "a"]], [["A"], ["A", "A"]]), [["a"]], [["A"]])
    assert found.values.tolist() == [math.inf]
    strict = CRF(constraints="bio").fit([["a", "b"], ["c"]], [["B-X", "I-X"], ["O"]])
    assert strict.margins([["a"]], [["I-X"]]).tolist() == [-math.inf]
    with pytest.raises(LabSeqError, match="not trained on"):
        strict.margins([["a"]], [["B-Y"]])


def test_shares_and_steps():
    found = Margins(np.array([2.0, -1.0, 0.5, 0.5, math.inf]), np.ones(5, dtype=int), 2.0, None)
    row = margin_row(found)
    assert (row["right"], row["above_one"], row["median_by_scores"], row["median_by_length"]) == (0.8, 0.4, 0.5, 0.25)
    places, shares = cumulative(found.on("scores"))
    assert places.tolist() == [-1.0, 0.5, 2.0]
    np.testing.assert_allclose(shares, [0.2, 0.6, 0.8])
    assert Margins(np.zeros(2), np.ones(2), 0.0, 0.0).on("sum").tolist() == [0.0, 0.0]


def test_csv():
    found = margins(CRF().fit(X, LABELS), X, LABELS)
    rows = list(csv.DictReader(io.StringIO(margins_csv({"a": found, "b": found}, run_id="r"))))
    assert [float(row["margin_by_sum"]) for row in rows[:12]] == found.on("sum").tolist()
    assert [(row["run_id"], row["model"], row["sequence"]) for row in rows[11:13]] == [
        ("r", "a", "12"),
        ("r", "b", "1"),
    ]
