"""The direction of L-BFGS against the inverse Hessian written out as a matrix."""

import numpy as np
import pytest

from labseq_core.compiling.routines import parallel_from
from labseq_core.solvers.smooth.lbfgs_memory import CurvatureMemory, dot

AGREE = {"rtol": 1e-8, "atol": 1e-10}


def single(vector: np.ndarray) -> np.ndarray:
    """Rounded to single precision, as the memory keeps it, so that only its arithmetic is compared."""
    return vector.astype(np.float32).astype(np.float64)


def explicit_inverse(pairs: list[tuple[np.ndarray, np.ndarray]], n: int) -> np.ndarray:
    """H by the BFGS formula, pair after pair, from a multiple of the identity."""
    s, y = pairs[-1]
    inverse = np.eye(n) * (s @ y) / (y @ y)
    for s, y in pairs:
        left = np.eye(n) - np.outer(s, y) / (s @ y)
        inverse = left @ inverse @ left.T + np.outer(s, s) / (s @ y)
    return inverse


@pytest.mark.parametrize(("n", "steps"), [(1, 3), (7, 2), (7, 12), (40, 25)])
def test_direction_equals_the_matrix_formula(n, steps):
    rng = np.random.default_rng(n + steps)
    memory, kept = CurvatureMemory(5, n), []
    gradient = rng.normal(size=n)
    np.testing.assert_allclose(memory.direction(gradient)[0], -gradient, **AGREE)
    for _ in range(steps):
        step, change = single(rng.normal(size=n)), single(rng.normal(size=n))
        after = gradient + change
        memory.add(np.zeros(n), step, np.zeros(n), change)
        if step @ change > 1e-12 * np.sum(change**2):
            kept.append((step, change))
        elif len(kept) == 5:  # room had been made for it
            kept = kept[1:]
        kept, gradient = kept[-5:], after
        expected = -explicit_inverse(kept, n) @ gradient if kept else -gradient
        direction, slope = memory.direction(gradient)
        np.testing.assert_allclose(direction, expected, **AGREE)
        np.testing.assert_allclose(slope, expected @ gradient, **AGREE)


def scaled_direction(pairs: list, gradient: np.ndarray, diagonal: np.ndarray) -> np.ndarray:
    """The same formula in the variables D^{1/2} x."""
    root = np.sqrt(diagonal)
    inverse = explicit_inverse([(root * s, y / root) for s, y in pairs], len(gradient))
    return -(inverse @ (gradient / root)) / root


# Pairs are kept in single precision, and here they are scaled by numbers that it rounds.
SINGLE = {"rtol": 1e-4, "atol": 1e-5}


@pytest.mark.parametrize("parallel", [False, True])
def test_a_diagonal_changes_the_variables(parallel):
    rng = np.random.default_rng(4)
    n = 12
    matrix = np.diag(10.0 ** rng.uniform(-1, 2, n))
    memory, pairs, at = CurvatureMemory(4, n), [], rng.normal(size=n)
    with parallel_from(0 if parallel else 10**12):
        for number in range(9):
            if number in (0, 2, 6):
                diagonal = rng.uniform(0.5, 50, n)
                memory.rescale(diagonal)
            direction, slope = memory.direction(matrix @ at)
            expected = scaled_direction(pairs[-4:], matrix @ at, diagonal) if pairs else -(matrix @ at) / diagonal
            np.testing.assert_allclose(direction, expected, **SINGLE)
            np.testing.assert_allclose(slope, expected @ matrix @ at, **SINGLE)
            after = at + rng.normal(size=n)
            memory.add(at, after, matrix @ at, matrix @ after)
            pairs.append((after - at, matrix @ (after - at)))
            at = after


def test_results_do_not_depend_on_threads():
    rng = np.random.default_rng(0)
    start, step, after = rng.normal(size=(3, 50_000))
    found = []
    for threshold in (10**12, 0):
        with parallel_from(threshold):
            memory = CurvatureMemory(3, start.size)
            for change in (step, after):
                memory.add(-start, change, 0.0 * start, change)
                found.append(memory.direction(start)[0])
    np.testing.assert_array_equal(found[:2], found[2:])
    assert dot(start, step) == pytest.approx(float(start @ step), rel=1e-10)
