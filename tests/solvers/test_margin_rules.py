"""What violated margins cost, and what a hard margin bounds."""

import numpy as np
import pytest

from labseq_core.chain import ChainPotentials
from labseq_core.solvers.margin.slack_and_rescaling import MarginRule

NOTHING = np.zeros(0)


def rule(slack: str, rescale: str | None = None, C: float = 2.0) -> MarginRule:
    return MarginRule(slack, rescale, C, 100)


def test_the_primal_of_a_hard_margin_is_that_of_weights_that_are_feasible():
    """w / γ, γ the smallest margin; with rescaling a margin above Δ says nothing about γ Δ, so γ is at most 1."""
    for rescale, largest, expected in [
        (None, [0.5, -3.0], 4.0), (None, [-1.0, -3.0], 0.25), (None, [1.0, 0.0], np.inf), (None, [3.0], np.inf),
        ("margin", [0.5, -3.0], 4.0), ("margin", [-1.0, -3.0], 1.0), ("margin", [1.0], np.inf),
    ]:  # fmt: skip
        assert rule("none", rescale).primal(2.0, np.array(largest), NOTHING) == expected
    assert rule("none").primal(0.0, np.array([-np.inf]), NOTHING) == 0.0  # a single label has no margins


def test_slacks_are_summed_not_averaged():
    losses = np.array([0.0, 1.5, 2.0])
    assert rule("l1").primal(3.0, NOTHING, losses) == 1.5 + 2.0 * 3.5
    assert rule("l2").dual(3.0, 5.0, np.array([1.0, 2.0])) == 5.0 - 1.5 - (1.0 + 4.0) / (4 * 2.0)
    assert rule("l1").dual(3.0, 5.0, np.array([1.0, 2.0])) == 3.5


@pytest.mark.parametrize("slack", ["l1", "l2", "labelling"])
def test_violations_of_two_tokens(slack):
    """Margins of the three wrong labellings by hand: one wrong label costs 0.4 or 0.7, both cost 1.1."""
    node = np.array([[0.4, 0.0], [0.0, 0.7]])
    chain = ChainPotentials(np.zeros(2), node, np.zeros((2, 2)), np.zeros(2))
    truth, first = np.array([0, 1]), np.array([0])
    margins, distances = np.array([0.4, 0.7, 1.1]), np.array([1.0, 1.0, 2.0])
    for rescale in (None, "margin", "slack"):
        needed = {None: 1.0 - margins, "margin": distances - margins, "slack": distances * (1.0 - margins)}[rescale]
        found = rule(slack, rescale).violations(chain, truth, first, 5)
        np.testing.assert_allclose(found.largest, needed.max())
        positive = np.maximum(needed, 0.0)
        cost = {"l1": positive.max(), "l2": positive.max() ** 2, "labelling": positive.sum()}[slack]
        np.testing.assert_allclose(found.losses, cost)
        assert found.exact
        assert found.candidates.sequences.tolist() == [0] * len(found.candidates.begins)
        listed = [found.candidates.labels[begin : begin + 2].tolist() for begin in found.candidates.begins]
        wrong = {(1, 1): 0, (0, 0): 1, (1, 0): 2}
        assert needed[wrong[tuple(listed[0])]] == pytest.approx(needed.max())
        assert all(needed[wrong[tuple(labels)]] > 0.0 for labels in listed)
        if slack == "labelling":
            assert sorted(map(tuple, listed)) == sorted(y for y, k in wrong.items() if needed[k] > 0.0)


def test_every_labelling_that_joins_violates_its_margin():
    """Three tokens by themselves: only the first two have a wrong label that comes close enough."""
    node = np.array([[0.5, 0.0, -9.0], [0.6, -9.0, 0.0], [9.0, 0.0, 0.0]])
    chain = ChainPotentials(np.zeros(3), node, np.zeros((3, 3)), np.zeros(3))
    found = rule("l1", "slack").violations(chain, np.zeros(3, dtype=np.int64), np.array([0]), 9)
    listed = [found.candidates.labels[begin : begin + 3].tolist() for begin in found.candidates.begins]
    assert {(1, 0, 0), (0, 2, 0)} >= set(map(tuple, listed)) > set()


def test_a_list_cut_off_is_an_upper_bound():
    rng = np.random.default_rng(0)
    chain = ChainPotentials(np.zeros(3), rng.normal(size=(4, 3)), rng.normal(size=(3, 3)), np.zeros(3))
    truth = np.array([0, 1, 2, 0])
    for rescale in (None, "margin", "slack"):
        whole = MarginRule("labelling", rescale, 1.0, 1000).violations(chain, truth, np.array([0]), 1)
        assert whole.exact
        bounds = []
        for most in (1, 4, 16):
            part = MarginRule("labelling", rescale, 1.0, most).violations(chain, truth, np.array([0]), 1)
            assert not part.exact
            assert len(part.candidates.begins) <= most
            bounds.append(part.losses[0])
        assert all(bound >= whole.losses[0] for bound in bounds)
        assert bounds == sorted(bounds, reverse=True)
