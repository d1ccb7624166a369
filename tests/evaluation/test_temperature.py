from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from labseq_core.chain import ChainPotentials, max_marginals
from labseq_core.checks import LabSeqError
from labseq_core.evaluation import calibration, fit_temperature, marginals_at
from labseq_core.evaluation.temperature import HIGHEST, LOWEST, _log_probabilities, _Loss, _one_batch
from labseq_core.learners import METHODS, make_learner
from tests.reference import enumeration, toy
from tests.reference.strategies import single_chains

TOLERANCE = 1e-9  # the same sums in another order
SEARCH = 1e-3  # relative, of a temperature found; the loss is flat around it
CLASSES = ["A", "B", "C"]

X, Y = toy.corpus(seed=31, n_sequences=40)
DEV_X, DEV_Y = toy.corpus(seed=32, n_sequences=30)


def tempered(potentials: ChainPotentials, temperature: float) -> ChainPotentials:
    parts = (potentials.start, potentials.node, potentials.edge, potentials.stop)
    return ChainPotentials(*(part / temperature for part in parts), potentials.offsets)


def enumerated_loss(sequences, y_true, temperature: float) -> float:
    losses = []
    for potentials, labels in zip(sequences, y_true, strict=True):
        scores = enumeration.scores(tempered(potentials, temperature))
        for t, label in enumerate(labels):
            through = [score for given, score in scores.items() if CLASSES[given[t]] == label]
            losses.append(np.logaddexp.reduce(list(scores.values())) - np.logaddexp.reduce(through))
    return float(np.mean(losses))


def random_sequences(seed: int, scale: float, n: int = 12):
    """Scores that know something of the truth, multiplied by `scale`, so that T is about proportional to it."""
    rng = np.random.default_rng(seed)
    start, edge, stop = rng.normal(size=3), rng.normal(size=(3, 3)), rng.normal(size=3)
    sequences, y_true = [], []
    for _ in range(n):
        truth = rng.integers(0, 3, rng.integers(1, 6))
        node = rng.normal(size=(len(truth), 3)) + 1.5 * np.eye(3)[truth]
        sequences.append(ChainPotentials(*(scale * part for part in (start, node, edge, stop))))
        y_true.append([CLASSES[label] for label in truth])
    return sequences, y_true


@pytest.mark.parametrize("scale", [0.1, 1.0, 20.0])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_minimum_is_that_of_a_fine_grid_and_of_scipy(seed, scale):
    sequences, y_true = random_sequences(seed, scale)
    found = fit_temperature(sequences, y_true, CLASSES)
    assert found.n_tokens == sum(map(len, y_true))
    assert found.log_loss == pytest.approx(enumerated_loss(sequences, y_true, found.temperature), rel=TOLERANCE)
    grid = np.geomspace(LOWEST, HIGHEST, 60)
    assert found.log_loss <= min(enumerated_loss(sequences, y_true, T) for T in grid) + TOLERANCE
    around = np.log(found.temperature) + np.array([-1.0, 1.0])
    oracle = minimize_scalar(
        lambda log_t: enumerated_loss(sequences, y_true, np.exp(log_t)), bounds=around, method="bounded"
    )
    assert found.temperature == pytest.approx(np.exp(oracle.x), rel=SEARCH)
    assert found.log_loss == pytest.approx(oracle.fun, rel=1e-6)
    assert LOWEST < found.temperature < HIGHEST


@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_lower_temperatures_are_bounded_from_below(scale):
    sequences, y_true = random_sequences(6, scale)
    loss = _Loss(_one_batch(sequences), y_true, CLASSES)
    points = np.log(np.geomspace(HIGHEST, LOWEST, 12))
    tightest = 0.0
    for place, point in enumerate(points):
        loss(point)
        bounds = [loss.at_least(lower) for lower in points[place:]]
        assert bounds == sorted(bounds)
        for lower, bound in zip(points[place:], bounds):
            true = enumerated_loss(sequences, y_true, np.exp(lower))
            assert bound <= true * (1 + TOLERANCE) + TOLERANCE
            tightest = max(tightest, bound / true)
    assert tightest > 0.9


def test_the_temperature_goes_with_the_scale_of_the_scores():
    one, ten = (fit_temperature(*random_sequences(4, scale), CLASSES) for scale in (1.0, 10.0))
    assert ten.temperature == pytest.approx(10.0 * one.temperature, rel=SEARCH)
    assert ten.log_loss == pytest.approx(one.log_loss, rel=1e-6)
    again = [tempered(potentials, one.temperature) for potentials in random_sequences(4, 1.0)[0]]
    assert fit_temperature(again, random_sequences(4, 1.0)[1], CLASSES).temperature == pytest.approx(1.0, rel=SEARCH)


@given(potentials=single_chains(), temperature=st.sampled_from([0.01, 0.5, 1.0, 3.0, 1000.0]))
def test_marginals_by_enumeration(potentials, temperature):
    assume(max_marginals_are_possible(potentials))
    (rows,) = marginals_at([potentials], temperature)
    np.testing.assert_allclose(rows, enumeration.marginals(tempered(potentials, temperature))[0], atol=1e-8)


@given(potentials=single_chains(), data=st.data())
def test_log_probabilities_by_enumeration_also_of_the_impossible_in_floats(potentials, data):
    """Scores of ±1e4 make probabilities of e^-10000, whose logarithm must still be right."""
    assume(max_marginals_are_possible(potentials))
    through = enumeration.max_marginals(potentials)
    position = data.draw(st.integers(0, len(through) - 1))
    label = data.draw(st.sampled_from(np.flatnonzero(through[position] > -np.inf).tolist()))
    (found,), _ = _log_probabilities(_one_batch([potentials]), np.array([position]), np.array([label]))
    scores = enumeration.scores(potentials)
    chosen = [score for labels, score in scores.items() if labels[position] == label]
    assert found == pytest.approx(
        np.logaddexp.reduce(chosen) - enumeration.log_partition(potentials), rel=1e-9, abs=1e-9
    )


def max_marginals_are_possible(potentials: ChainPotentials) -> bool:
    return bool((enumeration.max_marginals(potentials).max(axis=1) > -np.inf).all())


def test_tiny_probabilities_of_many_sequences(monkeypatch):
    """Each is put in its own place, whatever the blocks."""
    sequences, y_true = random_sequences(5, 3e4, n=8)
    batch = _one_batch(sequences)
    labels = np.array([CLASSES.index(label) for labels in y_true for label in labels])
    found, _ = _log_probabilities(batch, np.arange(len(labels)), labels)
    assert found.min() < -1000.0
    # Almost all weight is on the best labelling, through the label and over all.
    through = max_marginals(batch)
    np.testing.assert_allclose(found, through[np.arange(len(labels)), labels] - through.max(axis=1), atol=0.1)
    monkeypatch.setattr("labseq_core.evaluation.temperature.BLOCK_POSITIONS", 3)
    np.testing.assert_array_equal(_log_probabilities(batch, np.arange(len(labels)), labels)[0], found)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gets_probabilities(method):
    model = make_learner(method).fit(X, Y)
    potentials = model.potentials(DEV_X)
    found = fit_temperature(potentials, DEV_Y, model.classes_)
    assert LOWEST <= found.temperature <= HIGHEST
    before, after = (
        calibration(DEV_Y, marginals_at(potentials, temperature), model.classes_)
        for temperature in (1.0, found.temperature)
    )
    assert found.log_loss == pytest.approx(after.log_loss, rel=TOLERANCE)
    assert found.log_loss <= before.log_loss * (1.0 + TOLERANCE)
    assert found.log_loss < np.log(len(model.classes_))  # better than to know nothing
    if METHODS[method].probabilistic:
        for own, at_1 in zip(model.marginals(DEV_X), marginals_at(potentials, 1.0), strict=True):
            np.testing.assert_array_equal(own, at_1)


def test_constraints_stay_and_what_they_forbid_is_left_out():
    labels = ["O", "B-X", "I-X"]
    x, y = toy.corpus(seed=33, n_sequences=30)
    names = dict(zip("ABC", labels))
    y = [[names[label] for label in row] for row in y]
    allowed = [
        (words, row) for words, row in zip(x, y)
        if all(label != "I-X" or (t and row[t - 1] != "O") for t, label in enumerate(row))
    ]  # fmt: skip
    model = make_learner("crf", constraints="bio").fit(*map(list, zip(*allowed)))
    potentials = model.potentials(x)
    through = max_marginals(_one_batch(potentials))
    codes = [model.classes_.index(label) for row in y for label in row]
    possible = int(np.sum(through[np.arange(len(codes)), codes] > -np.inf))
    assert 0 < possible < len(codes)
    found = fit_temperature(potentials, y, model.classes_)
    assert found.n_tokens == possible
    assert np.isfinite(found.log_loss)
    first = np.array([rows[0] for rows in marginals_at(potentials, found.temperature)])
    assert (first[:, model.classes_.index("I-X")] == 0.0).all()
    # A label that the model never saw is left out as well.
    strange = [["new", *row[1:]] for row in y]
    assert fit_temperature(potentials, strange, model.classes_).n_tokens < possible


def test_a_model_that_is_always_right_ends_at_the_lower_bound():
    node = np.array([[1.0, 0.0], [0.0, 1.0]])
    potentials = [ChainPotentials(np.zeros(2), node, np.zeros((2, 2)), np.zeros(2))]
    sure = fit_temperature(potentials, [["A", "B"]], ["A", "B"])
    assert sure.temperature == pytest.approx(LOWEST)
    wrong = fit_temperature(potentials, [["B", "A"]], ["A", "B"])
    assert wrong.temperature == pytest.approx(HIGHEST)


def test_where_no_temperature_is_better_it_is_1():
    one_label = [ChainPotentials(np.zeros(1), np.ones((3, 1)), np.zeros((1, 1)), np.zeros(1))]
    found = fit_temperature(one_label, [["A"] * 3], ["A"])
    assert (found.temperature, found.log_loss) == (1.0, 0.0)
    flat = [ChainPotentials(np.zeros(2), np.zeros((3, 2)), np.zeros((2, 2)), np.zeros(2))]
    assert fit_temperature(flat, [["A", "B", "A"]], ["A", "B"]).temperature == 1.0


def test_a_batch_is_the_list_of_its_sequences():
    model = make_learner("crf").fit(X, Y)
    batch, one_by_one = model._batch(DEV_X), model.potentials(DEV_X)
    assert fit_temperature(batch, DEV_Y, CLASSES) == fit_temperature(one_by_one, DEV_Y, CLASSES)
    per_position = [potentials.with_edge_per_position() for potentials in one_by_one]
    other = fit_temperature(per_position, DEV_Y, CLASSES)
    assert other.log_loss == pytest.approx(fit_temperature(batch, DEV_Y, CLASSES).log_loss, rel=TOLERANCE)
    assert marginals_at([], 2.0) == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda one: fit_temperature([], [], CLASSES), "potentials is empty"),
        (lambda one: fit_temperature([one], [], CLASSES), "y_true has 0 sequences, potentials 1"),
        (lambda one: fit_temperature([one], [["A"]], CLASSES), "sequence 0 of y_true has 1 labels for 2 tokens"),
        (lambda one: fit_temperature([one], ["AB"], CLASSES), "sequence 0 of y_true"),
        (lambda one: fit_temperature([one], [["A", "B"]], ["A"]), "potentials have 3 labels, classes 1"),
        (lambda one: fit_temperature([one], [["new", "new"]], CLASSES), "no label that the model holds for possible"),
        (lambda one: fit_temperature([one, tempered(one, 2.0)], [["A", "B"]] * 2, CLASSES), "those of one model"),
        (lambda one: marginals_at([one], 0.0), "temperature is 0.0; give a number above 0"),
        (lambda one: marginals_at([one], float("nan")), "temperature is nan"),
        (lambda one: marginals_at([one], "1"), "temperature is '1'"),
    ],
)
def test_bad_input_is_named(call, message):
    one = ChainPotentials(np.ones(3), np.ones((2, 3)), np.ones((3, 3)), np.ones(3))
    with pytest.raises(LabSeqError, match=message):
        call(one)
