"""HM-SVMs against the dense dual of all labellings, their optimality conditions and the propositions of T 4.2, 4.4."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import LinearSVC

from labseq_core import HMSVM
from tests.examples import few
from tests.reference import toy
from tests.reference.margins import DenseMargins

VARIANTS = [
    (slack, rescale)
    for slack in ("l1", "l2", "labelling", "none")
    for rescale in (None, "margin", "slack")
    if (slack, rescale) != ("none", "slack")
]
every_variant = pytest.mark.parametrize(("slack", "rescale"), VARIANTS, ids=lambda value: str(value))
OPTIMUM = {"rtol": 1e-5}
SAME = {"rtol": 1e-9, "atol": 1e-10}  # two ways to the same number
TIGHT = {"tol": 1e-7, "max_iter": 5000, "max_labellings": 1000}


def as_dicts(X: list[list[str]], values: bool) -> list[list[dict[str, float]]]:
    """One attribute per word, or real-valued ones of both signs too, and a word without any."""
    if not values:
        return [[{f"word={word}": 1.0} for word in x] for x in X]
    return [
        [{f"word={word}": 0.5, "length": len(word) / 4, "sign": -1.0 if "o" in word else 0.7} if word != "4" else {}
         for word in x]
        for x in X
    ]  # fmt: skip


def separable(X: list[list[str]]) -> list[list[dict[str, float]]]:
    """Every token has an attribute of its own."""
    return [[{f"token={i}.{t}": 1.0, f"word={word}": 0.5} for t, word in enumerate(x)] for i, x in enumerate(X)]


def case(
    seed: int, slack: str, rescale: str | None, *, C=0.7, eta=0.6, values=False, n=4, labels="AB", length=3, **options
):
    """A fitted model, and the dense problem that it has solved."""
    words, Y = toy.corpus(seed, n_sequences=n, labels=labels, max_length=length)
    X = separable(words) if slack == "none" else as_dicts(words, values)
    model = HMSVM(C=C, slack=slack, rescale=rescale, eta=eta, **(TIGHT | options)).fit(X, Y)
    dense = DenseMargins(X, [tuple(y) for y in Y], slack=slack, rescale=rescale, C=C, eta=eta)
    return model, dense, X, Y


def alpha_of(model: HMSVM, dense: DenseMargins) -> np.ndarray:
    rows = model.support_sequences_
    return dense.alpha_of([(r.sequence, tuple(r.labels), r.alpha) for r in rows.itertuples() if not r.is_truth])


def weights_of(model: HMSVM, dense: DenseMargins) -> np.ndarray:
    """The model's weights in the order of the dense problem, pairs divided by √η as its vectors have them."""
    labels, found = model.classes_, []
    for kind, first, second in dense.names:
        s = labels.index(second)
        if kind == "node":
            row = model.vocabulary_.encode([first], unknown=-1)[0]
            found.append(model.weights_.node[row, s] if row >= 0 else 0.0)
        else:
            found.append(model.weights_.edge[labels.index(first), s])
    return np.array(found) / dense.root


@every_variant
def test_the_optimum_is_that_of_a_general_solver(slack, rescale):
    for seed, values in [(3, False), (8, True)]:
        model, dense, _, _ = case(seed, slack, rescale, values=values)
        _, optimum = dense.solve()
        np.testing.assert_allclose(model.primal_objective_, optimum, **OPTIMUM)
        np.testing.assert_allclose(model.dual_objective_, optimum, **OPTIMUM)


@every_variant
@few
@given(seed=st.integers(0, 10_000), values=st.booleans(), labels=st.sampled_from(["AB", "ABC"]))
def test_what_is_reported_is_so_and_proves_itself(slack, rescale, seed, values, labels):
    """α is feasible, w = Σ α ΔΨ, primal and dual are those of the definitions: by weak duality both are optimal."""
    C = [0.05, 0.7, 20.0][seed % 3]
    model, dense, _, _ = case(seed, slack, rescale, C=C, values=values, n=3, labels=labels)
    alpha, weights = alpha_of(model, dense), weights_of(model, dense)
    np.testing.assert_allclose(weights, dense.weights(alpha), **SAME)
    dual = dense.dual(alpha)
    np.testing.assert_allclose(model.dual_objective_, dual, **SAME)
    if slack == "none":
        margin = 1.0 - dense.slacks(weights).max(initial=0.0)
        assert margin > 0.999
        primal = dense.primal(weights / margin)
        assert primal < np.inf
        assert dual - 1e-9 <= primal <= model.primal_objective_ * (1 + 1e-9)
    else:
        np.testing.assert_allclose(model.primal_objective_, dense.primal(weights), **SAME)
    assert model.gap_ == model.primal_objective_ - model.dual_objective_
    assert model.exact_
    assert -1e-9 <= model.gap_ <= 1e-5 * max(1.0, model.primal_objective_)


@every_variant
def test_optimality_conditions(slack, rescale):
    """T 4.18: a labelling with weight has exactly its slack; a slack is there only where α has reached its bound."""
    close = 2e-3  # the gap of 1e-7 leaves margins of about its root
    model, dense, _, _ = case(5, slack, rescale, n=5)
    alpha, weights = alpha_of(model, dense), weights_of(model, dense)
    shares = alpha / dense.distance if rescale == "slack" else alpha
    margins = dense.differences @ weights
    target = dense.distance if rescale == "margin" else 1.0
    scale = dense.distance if rescale == "slack" else 1.0
    needed = scale * (target - margins)  # ⟨w, g⟩ = b - needed
    slacks, totals = dense.sequence_slacks(weights), np.bincount(dense.owner, shares, dense.n_sequences)
    weighty = shares > 1e-3
    assert weighty.any()
    if slack == "labelling":
        assert (needed[weighty] >= -close).all()
        np.testing.assert_allclose(shares[needed > close], model.C, rtol=1e-6)
        return
    np.testing.assert_allclose(needed[weighty], 0.0 if slack == "none" else slacks[dense.owner][weighty], atol=close)
    if slack == "l1":
        np.testing.assert_allclose(totals[slacks > close], model.C, rtol=1e-6)
    if slack == "l2":
        np.testing.assert_allclose(2.0 * model.C * slacks, totals, atol=close)


@pytest.mark.parametrize("rescale", [None, "margin", "slack"])
def test_losses_bound_the_risks(rescale):
    """T Propositions 5, 6 and 7 (without its 1/n): Σ ξ and Σ ξ² bound wrong sequences, Σ_y ξ(y) the rank loss."""
    for seed in range(4):
        model, dense, X, Y = case(seed, "l1", rescale, C=0.1, n=8)
        weights = weights_of(model, dense)
        wrong = sum(guess != y for guess, y in zip(model.predict(X), Y))
        slacks = dense.sequence_slacks(weights)
        assert slacks.sum() >= wrong
        assert (slacks**2).sum() >= wrong
        rank_loss = int((dense.differences @ weights <= 0.0).sum())
        assert dense.slacks(weights).sum() >= rank_loss
        assert rank_loss >= wrong


@every_variant
def test_the_dual_never_decreases_and_the_gap_bounds_how_far_off_it_is(slack, rescale):
    """T Proposition 8; at every round the optimum is between dual and primal."""
    model, dense, X, Y = case(11, slack, rescale, n=6, labels="ABC")
    history, optimum = model.history_, model.dual_objective_
    steps = np.diff(history["dual"])
    assert (steps >= -1e-12 * abs(optimum)).all()
    assert (history["dual"] <= optimum * (1 + 1e-9)).all()
    assert (history["primal"] >= optimum * (1 - 1e-6)).all()
    np.testing.assert_array_equal(history["gap"], history["primal"] - history["dual"])
    best = weights_of(model, dense)
    for rounds in (1, 2, 3):
        stopped = HMSVM(**(model.get_params() | {"max_iter": rounds})).fit(X, Y)
        if slack != "none":
            weights = weights_of(stopped, dense)
            assert dense.primal(weights) - optimum <= stopped.gap_ + 1e-9
            # ½‖w - w*‖² <= P(w) - P(w*)
            assert 0.5 * np.sum((weights - best) ** 2) <= stopped.gap_ + model.gap_ + 1e-9


@every_variant
def test_a_violated_margin_raises_the_dual(slack, rescale):
    """T Proposition 8, round by round: while the gap is open, what is found makes the dual larger."""
    model, _, _, _ = case(12, slack, rescale, n=6, labels="ABC", tol=1e-4)
    dual = model.history_["dual"].to_numpy()
    assert len(dual) > 2
    assert (np.diff(dual) > 0.0).all()


@every_variant
def test_names_of_labels_and_order_of_sequences_do_not_matter(slack, rescale):
    model, dense, X, Y = case(13, slack, rescale, n=6, labels="ABC")
    bound = 2.0 * np.sqrt(2.0 * (model.gap_ + 1e-9)) + 1e-5
    order = [3, 0, 5, 1, 4, 2]
    moved = HMSVM(**model.get_params()).fit([X[i] for i in order], [Y[i] for i in order])
    seeded = HMSVM(**(model.get_params() | {"seed": 7})).fit(X, Y)
    other = {"A": "C", "B": "A", "C": "B"}
    renamed = HMSVM(**model.get_params()).fit(X, [[other[label] for label in y] for y in Y])
    for again in (moved, seeded, renamed):
        np.testing.assert_allclose(again.primal_objective_, model.primal_objective_, rtol=1e-5)
    for again in (moved, seeded):
        assert np.linalg.norm(weights_of(again, dense) - weights_of(model, dense)) <= bound
    columns = [renamed.classes_.index(other[label]) for label in model.classes_]
    for before, after in zip(model.potentials(X), renamed.potentials(X)):
        np.testing.assert_allclose(after.node[:, columns], before.node, atol=bound * 3)
        np.testing.assert_allclose(after.edge[np.ix_(columns, columns)], before.edge, atol=bound * 3)


def test_sequences_of_length_1_are_a_multiclass_svm():
    """T 4.5: with one slack a token this is Crammer and Singer's, which scikit-learn has too."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 3))
    labels = np.array(list("ABC"))[np.argmax(rows @ rng.normal(size=(3, 3)) + rng.gumbel(size=(40, 3)), axis=1)]
    X = [[{f"x{k}": float(value) for k, value in enumerate(row)}] for row in rows]
    for C in (0.1, 2.0):
        model = HMSVM(C=C, **TIGHT).fit(X, [[label] for label in labels])
        other = LinearSVC(C=C, multi_class="crammer_singer", fit_intercept=False, tol=1e-8, max_iter=100_000)
        coefficients = other.fit(rows, labels).coef_
        scores = rows @ coefficients.T
        own = (other.classes_[:, np.newaxis] == labels).T
        slacks = np.maximum(0.0, 1.0 + np.where(own, -np.inf, scores).max(axis=1) - scores[own])
        np.testing.assert_allclose(model.primal_objective_, 0.5 * np.sum(coefficients**2) + C * slacks.sum(), rtol=1e-5)
        np.testing.assert_allclose(model.weights_.node, coefficients.T, atol=1e-3)
        np.testing.assert_array_equal(model.weights_.edge, 0.0)


def test_bio_constraints_leave_only_allowed_labellings():
    labels = ["B-X", "I-X", "O"]
    allowed = lambda y: all(b != "I-X" or (t > 0 and y[t - 1] != "O") for t, b in enumerate(y))  # noqa: E731
    rng = np.random.default_rng(4)
    Y, X = [], []
    while len(Y) < 5:
        y = tuple(rng.choice(labels, size=rng.integers(1, 4)))
        if allowed(y):
            Y.append(y)
            X.append([{f"word={rng.integers(3)}": 1.0, f"seems={label}": 0.3} for label in y])
    for slack, rescale in VARIANTS[:9]:
        model = HMSVM(C=0.6, slack=slack, rescale=rescale, constraints="bio", **TIGHT).fit(X, [list(y) for y in Y])
        dense = DenseMargins(X, Y, slack=slack, rescale=rescale, C=0.6, allowed=allowed)
        np.testing.assert_allclose(model.primal_objective_, dense.solve()[1], **OPTIMUM)
        assert all(allowed(row) for row in model.support_sequences_["labels"])
