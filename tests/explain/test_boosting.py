"""What boosting has chosen, as data."""

import csv
import io
import math

import numpy as np
import pytest

from labseq_core import CRF, LabSeqError, LogitBoost, SequenceBoost
from labseq_core.explain import (
    bound_curves,
    has_rounds,
    largest_weights,
    promised_log_losses,
    repeated_features,
    round_rows,
    rounds_csv,
    sizes_by_round,
)
from tests.reference import toy

X, Y = toy.corpus(seed=50, n_sequences=30)
BELOW = 1e-9  # relative: rounding between two ways to the same bound
BOUNDS = ("loose", "tight", "exact")


@pytest.fixture(scope="module")
def models():
    return {bound: SequenceBoost(bound=bound, rounds=30, length_decay=0.4).fit(X, Y) for bound in BOUNDS}


def test_rows_are_those_of_the_data_frame():
    model = SequenceBoost(rounds=5).fit(X, Y, dev=(X, Y))
    frame = model.rounds_
    rows = round_rows(model)
    assert list(rows[0]) == list(frame.columns)
    assert [row["feature"] for row in rows] == frame["feature"].tolist()
    assert [row["step"] for row in rows] == frame["step"].tolist()
    assert rows[0]["dev_f1"] is None  # these labels are not BIO
    read = list(csv.DictReader(io.StringIO(rounds_csv(model))))
    assert [int(row["round"]) for row in read] == [1, 2, 3, 4, 5]
    assert [float(row["bound"]) for row in read] == frame["bound"].tolist()
    assert read[0]["dev_f1"] == ""


def test_a_file_says_what_it_is_about_in_every_row(models):
    read = list(csv.DictReader(io.StringIO(rounds_csv(models["tight"], run="a, b", model="tight"))))
    assert list(read[0])[:3] == ["run", "model", "round"]
    assert {(row["run"], row["model"]) for row in read} == {("a, b", "tight")}
    assert len(read) == 30


@pytest.mark.parametrize("bound", BOUNDS)
def test_the_loss_is_never_above_what_the_bounds_promised(bound, models):
    rounds = models[bound].rounds_
    promised = promised_log_losses(models[bound])
    assert (rounds["log_loss"] <= np.array(promised) + BELOW).all()
    # From the number of wrong labellings, each weighted by the length of its sequence.
    before = math.log(sum(0.4 ** len(labels) * (len(models[bound].classes_) ** len(labels) - 1) for labels in Y))
    np.testing.assert_allclose(promised, before + np.log(rounds["bound"]).cumsum(), rtol=1e-9)


@pytest.mark.parametrize("rounds", [0, 1, 12, 30])
def test_the_largest_weights_are_sums_of_steps(rounds, models):
    chosen = models["tight"].rounds_[:rounds].groupby("feature")["step"]
    shown = largest_weights(models["tight"], rounds, top=5)
    weights = [row["weight"] for row in shown]
    assert weights == sorted(weights, reverse=True)
    assert len(shown) == min(5, len(chosen))
    np.testing.assert_allclose(weights, [chosen.sum()[row["feature"]] for row in shown], rtol=1e-9)
    assert [row["times"] for row in shown] == [chosen.count()[row["feature"]] for row in shown]
    assert sorted(map(abs, weights), reverse=True) == pytest.approx(
        chosen.sum().abs().sort_values(ascending=False)[:5].tolist(), rel=1e-9
    )


def test_curves_of_very_long_sequences_stay_numbers():
    rng = np.random.default_rng(7)
    Y_long = [["A", "B", *rng.choice(["A", "B"], 1500).tolist()]]
    X_long = [[f"w{rng.integers(3)}" for _ in Y_long[0]]]
    model = SequenceBoost(bound="tight", rounds=3, length_decay=0.5).fit(X_long, Y_long)
    curves = bound_curves(model, X_long, Y_long, label="A", previous_label="B", after=0, points=9)
    assert len(curves["step"]) == 9
    assert np.isfinite([curves[kind] for kind in ("loose", "tight", "exact")]).all()


def test_sizes_count_each_feature_once(models):
    model = models["loose"]
    rows = sizes_by_round(model)
    chosen = model.rounds_["feature"].tolist()
    assert [row["features"] for row in rows] == [len(set(chosen[:number])) for number in range(1, len(chosen) + 1)]
    assert rows[-1]["features"] < len(rows), "the loose bound comes back to features"
    assert rows[0]["dev_accuracy"] is None  # trained without development data


def test_repeated_features_by_bound(models):
    rows = repeated_features(models, first=20)
    assert rows
    for bound, model in models.items():
        chosen = model.rounds_["feature"][:20]
        for row in rows:
            assert row[bound] == (chosen == row["feature"]).sum()
    assert all(max(row[bound] for bound in models) > 1 for row in rows)
    counts = [row["loose"] for row in rows]
    assert counts == sorted(counts, reverse=True)
    # Every feature that some model repeats is in the table.
    for model in models.values():
        often = model.rounds_["feature"][:20].value_counts()
        assert set(often[often > 1].index) <= {row["feature"] for row in rows}


def test_curves_are_ordered_and_their_minima_are_the_steps_of_the_next_round(models):
    for bound, model in models.items():
        last = model.rounds_.iloc[-1]
        parts = {name: last[name] for name in ("attribute", "previous_label") if last[name]}
        curves = bound_curves(model, X, Y, label=last["label"], after=29, **parts)
        loose, tight, exact = (np.array(curves[kind]) for kind in ("loose", "tight", "exact"))
        assert (exact <= tight * (1 + BELOW)).all()
        assert (tight <= loose * (1 + BELOW)).all()
        middle = len(loose) // 2
        np.testing.assert_allclose([loose[middle], tight[middle], exact[middle]], 1.0, rtol=BELOW)
        np.testing.assert_allclose(curves["minimisers"][bound], last["step"], rtol=1e-5)
        at_step = bound_curves(model, X, Y, label=last["label"], after=29, steps=[last["step"]], **parts)
        np.testing.assert_allclose(at_step["exact"], [last["z"]], rtol=1e-8)


def test_what_cannot_be_shown(models):
    assert has_rounds(SequenceBoost)
    assert not has_rounds(CRF)
    with pytest.raises(LabSeqError, match="CRF has no rounds to show; choose a boosting method"):
        round_rows(CRF())
    with pytest.raises(LabSeqError, match="this SequenceBoost is not fitted yet"):
        rounds_csv(SequenceBoost())
    with pytest.raises(LabSeqError, match="name one of them"):
        bound_curves(models["tight"], X, Y, label="A")
    with pytest.raises(LabSeqError, match="unknown name 'word=nunca'"):
        bound_curves(models["tight"], X, Y, label="A", attribute="word=nunca")
    with pytest.raises(LabSeqError, match="LogitBoost minimises the log loss"):
        bound_curves(LogitBoost(rounds=2).fit(X, Y), X, Y, label="A", previous_label="A")
    with pytest.raises(LabSeqError, match="top is 0"):
        largest_weights(models["tight"], 3, top=0)
    with pytest.raises(LabSeqError, match="this model has 30 rounds"):
        bound_curves(models["tight"], X, Y, label="A", previous_label="A", after=31)
