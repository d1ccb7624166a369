"""Gram matrices: blocks are the whole, budgets are honoured, too little is refused with the amount that is needed."""

import re
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labseq_core import LabSeqError
from labseq_core.compiling.routines import parallel_from
from labseq_core.features import encode_attributes
from labseq_core.kernels import RBF, Gram, Linear, Normalized, Observations, Polynomial, cross_blocks, cross_product
from labseq_core.kernels import blocks as module
from labseq_core.kernels.blocks import KernelColumns, KernelSide, inner_products, shown_bytes, small_block
from labseq_core.kernels.gram import add_stored_rows, stored_product
from tests.kernels.strategies import batches, kernels
from tests.kernels.test_kernels import with_named_words
from tests.reference import kernels as naive

VALUES = {"rtol": 1e-10, "atol": 1e-12}
# Sums of a few hundred terms of size about one; and the same of values rounded to float32.
SUM = {"rtol": 1e-11, "atol": 1e-9}
SINGLE = {"rtol": 1e-5, "atol": 1e-3}
KERNELS = [Linear(), Polynomial(3), RBF(2.0), Normalized(Polynomial(2)) + 0.5 * RBF(1.0)]


def random_observations(n: int, seed: int = 0, real: bool = True) -> Observations:
    rng = np.random.default_rng(seed)
    tokens = [
        {f"a{a}": float(rng.normal()) if real else 1.0 for a in rng.choice(60, size=5, replace=False)} for _ in range(n)
    ]
    return Observations.of(encode_attributes([tokens]))


def whole(kernel, observations: Observations) -> np.ndarray:
    every = np.arange(len(observations))
    side = KernelSide(kernel, observations)
    return small_block(side, every, side, every)


def budget(observations: Observations, kernel, n_rows: float, itemsize: int = 8) -> int:
    """About enough for so many rows."""
    n = len(observations)
    return (
        KernelColumns.n_bytes(kernel, observations) + 24 * n + int(8 * n * module.WORK_ARRAYS + itemsize * n * n_rows)
    )


def held(gram: Gram) -> int:
    """Index, factors and as many rows as can be kept, in bytes."""
    return KernelColumns.n_bytes(gram.kernel, gram.observations) + gram.capacity * len(gram) * gram.dtype.itemsize


def rows_made(gram: Gram) -> list[int]:
    """How many rows are computed at a time from now on, for the first time or again."""
    made, fill = [], gram._columns.fill

    def counted(left, rows, out):
        made.append(len(rows))
        fill(left, rows, out)

    gram._columns.fill = counted
    return made


@given(batches(), batches(), kernels, st.integers(1, 9))
def test_cross_blocks_are_the_definition(left, right, kernel, tile):
    left = left.with_vocabulary(right.vocabulary)
    if not with_named_words(right, kernel):
        return
    new, known = Observations.of(left), Observations.of(right)
    expected = naive.gram(kernel, naive.observations(left), naive.observations(right))
    found = np.full((len(new), len(known)), np.nan)
    before, module.TILE = module.TILE, tile * len(known)
    try:
        for part, block in cross_blocks(kernel, new, known):
            assert len(block) <= tile
            found[part] = block
    finally:
        module.TILE = before
    np.testing.assert_allclose(found[new.rows][:, known.rows], expected, **VALUES)
    beta = np.arange(2.0 * len(known)).reshape(-1, 2) - len(known)
    np.testing.assert_allclose(cross_product(kernel, new, known, beta), found @ beta, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("real", [True, False])
def test_a_small_budget_changes_no_number_and_is_kept(kernel, real):
    observations = random_observations(500, real=real)
    n = len(observations)
    expected = whole(kernel, observations)
    np.testing.assert_array_equal(expected, expected.T)
    rng = np.random.default_rng(1)
    beta = np.where(rng.random((n, 3)) < 0.4, rng.normal(size=(n, 3)), 0.0)
    memory = budget(observations, kernel, 7)
    small = Gram(kernel, observations, memory)
    assert not small.is_whole
    assert 3 <= small.capacity <= 7
    assert small.dtype == np.float64
    for _ in range(40):
        ids = rng.integers(0, n, size=rng.integers(1, 12))
        np.testing.assert_array_equal(small.rows(ids), expected[ids])
    assert held(small) <= memory
    np.testing.assert_allclose(small.product(beta), expected @ beta, **SUM)
    scores, ids = np.zeros((3, n)), rng.integers(0, n, size=20)
    small.add_rows(scores, ids, beta[:20])
    np.testing.assert_allclose(scores, beta[:20].T @ expected[ids], **SUM)
    others = rng.integers(0, n, size=4)
    np.testing.assert_array_equal(small.between(ids, others), expected[np.ix_(ids, others)])
    few = rng.choice(n, size=small.capacity, replace=False)
    stored, place = small.kept(few)
    np.testing.assert_array_equal(stored[place[few]], expected[few])
    np.testing.assert_allclose(small.diagonal(), np.diag(expected), rtol=1e-12)


@pytest.mark.parametrize("n_rows", [3, 100])
def test_the_memory_really_taken_stays_within_the_budget(n_rows):
    """As the interpreter counts it: the peak while rows come and go, apart from what is handed out."""
    kernel, observations = Normalized(Polynomial(3)) + RBF(1.0), random_observations(2000)
    memory = budget(observations, kernel, n_rows)
    beta, scores = np.ones((len(observations), 2)), np.zeros((2, len(observations)))
    Gram(kernel, observations, memory)  # views and squares are part of the observations
    tracemalloc.start()
    gram = Gram(kernel, observations, memory)
    for begin in range(0, 600, 50):
        gram.add_rows(scores, np.arange(begin, begin + 50), beta[:50])
    peak = tracemalloc.get_traced_memory()[1]
    gram.product(beta)
    result = 2 * beta.nbytes
    peak_of_product = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= memory
    assert peak_of_product <= memory + result
    assert held(gram) <= memory
    assert gram.capacity * len(observations) * 8 > 0.5 * (memory - budget(observations, kernel, 0)), "most is for rows"


def test_rows_used_lately_are_not_made_again():
    observations = random_observations(300)
    gram = Gram(Linear(), observations, budget(observations, Linear(), 10))
    made = rows_made(gram)
    assert gram.capacity >= 5
    favourite, ids = 17, iter(range(100, 300))
    for _ in range(50):
        gram.rows([favourite])
        gram.rows([next(ids), next(ids)])
    assert sum(made) == 1 + 100
    gram.rows([150, favourite])
    assert sum(made) == 1 + 101


@pytest.mark.parametrize("kernel", [Polynomial(2), RBF(3.0)], ids=str)
def test_single_precision_where_double_does_not_fit(kernel):
    observations = random_observations(900, real=False)
    n, expected = len(observations), whole(kernel, observations)
    memory = budget(observations, kernel, 1.5 * n, itemsize=4)
    gram = Gram(kernel, observations, memory)
    made = rows_made(gram)
    assert gram.dtype == np.float32
    assert gram.is_whole
    beta = np.random.default_rng(3).normal(size=(n, 4))
    gram.rows([5, 900 // 2])
    np.testing.assert_allclose(gram.product(beta), expected @ beta, **SINGLE)
    np.testing.assert_array_equal(gram.rows(np.arange(n)), expected.astype(np.float32))
    assert sum(made) == n
    assert held(gram) <= memory
    double = Gram(kernel, observations)
    made = rows_made(double)
    assert double.dtype == np.float64
    np.testing.assert_allclose(double.product(beta), expected @ beta, **SUM)
    assert sum(made) == n


def test_too_little_memory_is_refused_with_what_is_needed():
    observations = random_observations(400)
    with pytest.raises(LabSeqError, match="raise memory, or train on fewer sequences") as caught:
        Gram(Linear(), observations, memory=1000)
    assert str(caught.value).startswith("memory is 1000 bytes, but kernel values of 400 distinct observations need")
    needed = re.search(r"at least ([\d.]+) MiB", str(caught.value))
    enough = int(float(needed[1]) * 2**20) + 1
    assert Gram(Linear(), observations, enough).capacity >= 1
    with pytest.raises(LabSeqError, match="need at least"):
        Gram(Linear(), observations, int(0.9 * enough))
    with pytest.raises(LabSeqError, match=r"kernel values of 400 with 400 observations need at least .* raise memory"):
        cross_product(Linear(), observations, observations, np.zeros((400, 1)), memory=1000)


def test_nothing_is_allocated_before_it_is_refused():
    observations = random_observations(400)
    KernelColumns.n_bytes(RBF(1.0), observations)
    tracemalloc.start()
    with pytest.raises(LabSeqError):
        Gram(RBF(1.0), observations, memory=1000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**14


def in_three_ways(routine, arguments: tuple, new) -> list[np.ndarray]:
    """The array that a routine fills: on this thread, by chunks on several, and by its Python source."""
    alone, shared, plain = new(), new(), new()
    routine(*arguments, alone, work=0)
    with parallel_from(0):
        routine(*arguments, shared, work=0)
    routine.py_func(0, arguments[-1].size - 1, *arguments, plain)
    return [alone, shared, plain]


def test_threads_and_plain_python_give_the_same_bits():
    observations = random_observations(120)
    gram = Gram(Polynomial(2), observations)
    columns, view = KernelColumns(Linear(), observations), observations.vectors
    arguments = (view.indptr, view.indices, view.values, np.arange(120), *columns._indices[0], np.array([0, 50, 120]))
    results = in_three_ways(inner_products, arguments, lambda: np.empty((120, 120)))
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])
    stored, change = gram.rows(np.arange(120)), np.random.default_rng(0).normal(size=(9, 3))
    arguments = (stored, np.arange(9), change, np.array([0, 100, 120]))
    sums = in_three_ways(add_stored_rows, arguments, lambda: np.ones((3, 120)))
    np.testing.assert_array_equal(sums[0], sums[1])
    np.testing.assert_array_equal(sums[0], sums[2])
    beta = np.random.default_rng(1).normal(size=(3, 120))
    arguments = (stored, np.arange(120)[::-1].copy(), beta, np.array([0, 7, 120]))
    products = in_three_ways(stored_product, arguments, lambda: np.empty((120, 3)))
    np.testing.assert_array_equal(products[0], products[1])
    np.testing.assert_allclose(products[0], products[2], **SUM)
    np.testing.assert_allclose(products[0][::-1], stored @ beta.T, **SUM)
    with parallel_from(0):
        np.testing.assert_array_equal(Gram(Polynomial(2), observations).rows(np.arange(120)), stored)


def test_shown_bytes_are_enough():
    assert shown_bytes(1000) == "1000 bytes"
    assert shown_bytes(1536) == "1.5 KiB"
    assert shown_bytes(2**31) == "2 GiB"
    assert shown_bytes(2**20 + 1) == "1.01 MiB"
