"""The CRF under each loss, against an objective that lists all labellings: its value, its optimum, its L1 conditions."""

import numpy as np
import pytest

from labseq_core import CRF
from labseq_core.losses import LOSSES
from tests.reference import toy
from tests.reference.objectives import Objective

VALUE = {"rtol": 1e-9}
STEP = 1e-5
DIFFERENCE = 1e-6  # relative: central differences err by about STEP² times the third derivative
FLAT = 1e-5  # a slope at the optimum: what differences and the stop rule leave
TIGHT = {"tol": 1e-7, "max_iter": 20_000}
DECAY = 0.4
every_loss = pytest.mark.parametrize("loss", LOSSES)


def corpus() -> tuple[list, list[list[str]]]:
    """Words, a flag and a number of either sign; sequences of length 1 among them."""
    words, Y = toy.corpus(seed=50, n_sequences=12, max_length=4)
    X = [
        [{f"word={word}": 1.0, "length": (len(word) - 3) / 2, **({"first": 1.0} if t == 0 else {})} for t, word in enumerate(x)]
        for x in words
    ]  # fmt: skip
    return X, Y


X, Y = corpus()


def names_of(model: CRF) -> list[tuple]:
    """The weights in the order of `weights_.flat`."""
    labels = model.classes_
    names = [("node", attribute, label) for attribute in model.vocabulary_.names for label in labels]
    names += [("edge", before, label) for before in labels for label in labels]
    ends = [(end, label) for end in ("start", "stop") for label in labels]
    return names + ends if model.start_stop else names


def objective_of(model: CRF) -> Objective:
    return Objective(X, Y, names_of(model), model.loss, model.l2, model.length_decay)


@pytest.mark.parametrize("start_stop", [False, True])
@every_loss
def test_value_and_gradient_at_any_weights(loss, start_stop):
    """A fit from given weights that is stopped before its first step tells both."""
    options = {"loss": loss, "l2": 0.3, "length_decay": DECAY, "start_stop": start_stop}
    given, rng = CRF(**options, max_iter=1).fit(X, Y), np.random.default_rng(1)
    naive = objective_of(given)
    for size in (0.0, 0.5, 2.0):
        flat = given.weights_.flat
        flat[:] = size * rng.normal(size=flat.size)
        stopped = CRF(**options).fit(X, Y, init=given, callback=lambda progress: False)
        np.testing.assert_array_equal(stopped.weights_.flat, flat)
        np.testing.assert_allclose(stopped.objective_, naive(flat), **VALUE)
        norm = np.linalg.norm(naive.slopes(flat, STEP))
        np.testing.assert_allclose(stopped.history_["gradient_norm"].iloc[0], norm, rtol=DIFFERENCE)


@pytest.mark.parametrize("start_stop", [False, True])
@every_loss
def test_the_optimum_is_one(loss, start_stop):
    model = CRF(loss=loss, l2=0.3, length_decay=DECAY, start_stop=start_stop, **TIGHT).fit(X, Y)
    naive, flat = objective_of(model), model.weights_.flat
    assert model.converged_
    np.testing.assert_allclose(model.objective_, naive(flat), **VALUE)
    np.testing.assert_allclose(naive.slopes(flat, STEP), 0.0, atol=FLAT)


@every_loss
def test_l1_meets_the_subgradient_conditions(loss):
    """|slope| <= l1 where the weight is zero, slope = -l1 sign(weight) where it is not."""
    l1 = 0.2
    model = CRF(loss=loss, l1=l1, l2=0.1, length_decay=DECAY, **TIGHT).fit(X, Y)
    naive, flat = objective_of(model), model.weights_.flat
    slopes, zero = naive.slopes(flat, STEP), flat == 0.0
    np.testing.assert_allclose(model.objective_, naive(flat) + l1 * np.abs(flat).sum(), **VALUE)
    assert 0 < np.count_nonzero(zero) < flat.size
    assert model.n_nonzero_ == np.count_nonzero(~zero)
    assert (np.abs(slopes[zero]) <= l1 + FLAT).all()
    np.testing.assert_allclose(slopes[~zero], -l1 * np.sign(flat[~zero]), atol=FLAT)


def test_the_history_says_which_recursion_ran():
    X, y = [[{"a": 1.0}, {"b": 1.0}], [{"b": 1.0}]], [["A", "B"], ["B"]]
    near = CRF(max_iter=3).fit(X, y)
    assert (near.history_["in_log_domain"] == 0).all()
    far = CRF(max_iter=1, l2=1e-9).fit([[{"a": 1e5}, {"b": 1e5}], [{"b": 1e5}]], y, init=near)
    assert far.history_["in_log_domain"].iloc[0] == len(y)
    assert (CRF(loss="exp", max_iter=3).fit(X, y).history_["in_log_domain"] == len(y)).all()
