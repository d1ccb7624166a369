from __future__ import annotations

import numpy as np
import pytest

from labseq_core import FeatureTemplate, LabSeqError
from labseq_core.explain import share_path, used_of, used_share, weight_summary
from labseq_core.kernels import RBF, Linear, Polynomial
from labseq_core.learners import METHODS, load_model, make_learner
from tests.reference import toy

X, Y = toy.corpus(seed=40, n_sequences=24)
N_WORDS = len({word for x in X for word in x})  # each word is an attribute, and an observation
N_LABELS = 3
OF = {  # what the share is of, where it is not of features
    "naive-bayes": "parameters", "hmm": "parameters",
    **dict.fromkeys(("dual-perceptron", "gps", "gps-newton", "sgps", "sgps-sequence"), "training observations"),
}  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_every_method_says_its_share_and_keeps_it(method, tmp_path):
    model = make_learner(method)
    with pytest.raises(LabSeqError, match="is not fitted yet"):
        used_share(model)
    share = used_share(model.fit(X, Y))
    model.save(tmp_path / "model.npz")
    assert used_share(load_model(tmp_path / "model.npz")) == share
    assert type(share) is float
    assert 0.0 < share <= 1.0
    assert used_of(model) == OF.get(method, "features")


def test_a_penalty_on_absolute_weights_empties_a_linear_model():
    dense, sparse = (make_learner("crf", l1=l1, tol=1e-6).fit(X, Y) for l1 in (0.0, 3.0))
    assert used_share(dense) == 1.0
    assert 0.0 < used_share(sparse) < 0.8
    assert used_share(sparse) == np.count_nonzero(sparse.weights_.flat) / (N_WORDS * N_LABELS + N_LABELS**2)
    assert used_share(sparse) == pytest.approx(1.0 - weight_summary(sparse)["share_zero"], rel=1e-12)
    assert used_share(make_learner("crf", l1=1e4).fit(X, Y)) == 0.0


def test_what_sees_single_tokens_has_no_transitions_to_leave_out():
    assert used_share(make_learner("maxent").fit(X, Y)) == 1.0
    model = make_learner("adaboost-mr", rounds=4).fit(X, Y)
    assert not model.weights_.edge.any()
    assert used_share(model) == model.n_selected_ / (N_WORDS * N_LABELS)


def test_boosting_is_as_sparse_as_its_rounds():
    few = make_learner("boost", rounds=3).fit(X, Y)
    assert used_share(few) == few.n_selected_ / (N_WORDS * N_LABELS + N_LABELS**2)
    assert used_share(few) < used_share(make_learner("boost", rounds=60).fit(X, Y))


@pytest.mark.parametrize("method", ["dual-perceptron", "hmsvm", "gps", "sgps"])
def test_a_kernel_model_counts_observations(method):
    model = make_learner(method, kernel=RBF(1.0), route="gram").fit(X, Y)
    assert used_share(model) == len(model.expansion_.support) / N_WORDS


def test_few_coordinates_touch_few_observations():
    assert used_share(make_learner("sgps", kernel=RBF(1.0), coordinates=1).fit(X, Y)) == 1 / N_WORDS
    assert used_share(make_learner("gps", kernel=RBF(1.0), route="gram").fit(X, Y)) == 1.0
    low_rank = make_learner("gps", kernel=RBF(1.0), route="low-rank", rank=2).fit(X, Y)
    assert used_share(low_rank) == 2 / N_WORDS


def test_the_route_of_an_svm_decides_what_is_counted():
    explicit = make_learner("hmsvm", kernel=Linear()).fit(X, Y)
    assert used_share(explicit) == np.count_nonzero(explicit.weights_.flat) / explicit.weights_.flat.size
    assert explicit.n_observations_ is None
    for kernel, route in ((Linear(), "gram"), (Polynomial(2), "explicit")):
        by_kernel = make_learner("hmsvm", kernel=kernel, route=route).fit(X, Y)
        assert used_share(by_kernel) == len(by_kernel.expansion_.support) / N_WORDS
        assert by_kernel.n_observations_ == N_WORDS


def test_a_gp_by_explicit_features_counts_their_weights():
    model = make_learner("gps", kernel=Polynomial(2), route="explicit").fit(X, Y)
    weights, delta = model.expansion_.weights, model.expansion_.delta
    assert used_share(model) == (np.count_nonzero(weights) + np.count_nonzero(delta)) / (weights.size + delta.size)
    assert used_of(model) == "kernel features"


def test_counts_by_hand():
    """Two words, two labels: what each model has, and how much of it is used."""
    x, y = [["a", "b"], ["a", "b"]], [["A", "B"], ["A", "B"]]
    boosted = make_learner("boost", rounds=1).fit(x, y)
    assert boosted.n_parameters_ == 2 * 2 + 2 * 2, "attributes x labels, and pairs of labels"
    assert (used_share(boosted), used_of(boosted)) == (1 / 8, "features")
    single = make_learner("adaboost-mr", rounds=1).fit(x, y)
    assert single.n_parameters_ == 2 * 2, "no pairs of labels"
    assert used_share(single) == 1 / 4
    hmm = make_learner("hmm").fit(FeatureTemplate("S1").encode(x), y)
    assert hmm.n_parameters_ == 2 + 2 * 2 + 3 * 2, "start, transitions, and emissions of two words and of unknown ones"
    assert (used_share(hmm), used_of(hmm)) == (1.0, "parameters")
    kernel = make_learner("sgps", kernel=RBF(1.0), coordinates=1).fit(x, y)
    assert (used_share(kernel), used_of(kernel)) == (1 / 2, "training observations")


@pytest.mark.parametrize("method", ["boost", "adaboost-mr", "sgps"])
def test_the_way_to_a_share_ends_at_it(method):
    model = make_learner(method, **({"rounds": 30} if method != "sgps" else {"kernel": RBF(1.0), "fraction": 0.5}))
    assert share_path(make_learner(method).fit(X, Y)) == [], "nobody followed it"
    model.fit(X, Y, dev=(X[:9], Y[:9]))
    path = share_path(model)
    shares = [row["share"] for row in path]
    assert len(path) > 3
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(used_share(model), rel=1e-12)
    assert path[-1]["dev_accuracy"] == pytest.approx(model.score(X[:9], Y[:9]), rel=1e-12)


def test_all_else_has_no_way():
    pair = {"dev": (X[:9], Y[:9])}
    assert share_path(make_learner("crf").fit(X, Y, **pair)) == []
    assert share_path(make_learner("sgps-sequence").fit(X, Y, **pair)) == []
