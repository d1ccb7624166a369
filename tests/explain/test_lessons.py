"""Numbers of the lessons: losses by definition, mistakes by the perceptron, their bound by its proof, clues by training."""

import numpy as np
import pytest

from labseq_core import DualPerceptron, FeatureTemplate, load_dataset
from labseq_core.experiments.bundled.lessons import CLUES, SENTENCES, clue_rows, lessons, mistake_rows
from labseq_core.explain.loss_curves import MARGIN_LOSSES, loss_curves, losses_at
from labseq_core.explain.perceptron_mistakes import count_mistakes, mistake_bound

STEP = 1e-6
SCORE = 0.01  # another processor may round differently and so flip a label or two of some hundreds


def corpus(size: int):
    part = load_dataset("spanish-ner").train.select(range(size))
    return FeatureTemplate("S3").encode(part), part.labels


def test_losses_bound_the_errors_and_pull_as_their_slopes():
    curves = loss_curves(-2.0, 3.0, 101)
    for name in ("log", "exp", "hinge"):
        assert (curves[name] >= curves["0/1"]).all(), name
    for margin in (-1.3, -0.2, 0.4, 1.7):
        below, above = ({row["loss"]: row["value"] for row in losses_at(margin + s)} for s in (-STEP, STEP))
        for row in losses_at(margin):
            slope = (above[row["loss"]] - below[row["loss"]]) / (2 * STEP)
            np.testing.assert_allclose(row["pull"], -slope, atol=1e-7, err_msg=row["loss"])
    assert {row["loss"]: row["value"] for row in losses_at(0.0)} == {
        "0/1": 1.0, "log": 1.0, "exp": 1.0, "hinge": 1.0, "perceptron": 0.0,
    }  # fmt: skip
    assert set(curves) == {"margin", *MARGIN_LOSSES}


def test_mistakes_are_those_of_the_perceptron():
    X, y = corpus(15)
    mistakes, epochs, _ = count_mistakes(X, y)
    model = DualPerceptron(epochs=epochs, averaged=False, shuffle=False).fit(X, y)
    assert model.n_updates_ == mistakes
    assert len(model.history_) == epochs


@pytest.mark.parametrize("size", [1, 5, 20])
def test_the_bound_holds_and_the_margin_is_real(size):
    X, y = corpus(size)
    found = mistake_bound(X, y)
    assert found.mistakes <= found.bound
    assert found.bound == pytest.approx((found.longest / found.margin) ** 2)


def test_the_numbers_that_come_with_labseq_can_be_made_again():
    assert [row["sentences"] for row in lessons()["mistakes"]] == list(SENTENCES)
    for ours, kept in zip(mistake_rows(SENTENCES[:2]), lessons()["mistakes"]):
        assert ours == pytest.approx(kept, rel=1e-3)


def test_what_clues_buy_can_be_found_again():
    kept = lessons()["clues"]
    assert [(row["features"], row["method"]) for row in kept] == [(name, m) for name in CLUES for m in ("hmm", "crf")]
    for ours, row in zip(clue_rows(("S3",)), kept[-2:], strict=True):
        scores = {"accuracy", "span_f1", "log_loss"}
        assert {name: ours[name] for name in ours if name not in scores} == {n: row[n] for n in row if n not in scores}
        assert [ours[name] for name in sorted(scores)] == pytest.approx(
            [row[name] for name in sorted(scores)], abs=SCORE
        )
