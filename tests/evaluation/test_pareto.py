"""Which methods are worth their time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labseq_core.checks import LabSeqError
from labseq_core.evaluation.pareto import pareto_front


def test_who_is_slower_and_not_better_is_beaten():
    #          cheap and bad, best, as good but dearer, dear and bad
    assert pareto_front([1.0, 2.0, 3.0, 4.0], [0.5, 0.9, 0.9, 0.6]) == [True, True, False, False]
    assert pareto_front([1.0, 1.0], [0.5, 0.6]) == [False, True]


def test_the_same_point_twice_does_not_beat_itself():
    assert pareto_front([1.0, 1.0, 2.0], [0.5, 0.5, 0.5]) == [True, True, False]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_the_front_is_what_a_sweep_by_cost_finds(points):
    best, front = -1, set()
    for cost in sorted({cost for cost, _ in points}):
        top = max(gain for c, gain in points if c == cost)
        if top > best:
            front.add((cost, top))
            best = top
    assert pareto_front(*zip(*points)) == [point in front for point in points]


def test_points_need_both_numbers():
    with pytest.raises(LabSeqError, match="2 costs and 1 gains"):
        pareto_front([1.0, 2.0], [0.5])
