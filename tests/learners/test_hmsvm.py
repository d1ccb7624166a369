"""What HMSVM promises beyond its optimum: diagnoses, brackets, support sequences, progress, saving."""

import numpy as np
import pytest

from labseq_core import HMSVM, FeatureTemplate, LabSeqError, load_model
from labseq_core.chain import most_violated, viterbi
from labseq_core.compiling.routines import parallel_from
from labseq_core.solvers.margin import dual_ascent, shrinking
from labseq_core.solvers.margin.slack_and_rescaling import MarginRule
from tests.learners.test_hmsvm_oracles import alpha_of, as_dicts, case, separable, weights_of
from tests.reference import toy
from tests.reference.margins import DenseMargins

X, Y = toy.corpus(seed=70, n_sequences=40)
BRACKET = 1e-9


def test_a_hard_margin_that_exists_is_found():
    words, labels = toy.corpus(seed=71, n_sequences=12)
    for rescale in (None, "margin"):
        model = HMSVM(slack="none", rescale=rescale, tol=1e-4).fit(separable(words), labels)
        assert model.converged_
        assert model.score(separable(words), labels) == 1.0
        for potentials, y in zip(model.potentials(separable(words)), labels):
            truth = np.array([model.classes_.index(label) for label in y])
            found = viterbi(potentials.loss_augmented(truth) if rescale == "margin" else potentials)
            wrong = most_violated.best_rivals(potentials, truth).scores[0]
            own = most_violated.path_scores(potentials, truth)[0]
            assert own - wrong >= 1.0 - 0.01
            assert found.scores[0] - own <= 0.01


@pytest.mark.parametrize(
    ("tokens", "labels"),
    [
        ([["a"], ["a"]], [["A"], ["B"]]),  # the same observation with two labels
        ([["a", "b", "a"], ["a", "b", "a"], ["b"]], [["A", "B", "A"], ["A", "B", "B"], ["B"]]),
        ([[{}], [{"x": 1.0}]], [["A"], ["B"]]),  # nothing to tell labels by
        ([[{"x": 1.0}], [{"x": 2.0}], [{"x": 3.0}]], [["A"], ["B"], ["A"]]),  # no weight of x puts 2 apart from 1 and 3
    ],
)
@pytest.mark.parametrize("rescale", [None, "margin"])
def test_data_that_are_not_separable_are_named(tokens, labels, rescale):
    model = HMSVM(slack="none", rescale=rescale)
    with pytest.raises(LabSeqError, match=r"the training data are not separable: .*; use slack='l1' or 'l2'"):
        model.fit(tokens, labels)
    assert not hasattr(model, "classes_")
    for slack in ("l1", "l2", "labelling"):
        assert HMSVM(slack=slack, rescale=rescale).fit(tokens, labels).converged_


def test_many_sequences_of_which_a_few_contradict_each_other():
    words, labels = toy.corpus(seed=72, n_sequences=60)
    data = separable(words)
    data[7], labels[7] = data[3], [label if label != "A" else "B" for label in labels[3]]
    if labels[7] == labels[3]:
        labels[7] = ["C"] * len(labels[3])
    with pytest.raises(LabSeqError, match="not separable"):
        HMSVM(slack="none").fit(data, labels)


def test_no_slack_cannot_be_rescaled():
    with pytest.raises(LabSeqError, match="slack='none' has no slack to rescale; use rescale='margin' or None"):
        HMSVM(slack="none", rescale="slack").fit(X, Y)
    with pytest.raises(LabSeqError, match="no slack to rescale"):
        MarginRule("none", "slack", 1.0, 10)


def test_a_hard_margin_cut_short_says_what_to_do():
    words, labels = toy.corpus(seed=73, n_sequences=20)
    model = HMSVM(slack="none", max_iter=1).fit(separable(words), labels)
    assert model.primal_objective_ == np.inf
    assert np.isfinite(model.history_["objective"]).all()
    assert "before all margins were open; raise max_iter or allow slack" in model.stop_reason_


@pytest.mark.parametrize("rescale", [None, "margin", "slack"])
def test_labellings_that_are_not_looked_at_are_bounded(rescale):
    """SVM3 cut off: the optimum of all labellings lies between dual and primal, and the model says so."""
    options = {"slack": "labelling", "rescale": rescale, "C": 0.05, "n": 6, "labels": "ABC", "length": 4}
    whole, _, _, _ = case(22, **options)
    assert whole.exact_
    width = np.inf
    for most in (1, 3):
        model, dense, _, _ = case(22, **options, max_labellings=most, tol=1e-4)
        assert not model.exact_
        assert not model.converged_
        assert "bounded, not counted: the optimum is between dual and primal" in model.stop_reason_
        assert model.dual_objective_ <= whole.primal_objective_ * (1 + BRACKET)
        assert model.primal_objective_ >= whole.dual_objective_ * (1 - BRACKET)
        assert model.primal_objective_ >= dense.primal(weights_of(model, dense)) * (1 - BRACKET)
        np.testing.assert_allclose(dense.dual(alpha_of(model, dense)), model.dual_objective_, rtol=1e-9)
        assert model.gap_ < width  # the more are looked at, the narrower
        width = model.gap_


def test_sequences_too_long_to_count_are_bounded(monkeypatch):
    words, labels = toy.corpus(seed=74, n_sequences=4, max_length=4)
    data = as_dicts(words, values=False)
    dense = DenseMargins(data, [tuple(y) for y in labels], slack="l1", rescale="slack", C=0.5)
    exact = HMSVM(C=0.5, rescale="slack", tol=1e-6).fit(data, labels)
    monkeypatch.setattr(most_violated.slack_rescaled_rivals, "__defaults__", (None, 0))
    model = HMSVM(C=0.5, rescale="slack", tol=1e-6).fit(data, labels)
    assert model.dual_objective_ <= exact.primal_objective_ * (1 + BRACKET)
    assert model.primal_objective_ >= dense.primal(weights_of(model, dense)) * (1 - BRACKET)
    if not model.exact_:
        assert "labellings of very long sequences are bounded" in model.stop_reason_


def test_eta_weighs_label_pairs():
    without = HMSVM(eta=0.0).fit(X, Y)
    np.testing.assert_array_equal(without.weights_.edge, 0.0)
    apart = HMSVM().fit([[word] for x in X for word in x], [[label] for y in Y for label in y])
    assert without.primal_objective_ > 0
    assert apart.weights_.node.shape == without.weights_.node.shape
    little, much = (HMSVM(eta=eta).fit(X, Y) for eta in (0.1, 10.0))
    assert np.abs(much.weights_.edge).sum() > np.abs(little.weights_.edge).sum()


def test_support_sequences_are_listed_with_the_truth_first():
    model = HMSVM(C=0.5).fit(X, Y)
    frame = model.support_sequences_
    assert list(frame.columns) == ["sequence", "labels", "alpha", "is_truth"]
    assert frame["sequence"].is_monotonic_increasing
    for sequence, rows in frame.groupby("sequence"):
        truth, others = rows.iloc[0], rows.iloc[1:]
        assert truth["is_truth"]
        assert truth["labels"] == Y[sequence]
        np.testing.assert_allclose(truth["alpha"], others["alpha"].sum())  # T 4.16
        assert truth["alpha"] <= 0.5 * (1 + 1e-12)  # T 4.17c without the dummy
        assert not others["is_truth"].any()
        assert (others["alpha"] > 0).all()
        assert others["alpha"].is_monotonic_decreasing
        assert all(len(labels) == len(Y[sequence]) and labels != Y[sequence] for labels in others["labels"])
        assert model.support_of(sequence) == rows.to_dict("records")
    assert model.n_support_examples_ == frame["is_truth"].sum()
    assert model.n_support_sequences_ == (~frame["is_truth"]).sum()
    assert model.satisfied_share_ == 1 - model.n_support_examples_ / len(X)
    assert model.support_per_example_ == model.n_support_sequences_ / model.n_support_examples_
    assert model.working_set_size_ >= model.n_support_sequences_
    assert model.history_["support_sequences"].iloc[-1] == model.n_support_sequences_
    for wrong in (-1, len(X)):
        with pytest.raises(LabSeqError, match=f"sequence is {wrong}; the model was trained on 40"):
            model.support_of(wrong)
    # A sequence that has more than its margin is no support example.
    numbers = HMSVM(C=10.0).fit([[{"x": 1.0}], [{"x": 3.0}], [{"x": -1.0}]], [["A"], ["A"], ["B"]])
    assert numbers.support_of(1) == []
    assert 1 not in set(numbers.support_sequences_["sequence"])
    assert numbers.satisfied_share_ >= 1 / 3


def test_a_loaded_model_knows_its_support_sequences_and_how_it_ended(tmp_path):
    model = HMSVM(rescale="slack", max_iter=4, tol=0.0).fit(X, Y, dev=(X[:5], Y[:5]))
    model.save(tmp_path / "m.npz")
    loaded = load_model(tmp_path / "m.npz")
    for name in HMSVM.facts:
        assert getattr(loaded, name) == getattr(model, name), name
    assert loaded.n_iter_ == 4
    assert loaded.support_sequences_.equals(model.support_sequences_)
    assert loaded.n_parameters_ == model.weights_.flat.size
    hard = HMSVM(slack="none", max_iter=1).fit(separable(X), Y)  # its primal is infinite
    hard.save(tmp_path / "hard.npz")
    assert load_model(tmp_path / "hard.npz").gap_ == np.inf


def test_history_and_development_data():
    model = HMSVM(tol=1e-5).fit(X, Y, dev=(X[:9], Y[:9]))
    history = model.history_
    needed = {
        "primal",
        "dual",
        "gap",
        "relative_gap",
        "working_set",
        "support_sequences",
        "seconds",
        "sweeps",
        "looked_at",
    }
    assert needed <= set(history.columns)
    assert history["primal"].iloc[-1] == model.primal_objective_
    assert history["dual"].iloc[-1] == model.dual_objective_
    assert history["relative_gap"].iloc[-1] <= 1e-5
    assert history["sweeps"].iloc[-1] == model.n_sweeps_
    assert history["dev_accuracy"].iloc[-1] == model.score(X[:9], Y[:9])
    assert history["dev_accuracy"].notna().sum() >= len(history) / 5


def test_sequences_at_rest_are_looked_at_before_the_end():
    words, labels = toy.corpus(seed=70, n_sequences=200)
    model = HMSVM(tol=1e-4).fit(words, labels)
    assert model.history_["looked_at"].min() < 200
    assert model.history_["looked_at"].iloc[-1] == 200
    for rounds in range(1, model.n_iter_):
        stopped = HMSVM(tol=0.0, max_iter=rounds).fit(words, labels)
        assert stopped.history_["looked_at"].iloc[-1] == 200
        if model.history_["looked_at"].iloc[rounds - 1] == 200:
            assert stopped.primal_objective_ == model.history_["primal"].iloc[rounds - 1]


def test_no_gap_is_called_small_that_leaves_out_sequences_at_rest(monkeypatch):
    """Rests that are far too long: weights change, and margins that held once are violated unseen."""
    monkeypatch.setattr(dual_ascent, "CALM", 0.0)
    monkeypatch.setattr(shrinking, "LONGEST_REST", 1000)
    for seed, tol in ((75, 0.3), (72, 1e-3), (76, 0.01)):
        words, labels = toy.corpus(seed=seed, n_sequences=200)
        model = HMSVM(tol=tol).fit(words, labels)
        assert model.converged_
        assert model.gap_ <= tol * model.primal_objective_


@pytest.mark.parametrize("after", [1, 5, 40, 60])
def test_a_stopped_fit_leaves_a_model_that_is_what_it_says(after):
    calls = []
    words, labels = toy.corpus(seed=75, n_sequences=12, max_length=3)
    data = as_dicts(words, values=True)
    model = HMSVM(tol=1e-9).fit(data, labels, callback=lambda progress: calls.append(progress) or len(calls) < after)
    assert len(calls) == after
    assert model.stop_reason_ == "stopped by the callback"
    dense = DenseMargins(data, [tuple(y) for y in labels], slack="l1", rescale=None, C=1.0)
    weights = weights_of(model, dense)
    np.testing.assert_allclose(weights, dense.weights(alpha_of(model, dense)), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(model.primal_objective_, dense.primal(weights), rtol=1e-9)


def test_results_do_not_depend_on_threads():
    for rescale in (None, "margin", "slack"):
        encoded = FeatureTemplate("S3").encode(X)
        one = HMSVM(rescale=rescale).fit(encoded, Y)
        with parallel_from(0):
            other = HMSVM(rescale=rescale).fit(encoded, Y)
        np.testing.assert_array_equal(one.weights_.flat, other.weights_.flat)
        assert one.primal_objective_ == other.primal_objective_


def test_batches_of_the_first_round_and_momentum_do_not_change_the_optimum(monkeypatch):
    options = {"C": 2.0, "tol": 1e-6}
    whole = HMSVM(**options).fit(X, Y)
    monkeypatch.setattr(dual_ascent, "FIRST_BATCHES", 2)
    monkeypatch.setattr(dual_ascent, "MOST_MOMENTUM", 0.0)
    plain = HMSVM(**options).fit(X, Y)
    np.testing.assert_allclose(plain.primal_objective_, whole.primal_objective_, rtol=1e-5)
    monkeypatch.setattr(dual_ascent, "MOST_MOMENTUM", 5.0)  # far too much: what lowers the dual is taken back
    wild = HMSVM(**options).fit(X, Y)
    np.testing.assert_allclose(wild.primal_objective_, whole.primal_objective_, rtol=1e-5)
    assert (np.diff(wild.history_["dual"]) >= -1e-12).all()


def test_a_label_sequence_that_constraints_forbid_is_named():
    with pytest.raises(LabSeqError, match="the given labels of sequence 1 use a forbidden transition"):
        HMSVM(constraints="bio").fit([["a"], ["b", "c"]], [["O"], ["O", "I-X"]])
