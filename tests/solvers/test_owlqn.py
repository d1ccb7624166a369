"""OWL-QN: the optimality conditions of the penalised problem, and coordinate descent as a second opinion."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labseq_core.progress import Recorder
from labseq_core.solvers.smooth.lbfgs import minimise
from labseq_core.solvers.smooth.owlqn import minimise_l1
from tests.examples import few

TIGHT = {"max_iter": 2000, "tol": 1e-9}
CONDITION = 1e-6


def least_squares(seed: int, size: int = 8):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, size)), rng.normal(size=30)
    return X, y, lambda w: (0.5 * np.sum((X @ w - y) ** 2), X.T @ (X @ w - y))


def coordinate_descent(X: np.ndarray, y: np.ndarray, l1: float) -> np.ndarray:
    w = np.zeros(X.shape[1])
    for _ in range(5000):
        for k in range(w.size):
            rest = y - X @ w + X[:, k] * w[k]
            pull = X[:, k] @ rest
            w[k] = np.sign(pull) * max(abs(pull) - l1, 0.0) / (X[:, k] @ X[:, k])
    return w


@few
@given(st.integers(0, 10_000), st.floats(0.01, 40.0))
def test_the_optimum_satisfies_the_subgradient_conditions(seed, l1):
    _, _, function = least_squares(seed)
    found = minimise_l1(function, np.zeros(8), l1, recorder=Recorder(), **TIGHT)
    _, gradient = function(found.point)
    zero = found.point == 0.0
    assert (np.abs(gradient[zero]) <= l1 + CONDITION).all()
    np.testing.assert_allclose(gradient[~zero], -l1 * np.sign(found.point[~zero]), atol=CONDITION)


@pytest.mark.parametrize("l1", [0.5, 3.0, 10.0])
def test_coordinate_descent_finds_the_same_point(l1):
    X, y, function = least_squares(3)
    rows = Recorder()
    found = minimise_l1(function, np.ones(8), l1, recorder=rows, **TIGHT)
    np.testing.assert_allclose(found.point, coordinate_descent(X, y, l1), atol=1e-6)
    assert rows.rows[-1]["nonzero"] == np.count_nonzero(found.point)
    values = [row["objective"] for row in rows.rows]
    assert values == sorted(values, reverse=True)


def test_a_large_penalty_leaves_nothing_and_none_gives_the_smooth_optimum():
    _, _, function = least_squares(4)
    assert not minimise_l1(function, np.ones(8), 1e3, recorder=Recorder(), **TIGHT).point.any()
    smooth = minimise(function, np.zeros(8), recorder=Recorder(), **TIGHT)
    free = minimise_l1(function, np.zeros(8), 0.0, recorder=Recorder(), **TIGHT)
    np.testing.assert_allclose(free.point, smooth.point, atol=1e-6)


def test_the_callback_stops_it():
    _, _, function = least_squares(5)
    found = minimise_l1(function, np.ones(8), 0.1, recorder=Recorder(lambda p: p.iteration < 2), **TIGHT)
    assert found.iterations == 2
    assert found.why == "stopped by the callback"
