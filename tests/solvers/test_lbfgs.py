"""L-BFGS against known minima and scipy's optimisers."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize, rosen, rosen_der

from labseq_core.progress import Recorder
from labseq_core.solvers.smooth.lbfgs import ROUNDING, minimise
from labseq_core.solvers.smooth.stopping import Minimum
from tests.examples import few

# With a gradient of relative size 1e-7 the point errs by 1e-7 · ‖point‖ / least curvature, at most about 1e-6 here.
# A line search that compares values cannot see more: near a minimum of size 40 they differ by less than rounding.
TIGHT = 1e-7
POINT = {"rtol": 0.0, "atol": 3e-6}


def run(function, start, *, max_iter=500, tol=TIGHT, callback=None) -> tuple[Minimum, list[dict]]:
    recorder = Recorder(callback)
    return minimise(
        function, np.array(start, dtype=float), max_iter=max_iter, tol=tol, recorder=recorder
    ), recorder.rows


def quadratic(seed: int, size: int, condition: float):
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.normal(size=(size, size)))
    matrix = (basis * np.geomspace(1.0, condition, size)) @ basis.T
    centre = rng.normal(size=size)
    return (lambda x: (0.5 * (x - centre) @ matrix @ (x - centre), matrix @ (x - centre))), centre


def rosenbrock(x):
    return rosen(x), rosen_der(x)


def logistic_regression(seed: int):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 8)), rng.choice([-1.0, 1.0], size=60)

    def function(w):
        margins = y * (X @ w)
        value = np.logaddexp(0.0, -margins).sum() + 0.05 * w @ w
        return value, -X.T @ (y / (1.0 + np.exp(margins))) + 0.1 * w

    return function


def assert_descends(rows: list[dict]) -> None:
    values = [row["objective"] for row in rows]
    assert all(after <= before + ROUNDING * abs(before) for before, after in pairwise(values))
    assert len(values) == 1 or values[-1] < values[0]
    assert [row["iteration"] for row in rows] == list(range(len(rows)))
    seconds = [row["seconds"] for row in rows]
    assert seconds == sorted(seconds)


def test_a_gradient_of_any_size_leads_down():
    # e^{60 x} + e^{-600 x}: from x = 0.9 the first step of length 1 lands where the other term is larger still.
    def function(x):
        terms = np.exp(60.0 * x), np.exp(-600.0 * x)
        return float(sum(terms).sum()), 60.0 * terms[0] - 600.0 * terms[1]

    found, rows = run(function, [0.9])
    assert rows[0]["gradient_norm"] > 1e24
    assert found.converged
    np.testing.assert_allclose(found.point, np.log(600.0 / 60.0) / 660.0, **POINT)


@few
@given(st.integers(0, 1000), st.integers(1, 20), st.sampled_from([1.0, 10.0, 1e3]))
def test_quadratics(seed, size, condition):
    function, centre = quadratic(seed, size, condition)
    found, rows = run(function, np.zeros(size))
    assert found.converged
    assert found.why == "the gradient is small enough"
    np.testing.assert_allclose(found.point, centre, **POINT)
    np.testing.assert_allclose(found.value, 0.0, atol=1e-12)
    assert_descends(rows)


@pytest.mark.parametrize("size", [2, 5, 20])
def test_rosenbrock(size):
    found, rows = run(rosenbrock, np.full(size, -1.2))
    theirs = minimize(rosen, np.full(size, -1.2), jac=rosen_der, method="BFGS", options={"gtol": TIGHT})
    assert found.converged
    np.testing.assert_allclose([found.value, theirs.fun], 0.0, atol=1e-12)
    np.testing.assert_allclose(found.point, theirs.x, **POINT)
    assert_descends(rows)


@pytest.mark.parametrize("seed", range(3))
def test_logistic_regression_reaches_scipys_optimum(seed):
    function = logistic_regression(seed)
    found, rows = run(function, np.zeros(8))
    theirs = minimize(function, np.zeros(8), jac=True, method="L-BFGS-B", options={"gtol": 1e-10, "ftol": 1e-16})
    np.testing.assert_allclose(found.value, theirs.fun, rtol=1e-12)
    np.testing.assert_allclose(found.point, theirs.x, **POINT)
    assert found.converged
    assert found.gradient_norm <= TIGHT * max(1.0, np.linalg.norm(found.point))
    assert_descends(rows)


def test_a_diagonal_finds_the_same_minimum_in_fewer_iterations():
    """Badly scaled coordinates, as rare and frequent attributes are."""
    scales = np.geomspace(1.0, 1e5, 60)

    def function(x):
        return float(np.sum(scales * (np.cosh(0.1 * (x - 1.0)) - 1.0))), 0.1 * scales * np.sinh(0.1 * (x - 1.0))

    plain, _ = run(function, np.zeros(60))
    recorder = Recorder()
    rules = {"max_iter": 500, "tol": TIGHT, "recorder": recorder}
    helped = minimise(function, np.zeros(60), **rules, diagonal=lambda x: 0.01 * scales * np.cosh(0.1 * (x - 1.0)))
    assert helped.converged
    np.testing.assert_allclose(helped.point, 1.0, rtol=0.0, atol=1e-4)  # TIGHT over a least curvature of 0.01
    assert helped.iterations < 0.5 * plain.iterations
    assert_descends(recorder.rows)


def test_few_evaluations_are_wasted():
    """About one evaluation an iteration, and not many more iterations than scipy needs."""
    function = logistic_regression(0)
    calls = []
    found, rows = run(lambda w: (calls.append(1), function(w))[1], np.zeros(8))
    assert found.evaluations == len(calls) == rows[-1]["evaluations"]
    assert found.evaluations <= 1.5 * found.iterations + 5
    theirs = minimize(function, np.zeros(8), jac=True, method="L-BFGS-B", options={"gtol": TIGHT, "ftol": 0.0})
    assert found.evaluations <= 2 * theirs.nfev + 5


def test_it_stops_at_the_iteration_limit():
    found, rows = run(rosenbrock, np.full(20, -1.2), max_iter=4)
    assert found.iterations == 4
    assert not found.converged
    assert found.why == "the iteration limit was reached"
    assert len(rows) == 5
    assert found.value == rows[-1]["objective"] == rosenbrock(found.point)[0]


@pytest.mark.parametrize("stop_at", [0, 1, 7])
def test_a_callback_that_says_false_gets_the_best_point_so_far(stop_at):
    seen = []

    def callback(progress):
        seen.append(progress)
        return progress.iteration < stop_at

    found, rows = run(rosenbrock, np.full(10, -1.2), callback=callback)
    assert [progress.iteration for progress in seen] == list(range(stop_at + 1))
    assert [progress.objective for progress in seen] == [row["objective"] for row in rows]
    assert found.iterations == stop_at
    assert found.why == "stopped by the callback"
    assert found.value == min(row["objective"] for row in rows) == rosenbrock(found.point)[0]


def test_fractions_of_the_work_rise_to_at_most_one():
    fractions = []
    run(logistic_regression(1), np.zeros(8), callback=lambda progress: fractions.append(progress.fraction))
    assert all(0.0 <= fraction <= 1.0 for fraction in fractions)
    assert fractions == sorted(fractions)
    assert fractions[-1] > 0.5


def test_a_start_at_the_minimum_is_left_alone():
    function, centre = quadratic(0, 5, 10.0)
    start = centre.copy()
    found, rows = run(function, start)
    assert found.converged
    assert found.iterations == 0
    assert len(rows) == 1
    np.testing.assert_array_equal(found.point, centre)


def test_the_start_vector_is_not_changed():
    start = np.full(4, -1.2)
    minimise(rosenbrock, start, max_iter=10, tol=0.1, recorder=Recorder())
    np.testing.assert_array_equal(start, np.full(4, -1.2))


def test_tolerance_zero_ends_when_rounding_leaves_no_descent():
    found, rows = run(logistic_regression(2), np.zeros(8), tol=0.0)
    tight, _ = run(logistic_regression(2), np.zeros(8))
    assert found.value <= tight.value * (1 + 1e-14)
    assert found.why in ("rounding errors allow no further descent", "the gradient is small enough")
    assert_descends(rows)


def test_trial_steps_may_leave_the_domain():
    """Beyond the barrier at 1 the value is infinite; the search must come back."""

    def function(x):
        inside = 1.0 - x
        if (inside <= 0.0).any():
            return np.inf, np.full_like(x, np.nan)
        return float(np.sum(-0.01 * np.log(inside) - x)), 0.01 / inside - 1.0

    found, rows = run(function, [-3.0, 0.5], tol=1e-6)
    np.testing.assert_allclose(found.point, 0.99, rtol=1e-6)
    assert_descends(rows)
