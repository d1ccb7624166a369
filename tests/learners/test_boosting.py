"""The boosting learners: rounds, resuming, early stopping, baselines."""

from itertools import pairwise

import numpy as np
import pytest

from labseq_core import CRF, AdaBoostMR, LabSeqError, LogitBoost, SequenceBoost, ViterbiBoost, load_model
from labseq_core.chain.constraints import bio_constraints
from labseq_core.evaluation import segment_scores
from labseq_core.features import encode_attributes
from tests.reference import toy

X, Y = toy.corpus(seed=7, n_sequences=40)
DEV = toy.corpus(seed=8, n_sequences=30)
COLUMNS = [
    "round", "feature", "kind", "attribute", "label", "previous_label", "step", "pseudo_accuracy", "bound", "z", "loss",
    "log_loss", "touched_sequences", "touched_tokens", "evaluations", "dev_accuracy", "dev_f1",
]  # fmt: skip
SUM = 1e-9  # relative: rounding of sums


def test_rounds_say_what_was_chosen_and_what_it_did():
    model = SequenceBoost(bound="tight", rounds=25, length_decay=0.5).fit(X, Y)
    rounds = model.rounds_
    assert list(rounds.columns) == COLUMNS
    assert rounds["round"].tolist() == list(range(1, 26))
    for row in rounds.itertuples():
        if row.kind == "transition":
            assert row.feature == f"y_t = {row.label}, y_{{t-1}} = {row.previous_label}"
        else:
            assert row.feature == f"y_t = {row.label}, word = {row.attribute.removeprefix('word=')}"
    assert (rounds["z"] <= rounds["bound"] * (1 + SUM)).all()
    start = 0.5 ** np.array([len(y) for y in Y]) @ (3.0 ** np.array([len(y) for y in Y]) - 1.0)
    np.testing.assert_allclose(rounds["loss"], start * rounds["z"].cumprod(), rtol=SUM)  # W_0 Π Z = R^exp
    np.testing.assert_allclose(rounds["log_loss"], np.log(rounds["loss"]), rtol=SUM)
    weights = np.zeros_like(model.weights_.flat)
    for row in rounds.itertuples():
        parts = {"attribute": row.attribute or None, "previous_label": row.previous_label or None}
        weights[model.feature_number(row.label, **parts)] += row.step
    np.testing.assert_allclose(model.weights_.flat, weights, atol=SUM)
    assert model.n_selected_ == np.count_nonzero(weights)
    observed = {(word, label) for x, y in zip(X, Y) for word, label in zip(x, y)}
    observed |= {pair for y in Y for pair in pairwise(y)}
    assert model.n_observed_ == len(observed)
    assert model.feature_fraction_ == model.n_selected_ / len(observed)


def test_the_loss_is_the_one_that_the_exponential_crf_minimises():
    boost = SequenceBoost(bound="exact", rounds=3000, smoothing=1e-6, length_decay=0.4).fit(X, Y)
    crf = CRF(loss="exp", l2=0.0, length_decay=0.4, max_iter=2000, tol=1e-6).fit(X, Y)
    near = 1e-3  # relative: coordinate descent comes slowly to the minimum
    assert crf.objective_ * (1 - near) <= boost.rounds_["loss"].iloc[-1] <= crf.objective_ * (1 + near)


def test_logitboost_comes_to_the_loss_of_a_crf():
    boost = LogitBoost(bound="exact", rounds=3000, smoothing=1e-6).fit(X, Y)
    crf = CRF(l2=0.0, max_iter=2000, tol=1e-6).fit(X, Y)
    near = 1e-3  # relative, as above
    assert crf.objective_ * (1 - near) <= boost.rounds_["loss"].iloc[-1] <= crf.objective_ * (1 + near)
    for bound in ("loose", "tight", "exact"):
        rounds = LogitBoost(bound=bound, rounds=30).fit(X, Y).rounds_
        assert (rounds["z"] <= rounds["bound"] * (1 + SUM)).all()
        assert (rounds["bound"] < 1).all()


def test_exact_steps_need_fewer_rounds():
    losses = {
        bound: SequenceBoost(bound=bound, rounds=60, length_decay=0.5).fit(X, Y).rounds_["loss"].to_numpy()
        for bound in ("loose", "tight", "exact")
    }
    reached = losses["loose"][-1]
    assert (losses["tight"] <= reached).argmax() < 40
    assert (losses["exact"] <= reached).argmax() < 30


@pytest.mark.parametrize("learner", [SequenceBoost, LogitBoost, AdaBoostMR, ViterbiBoost])
@pytest.mark.parametrize("bound", ["loose", "tight", "exact"])
def test_a_second_fit_goes_on_where_the_first_has_ended(learner, bound):
    whole = learner(bound=bound, rounds=20).fit(X, Y)
    first = learner(bound=bound, rounds=12).fit(X, Y)
    second = learner(bound=bound, rounds=8).fit(X, Y, init=first)
    assert second.n_rounds_ == 20
    assert second.rounds_["feature"].tolist() == whole.rounds_["feature"].tolist()
    near = 1e-6  # relative: sums carried along against sums made anew
    for name in ("step", "bound", "z", "loss"):
        np.testing.assert_allclose(second.rounds_[name], whole.rounds_[name], rtol=near, err_msg=name)
    np.testing.assert_allclose(second.weights_.flat, whole.weights_.flat, rtol=near, atol=near)
    assert second.history_["iteration"].tolist() == list(range(12, 21))
    # The same object can go on by itself.
    again = learner(bound=bound, rounds=8)
    assert first.set_params(rounds=8).fit(X, Y, init=first).n_rounds_ == 20
    assert again.get_params() == first.get_params()


def test_going_on_from_another_model():
    crf = CRF(max_iter=5).fit(X, Y)
    model = SequenceBoost(rounds=3).fit(X, Y, init=crf)
    assert model.n_rounds_ == 3
    assert model.rounds_["loss"].iloc[0] < SequenceBoost(rounds=1).fit(X, Y).rounds_["loss"].iloc[0]
    other = SequenceBoost(rounds=3).fit([["nuevo", "otro"]], [["P", "Q"]])
    with pytest.raises(LabSeqError, match="init was trained on other attributes or labels"):
        SequenceBoost().fit(X, Y, init=other)


def test_early_stopping_keeps_the_best_round():
    model = SequenceBoost(rounds=2000, patience=15, length_decay=0.5).fit(X, Y, dev=DEV)
    rounds = model.rounds_
    assert model.stop_reason_ == "no gain on the development data in 15 rounds"
    assert model.n_rounds_ == len(rounds) == model.best_round_ + 15
    assert rounds["dev_accuracy"].idxmax() == model.best_round_ - 1
    assert model.score(*DEV) == rounds["dev_accuracy"].max()
    assert model.history_["dev_accuracy"].iloc[-1] == rounds["dev_accuracy"].iloc[-1]
    # Going on from it starts at the best round.
    more = SequenceBoost(rounds=5, length_decay=0.5).fit(X, Y, init=model)
    assert more.rounds_["feature"].tolist()[: model.best_round_] == rounds["feature"].tolist()[: model.best_round_]
    assert more.n_rounds_ == model.best_round_ + 5
    assert SequenceBoost(rounds=40, patience=0).fit(X, Y, dev=DEV).n_rounds_ == 40


def test_f1_on_the_way_is_that_of_the_model():
    names = {"A": "O", "B": "B-X", "C": "I-X"}
    labels, dev_labels = ([[names[label] for label in y] for y in part] for part in (Y, DEV[1]))
    for rounds in (1, 7, 30):
        for learner in (SequenceBoost, AdaBoostMR, ViterbiBoost):
            model = learner(rounds=rounds, patience=0).fit(X, labels, dev=(DEV[0], dev_labels))
            last = model.rounds_.iloc[-1]
            assert last["dev_f1"] == segment_scores(dev_labels, model.predict(DEV[0])).f1
            assert last["dev_accuracy"] == model.score(DEV[0], dev_labels)


def test_a_cancelled_fit_is_the_same_fit_with_fewer_rounds():
    stopped = SequenceBoost(rounds=50).fit(X, Y, callback=lambda progress: progress.iteration < 9)
    assert stopped.n_rounds_ == 9
    assert stopped.stop_reason_ == "stopped by the callback"
    np.testing.assert_array_equal(stopped.weights_.flat, SequenceBoost(rounds=9).fit(X, Y).weights_.flat)


def test_adaboost_mr_is_boosting_on_single_tokens():
    tokens, labels = [[word] for x in X for word in x], [[label] for y in Y for label in y]
    alone = SequenceBoost(bound="tight", rounds=15).fit(tokens, labels)
    model = AdaBoostMR(bound="tight", rounds=15).fit(X, Y)
    np.testing.assert_allclose(model.weights_.flat, alone.weights_.flat, rtol=SUM, atol=SUM)
    assert model.rounds_["feature"].tolist() == alone.rounds_["feature"].tolist()
    assert not model.weights_.edge.any()
    assert (model.rounds_["kind"] == "attribute").all()
    # One label for each token: the tight bound is Z itself.
    np.testing.assert_allclose(model.rounds_["bound"], model.rounds_["z"], rtol=SUM)


def test_viterbi_boost_learns_transitions_from_true_neighbours():
    tokens = [
        [{f"word={word}": 1.0, **({f"before={before}": 1.0} if before else {})}]
        for x, y in zip(X, Y)
        for word, before in zip(x, [None, *y[:-1]])
    ]
    labels = [[label] for y in Y for label in y]
    alone = AdaBoostMR(rounds=25).fit(tokens, labels)
    model = ViterbiBoost(rounds=25).fit(X, Y)
    for row, other in zip(model.rounds_.itertuples(), alone.rounds_.itertuples(), strict=True):
        expected = f"before={row.previous_label}" if row.kind == "transition" else row.attribute
        assert (row.label, expected) == (other.label, other.attribute)
        np.testing.assert_allclose(row.step, other.step, rtol=SUM)
    assert model.weights_.edge.any()
    assert not model.probabilistic


def test_constraints_hold_in_training_and_in_use():
    names = {"A": "O", "B": "B-X", "C": "B-Y"}
    labels = [[names[label] for label in y] for y in Y]
    labels = [
        ["I-X" if t and y[t - 1] == "B-X" and label == "B-X" else label for t, label in enumerate(y)] for y in labels
    ]
    model = SequenceBoost(rounds=40, constraints="bio", length_decay=0.4).fit(X, labels)
    lengths = [len(y) for y in labels]
    allowed = bio_constraints(model.classes_)
    for y in model.predict(X):
        codes = [model.classes_.index(label) for label in y]
        assert not allowed.start[codes[0]]
        assert not any(allowed.edge[a, b] for a, b in pairwise(codes))
    # At the start all allowed labellings are equally likely.
    step = 1.0 - allowed.edge
    paths = [float((1.0 - allowed.start) @ np.linalg.matrix_power(step, length - 1).sum(axis=1)) for length in lengths]
    start = sum(0.4**length * (count - 1.0) for length, count in zip(lengths, paths))
    np.testing.assert_allclose(model.history_["objective"].iloc[0], start, rtol=SUM)
    bad = [["I-X"] * len(y) for y in labels]
    with pytest.raises(LabSeqError, match="use a forbidden transition"):
        SequenceBoost(constraints="bio").fit(X, [*labels[:-1], bad[-1]])


def test_real_valued_attributes():
    rng = np.random.default_rng(0)
    values = [[rng.normal() for _ in range(4)] for _ in range(60)]
    data = [[{"height": value, "bias": 1.0} for value in row] for row in values]
    labels = [["high" if value > 0.3 else "low" for value in row] for row in values]
    for bound in ("loose", "tight", "exact"):
        model = SequenceBoost(bound=bound, rounds=400, length_decay=0.5).fit(data, labels)
        assert model.score(data, labels) > (0.8 if bound == "loose" else 0.95)
        assert (model.rounds_["z"] <= model.rounds_["bound"] * (1 + SUM)).all()
    # Measured in another unit the model is the same.
    scaled = [[{"height": 1000.0 * value, "bias": 1.0} for value in row] for row in values]
    one = SequenceBoost(bound="tight", rounds=50, smoothing=1e-6, length_decay=0.5).fit(data, labels)
    other = SequenceBoost(bound="tight", rounds=50, smoothing=1e-6, length_decay=0.5).fit(scaled, labels)
    assert one.predict(data) == other.predict(scaled)


def test_length_decay_and_encoded_input():
    encoded = encode_attributes(X)
    np.testing.assert_array_equal(
        SequenceBoost(rounds=10).fit(encoded, Y).weights_.flat, SequenceBoost(rounds=10).fit(X, Y).weights_.flat
    )
    # Long sequences own the loss at 1 and have no more than others at 1/S.
    start = [
        SequenceBoost(rounds=1, length_decay=decay).fit(X, Y).history_["objective"].iloc[0] for decay in (1.0, 1 / 3)
    ]
    np.testing.assert_allclose(start[0], sum(3.0 ** len(y) - 1 for y in Y), rtol=SUM)
    np.testing.assert_allclose(start[1], sum(1 - 3.0 ** -len(y) for y in Y), rtol=SUM)


def test_rounds_are_saved(tmp_path):
    model = SequenceBoost(rounds=6, patience=0).fit(X, Y, dev=DEV)
    model.save(tmp_path / "m.npz")
    loaded = load_model(tmp_path / "m.npz")
    assert loaded.rounds_.equals(model.rounds_)
    for name in SequenceBoost.facts:
        assert getattr(loaded, name) == getattr(model, name)
    assert loaded.set_params(rounds=3).fit(X, Y, init=loaded).n_rounds_ == 9


def test_the_record_of_the_rounds_is_no_parameter():
    few, many = (SequenceBoost(rounds=rounds).fit(X, Y) for rounds in (2, 9))
    assert few.n_parameters_ == many.n_parameters_ == few.weights_.flat.size


def test_weights_after_some_rounds():
    model = SequenceBoost(rounds=30).fit(X, Y)
    for rounds in (0, 1, 13, 30):
        expected = (
            SequenceBoost(rounds=rounds).fit(X, Y).weights_.flat if rounds else np.zeros_like(model.weights_.flat)
        )
        np.testing.assert_allclose(model.weights_after(rounds).flat, expected, atol=1e-12)
        assert np.count_nonzero(model.weights_after(rounds).flat) == np.count_nonzero(expected)
    stopped = SequenceBoost(rounds=200, patience=5).fit(X, Y, dev=DEV)
    last = SequenceBoost(rounds=stopped.n_rounds_).fit(X, Y)
    np.testing.assert_allclose(stopped.weights_after(stopped.n_rounds_).flat, last.weights_.flat, atol=1e-9)


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (SequenceBoost(bound="tightest"), "bound is 'tightest'; allowed: loose, tight, exact"),
        (SequenceBoost(rounds=0), "rounds is 0; allowed: a whole number from 1"),
        (SequenceBoost(smoothing=-1.0), "smoothing is -1.0; allowed: a number from 0"),
        (SequenceBoost(length_decay=0.0), "length_decay is 0.0; allowed: a number from"),
        (LogitBoost(patience=-1), "patience is -1"),
    ],
)
def test_bad_options(learner, message):
    with pytest.raises(LabSeqError, match=message):
        learner.fit(X, Y)
