"""HM-SVM against a general solver on all constraints, its bounds on risks, and its two ways of scoring."""

import numpy as np
import pytest

from labseq_core import HMSVM, RBF, LabSeqError, Linear, Normalized, Polynomial, load_model
from labseq_core.features import encode_attributes
from labseq_core.kernels import Gram, Observations, explicit_size
from labseq_core.kernels.route import GIB, Costs, route_of_updates
from labseq_core.solvers.margin import gram_scores
from tests.reference import toy
from tests.reference.margins import DenseMargins

OPTIMUM = 2e-4  # relative: tolerance of the gap, and what the general solver leaves
EXACT = 1e-7  # relative: two ways to sum up the same objective
VARIANTS = [
    (slack, rescale)
    for slack in ("none", "l1", "l2", "labelling")
    for rescale in (None, "margin", "slack")
    if (slack, rescale) != ("none", "slack")
]
every_variant = pytest.mark.parametrize(("slack", "rescale"), VARIANTS)


def tiny(seed: int, separable: bool = False):
    """A few short sequences with real-valued attributes too; separable: each token has an attribute of its own."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for i in range(4):
        length = int(rng.integers(1, 4))
        Y.append(tuple(rng.choice(["A", "B"] if seed % 2 else ["A", "B", "C"], size=length).tolist()))
        own = [{f"{i}-{t}": 1.0} if separable else {} for t in range(length)]
        shared = [{n: float(rng.choice([1.0, 0.5, -1.0])) for n in "abc" if rng.random() < 0.6} for _ in range(length)]
        X.append([one | other for one, other in zip(shared, own)])
    return X, Y


def support(model: HMSVM) -> list[tuple[int, tuple[str, ...], float]]:
    rows = model.support_sequences_
    rows = rows[~rows["is_truth"].astype(bool)]
    return [(row.sequence, tuple(row.labels), row.alpha) for row in rows.itertuples()]


@every_variant
@pytest.mark.parametrize("seed", range(4))
def test_the_optimum_of_all_constraints(slack, rescale, seed):
    X, Y = tiny(seed, separable=slack == "none")
    model = HMSVM(C=0.7, slack=slack, rescale=rescale, eta=0.6, tol=1e-5, max_labellings=1000).fit(
        X, [list(y) for y in Y]
    )
    dense = DenseMargins(X, Y, slack=slack, rescale=rescale, C=0.7, eta=0.6)
    _, optimum = dense.solve()
    np.testing.assert_allclose([model.primal_objective_, model.dual_objective_], optimum, rtol=OPTIMUM)
    assert model.dual_objective_ <= optimum * (1 + OPTIMUM)
    assert model.primal_objective_ >= optimum * (1 - OPTIMUM)
    alpha = dense.alpha_of(support(model))
    np.testing.assert_allclose(dense.dual(alpha), model.dual_objective_, rtol=EXACT)
    if slack != "none":  # the primal of a hard margin is that of the weights stretched until all margins are open
        np.testing.assert_allclose(dense.primal(dense.weights(alpha)), model.primal_objective_, rtol=EXACT)
    assert model.exact_
    assert model.converged_


@every_variant
def test_the_dual_never_falls(slack, rescale):
    """T Proposition 8, and more: no round loses any of it."""
    X, Y = tiny(5, separable=slack == "none")
    history = HMSVM(slack=slack, rescale=rescale, tol=1e-6).fit(X, [list(y) for y in Y]).history_
    dual = history["dual"].to_numpy()
    assert (np.diff(dual) >= -EXACT * np.abs(dual[1:])).all()
    assert (history["primal"] >= history["dual"] - EXACT).all()


def test_slacks_bound_the_mistakes():
    """T Propositions 5, 6 and 7 (without its 1/n) at weights that are not optimal."""
    X, Y = tiny(2)
    model = HMSVM(C=0.05, tol=0.5).fit(X, [list(y) for y in Y])
    dense = DenseMargins(X, Y, slack="labelling", rescale=None, C=1.0)
    weights = dense.weights(dense.alpha_of(support(model)))
    slacks, margins = dense.slacks(weights), dense.differences @ weights
    wrong = np.array([bool((margins[dense.owner == i] <= 0.0).any()) for i in range(len(X))])
    per_sequence = dense.sequence_slacks(weights)
    assert wrong.any()
    assert per_sequence.sum() >= wrong.sum()  # 5
    assert (per_sequence**2).sum() >= wrong.sum()  # 6
    assert slacks.sum() >= (margins <= 0.0).sum()  # 7


@pytest.mark.parametrize(
    ("slack", "rescale"), [("l1", None), ("l1", "margin"), ("l2", "slack"), ("l1", "slack"), ("none", None)]
)
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), Normalized(Polynomial(2)), 0.5 * Linear() + Polynomial(2)])
def test_both_routes_find_the_same(slack, rescale, kernel):
    X, Y = tiny(3, separable=slack == "none")
    Y = [list(y) for y in Y]
    options = {"slack": slack, "rescale": rescale, "kernel": kernel, "eta": 0.4, "tol": 1e-6}
    explicit, gram = (HMSVM(route=route, **options).fit(X, Y) for route in ("explicit", "gram"))
    assert (explicit.route_, gram.route_) == ("explicit", "gram")
    np.testing.assert_allclose(gram.primal_objective_, explicit.primal_objective_, rtol=1e-5)
    for one, other in zip(explicit.potentials(X), gram.potentials(X)):
        np.testing.assert_allclose(one.node, other.node, atol=0.02)
        np.testing.assert_allclose(one.edge, other.edge, atol=0.02)


def test_scores_made_anew_are_those_that_were_kept(monkeypatch):
    X, Y = toy.corpus(seed=5, n_sequences=10)
    options = {"kernel": Polynomial(2), "route": "gram", "tol": 1e-6, "eta": 0.4}
    kept = HMSVM(**options).fit(X, Y)
    monkeypatch.setattr(gram_scores, "FRESH_AFTER", 3)
    anew = HMSVM(**options).fit(X, Y)
    np.testing.assert_allclose(anew.dual_objective_, kept.dual_objective_, rtol=1e-5)
    np.testing.assert_allclose(anew.primal_objective_, kept.primal_objective_, rtol=1e-5)


def test_features_that_do_not_fit_are_not_taken_even_if_faster():
    encoded = encode_attributes([[{f"{t}": 1.0, f"{k}": 1.0} for k in range(20)] for t in range(20, 40)])
    needed = explicit_size(Polynomial(2), encoded).n_bytes(2)
    for bytes_given, route in ((needed, "explicit"), (needed - 1, "gram")):
        asked = Polynomial(2), encoded, "auto", bytes_given / GIB, 2
        assert route_of_updates(*asked, lambda size: Costs(explicit=1.0, gram=2.0)) == route
        assert route_of_updates(*asked, lambda size: Costs(explicit=2.0, gram=1.0)) == "gram"


def test_a_kernel_without_explicit_features_is_learned_saved_and_loaded(tmp_path):
    words, labels = toy.corpus(seed=7, n_sequences=25)
    model = HMSVM(kernel=RBF(0.7), tol=1e-2).fit(words, labels)
    assert model.route_ == "gram"
    assert model.converged_
    assert model.score(words, labels) > 0.7  # words of the toy corpus are ambiguous
    model.save(tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    assert again.predict(words) == model.predict(words)
    assert again.kernel == RBF(0.7)
    assert again.support_sequences_.equals(model.support_sequences_)


def budget_for(rows: int, observations: Observations) -> float:
    """GiB that keep so many rows of kernel values, or a few more."""
    memory = 2**10
    while True:
        try:
            if Gram(RBF(1.0), observations, memory).capacity >= rows:
                return memory / 2**30
        except LabSeqError:
            pass
        memory = int(memory * 1.05)


def test_a_small_budget_of_memory_changes_nothing():
    rng = np.random.default_rng(8)
    X = [[{"a": float(rng.normal()), "b": float(rng.normal())} for _ in range(rng.integers(1, 6))] for _ in range(40)]
    labels = [["A" if token["a"] * token["b"] > 0.2 * rng.normal() else "B" for token in x] for x in X]
    observations = Observations.of(encode_attributes(X))
    little = budget_for(10, observations)
    assert Gram(RBF(1.0), observations, int(little * 2**30)).capacity < len(observations) / 4
    options = {"kernel": RBF(1.0), "tol": 1e-6, "route": "gram"}
    whole, parts = (HMSVM(memory=memory, **options).fit(X, labels) for memory in (1.0, little))
    np.testing.assert_allclose(parts.primal_objective_, whole.primal_objective_, rtol=1e-5)
    np.testing.assert_allclose(parts.dual_objective_, whole.dual_objective_, rtol=1e-5)


def test_a_budget_that_does_not_keep_one_sequence_is_refused():
    X = [[{"a": float(t), "b": 1.0 / (1 + t)} for t in range(400)]]
    little = budget_for(50, Observations.of(encode_attributes(X)))
    with pytest.raises(LabSeqError, match="longest sequence has 400; raise memory"):
        HMSVM(kernel=RBF(1.0), route="gram", memory=little).fit(X, [["A", "B"] * 200])


def test_permuting_labels_or_sequences_changes_nothing():
    X, Y = tiny(4)
    Y = [list(y) for y in Y]
    renamed = {"A": "Z", "B": "Y", "C": "X"}
    model = HMSVM(tol=1e-6).fit(X, Y)
    turned = HMSVM(tol=1e-6).fit(X[::-1], [[renamed[label] for label in y] for y in Y[::-1]])
    np.testing.assert_allclose(turned.primal_objective_, model.primal_objective_, rtol=1e-5)
    assert [[renamed[label] for label in y] for y in model.predict(X)] == turned.predict(X)


def test_what_cannot_be_separated_is_said():
    with pytest.raises(LabSeqError, match=r"not separable: .* use slack='l1' or 'l2', or better attributes"):
        HMSVM(slack="none").fit([["a"], ["a"]], [["A"], ["B"]])
    with pytest.raises(LabSeqError, match="slack='none' has no slack to rescale"):
        HMSVM(slack="none", rescale="slack").fit([["a"]], [["A"]])


def test_facts_of_support():
    words, labels = toy.corpus(seed=9, n_sequences=30)
    model = HMSVM(tol=1e-4).fit(words, labels)
    rows = model.support_sequences_
    rivals = rows[~rows["is_truth"].astype(bool)]
    assert len(rivals) == model.n_support_sequences_
    assert rivals["sequence"].nunique() == model.n_support_examples_ == rows["is_truth"].sum()
    assert model.satisfied_share_ == pytest.approx(1 - model.n_support_examples_ / 30)
    for number, own in rivals.groupby("sequence"):
        truth = rows[(rows["sequence"] == number) & rows["is_truth"].astype(bool)].iloc[0]
        assert truth["labels"] == labels[number]
        assert truth["alpha"] == pytest.approx(own["alpha"].sum())
        assert own["alpha"].sum() <= model.C * (1 + EXACT)
        assert all(given != labels[number] for given in own["labels"])
