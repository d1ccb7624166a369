"""A fit can be asked to label with what it has learned so far, and learns the same whether it is asked or not."""

from __future__ import annotations

import numpy as np
import pytest

from labseq_core.kernels import RBF, Linear, Polynomial
from labseq_core.learners import METHODS, make_learner
from labseq_core.learners.search import search
from tests.reference import toy

X, Y = toy.corpus(seed=7, n_sequences=24)
OTHERS, TRUTH = toy.corpus(seed=8, n_sequences=40)
ONE_PASS = ("hmm", "naive-bayes")  # nothing is there before the end
FINISH_A_STEP = ("gps-newton", "sgps", "sgps-sequence")  # when they are stopped within it

# Every route by which a method with kernels trains, and what else changes how it scores.
ROUTES = [
    ("crf", {"l1": 0.1, "start_stop": True}), ("crf-marginal", {"restarts": 2}),
    ("perceptron", {"averaged": False}), ("perceptron", {"start_stop": True}),
    ("dual-perceptron", {"kernel": Polynomial(2), "route": "explicit"}),
    ("dual-perceptron", {"kernel": RBF(1.0), "averaged": False}),
    ("hmsvm", {"kernel": Polynomial(2), "route": "explicit", "eta": 0.5}), ("hmsvm", {"kernel": Linear(), "route": "gram"}),
    ("hmsvm", {"kernel": RBF(1.0), "eta": 0.0}), ("hmsvm", {"slack": "l2", "rescale": "margin"}),
    ("gps", {"kernel": RBF(1.0)}), ("gps", {"route": "explicit"}), ("gps", {"route": "gram"}),
    ("gps", {"route": "low-rank", "rank": 5}),
    ("sgps", {"refit": "all", "kernel": RBF(1.0)}), ("sgps", {"route": "explicit"}),
]  # fmt: skip


class Asks:
    """A callback that asks for labels at every step."""

    def __init__(self) -> None:
        self.labels: list[list[list[str]]] = []

    def __call__(self, progress) -> None:
        if progress.predict is not None and progress.iteration > 0:
            self.labels.append(progress.predict(OTHERS))


def without_times(learner) -> list[dict]:
    return [{name: value for name, value in row.items() if name != "seconds"} for row in learner._history_rows]


@pytest.mark.parametrize(
    ("method", "options"), [(method, {}) for method in METHODS if method not in ONE_PASS] + ROUTES, ids=str
)
def test_labels_so_far_lead_to_those_of_the_model_and_change_nothing(method, options):
    asked = Asks()
    made = make_learner(method, **options).fit(X, Y, callback=asked)
    assert len(asked.labels) > 1
    if "restarts" not in options:  # the best minimum is kept, not the last
        assert asked.labels[-1] == made.predict(OTHERS), "the last step is the model"
    plain = make_learner(method, **options).fit(X, Y)
    assert without_times(made) == without_times(plain)
    for one, other in zip(made.potentials(OTHERS), plain.potentials(OTHERS), strict=True):
        np.testing.assert_array_equal(one.node, other.node)
        np.testing.assert_array_equal(one.edge, other.edge)


@pytest.mark.parametrize("method", [method for method in METHODS if method not in ONE_PASS + FINISH_A_STEP])
def test_labels_so_far_are_those_of_a_fit_that_is_stopped_there(method):
    asked, steps = Asks(), 0

    def stops_at_the_third_step(progress) -> bool:
        nonlocal steps
        asked(progress)
        steps += progress.iteration > 0
        return steps < 3

    made = make_learner(method).fit(X, Y, callback=stops_at_the_third_step)
    assert asked.labels[-1] == made.predict(OTHERS)


@pytest.mark.parametrize("method", ONE_PASS)
def test_a_method_without_iterations_has_none(method):
    asked = Asks()
    make_learner(method).fit(X, Y, callback=asked)
    assert asked.labels == []


def test_what_is_unknown_to_training_is_left_out_of_account():
    told = []
    words = [["uno", "never-seen"], ["another"]]
    make_learner("crf").fit(X, Y, callback=lambda progress: told.append(progress.predict(words)))
    assert [len(labels) for labels in told[-1]] == [2, 1]


def test_a_search_passes_it_on():
    asked = Asks()
    found = search(make_learner("crf"), {"l2": [0.1, 1.0]}, X, Y, callback=asked)
    assert asked.labels[-1] == found.learner.predict(OTHERS)
