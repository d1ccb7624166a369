"""The small program of a working set against its optimality conditions and a general solver."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from labseq_core.solvers.margin import working_set_qp
from labseq_core.solvers.margin.working_set_qp import ascend, project
from tests.examples import few

OBJECTIVE = {"rtol": 1e-7, "atol": 1e-9}
POINT = {"rtol": 1e-9, "atol": 1e-9}
KINDS = {
    "none": (np.inf, np.inf, 0.0),
    "l1": (0.7, np.inf, 0.0),
    "l2": (np.inf, np.inf, 5.0),
    "labelling": (np.inf, 0.3, 0.0),
}


def problem(seed: int, size: int, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """Inner products of random vectors, perhaps dependent ones, and targets."""
    rng = np.random.default_rng(seed)
    vectors = rng.integers(-2, 3, size=(size, rank)) + 0.1 * rng.normal(size=(size, rank))
    return vectors @ vectors.T, rng.choice([1.0, 1.0, 2.0], size=size)


def value(alpha: np.ndarray, gram: np.ndarray, target: np.ndarray, ridge: float) -> float:
    return float(target @ alpha - 0.5 * alpha @ (gram + ridge) @ alpha)


def solved(gram: np.ndarray, target: np.ndarray, cap: float, upper: float, ridge: float) -> np.ndarray:
    """Visits until nothing moves, as sweeps do."""
    alpha = np.zeros(len(target))
    for _ in range(200):
        residual = target - (gram + ridge) @ alpha
        before = alpha.copy()
        assert ascend(alpha, residual, gram, cap, upper, ridge)
        np.testing.assert_allclose(residual, target - (gram + ridge) @ alpha, rtol=1e-7, atol=1e-7)  # it follows
        former = value(before, gram, target, ridge)
        assert value(alpha, gram, target, ridge) >= former - 1e-12 * max(1.0, abs(former))  # but for rounding
        assert (alpha >= 0.0).all()
        assert (alpha <= upper).all()
        assert alpha.sum() <= cap * (1 + 1e-12)
        if (alpha == before).all():
            break
    return alpha


@pytest.mark.parametrize("kind", KINDS)
@few
@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(6, 9))
def test_the_optimum_is_that_of_a_general_solver(kind, seed, size, rank):
    cap, upper, ridge = KINDS[kind]
    gram, target = problem(seed, size, rank)
    alpha = solved(gram, target, cap, upper, ridge)
    bounds = [(0.0, None if upper == np.inf else upper)] * size
    room = [] if cap == np.inf else [{"type": "ineq", "fun": lambda a: cap - a.sum()}]
    best = minimize(
        lambda a: -value(a, gram, target, ridge), np.zeros(size), jac=lambda a: (gram + ridge) @ a - target,
        bounds=bounds, constraints=room, method="SLSQP", options={"ftol": 1e-14, "maxiter": 1000},
    )  # fmt: skip
    assert value(alpha, gram, target, ridge) >= -best.fun - OBJECTIVE["atol"] - OBJECTIVE["rtol"] * abs(best.fun)


def test_a_step_without_an_end_is_told_and_one_with_bounds_is_taken():
    nothing = np.zeros((1, 1))
    for cap, upper, ridge, expected in [(0.7, np.inf, 0.0, 0.7), (np.inf, 0.3, 0.0, 0.3), (np.inf, np.inf, 4.0, 0.25)]:
        alpha = np.zeros(1)
        assert ascend(alpha, np.ones(1), nothing, cap, upper, ridge)
        np.testing.assert_allclose(alpha, expected, **POINT)
    assert not ascend(np.zeros(1), np.ones(1), nothing, np.inf, np.inf, 0.0)


def test_weight_moves_between_equal_vectors_to_the_higher_target():
    """Two labellings with the same features: only the one that asks for more keeps weight."""
    gram, alpha = np.full((2, 2), 2.0), np.array([0.4, 0.0])
    assert ascend(alpha, np.array([1.0, 2.0]) - gram @ alpha, gram, 0.5, np.inf, 0.0)
    np.testing.assert_allclose(alpha, [0.0, 0.5], **POINT)


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=6), st.sampled_from([0.0, 0.5, 2.0, np.inf]))
def test_projection_on_a_simplex(values, cap):
    point = np.array(values)
    found = point.copy()
    project(found, cap, np.inf)
    assert (found >= 0.0).all()
    assert found.sum() <= cap + 1e-12
    # What is nearest: x - P(x) makes an obtuse angle with every feasible direction, so with all corners.
    corners = [np.zeros(point.size)] + [min(cap, 10.0) * row for row in np.eye(point.size)]
    for corner in corners:
        assert (point - found) @ (corner - found) <= 1e-9


def test_projection_on_a_box():
    point = np.array([-1.0, 0.2, 5.0])
    project(point, np.inf, 0.3)
    np.testing.assert_array_equal(point, [0.0, 0.2, 0.3])


def test_compiled_code_is_its_python_source():
    gram, target = problem(3, 5, 6)
    alpha, other = np.zeros(5), np.zeros(5)
    ascend(alpha, target.copy(), gram, 0.7, np.inf, 0.0)
    with np.errstate(invalid="ignore"):
        ascend.py_func(other, target.copy(), gram, 0.7, np.inf, 0.0)
    np.testing.assert_array_equal(alpha, other)
    assert len(working_set_qp.ascend.signatures) == 1
