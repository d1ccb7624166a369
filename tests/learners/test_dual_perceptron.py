"""The dual perceptron against Algorithm 6 by enumeration, and against the primal one."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from labseq_core import (
    RBF,
    DualPerceptron,
    FeatureTemplate,
    LabSeqError,
    Linear,
    Normalized,
    Polynomial,
    StructuredPerceptron,
    TokenMatch,
    load_model,
)
from labseq_core.features import encode_attributes
from labseq_core.learners import dual_perceptron as module
from tests.examples import few
from tests.learners.test_perceptron import as_dicts, orders
from tests.reference import dual_perceptron as naive
from tests.reference import toy

COEFFICIENT = {"rtol": 1e-12, "atol": 1e-12}
SCORES = {"rtol": 1e-9, "atol": 1e-9}
# Their values on the data below are exact, so ties are ties in both versions.
EXACT = [Linear(), Polynomial(2), Polynomial(3, 2.0), TokenMatch(), 2.0 * Linear() + TokenMatch()]
X, Y = toy.corpus(seed=50, n_sequences=40)


def coefficients(model: DualPerceptron) -> tuple[dict, dict]:
    """β by (observation as a set of items, label) and δ by (label, label)."""
    expansion, labels = model.expansion_, model.classes_
    rows = naive.naive.observations(expansion.support.as_sequences())
    beta = {}
    for row, values in zip(rows, expansion.beta):
        beta |= {(frozenset(row.items()), label): value for label, value in zip(labels, values) if value}
    delta = {
        (a, b): expansion.delta[r, s]
        for r, a in enumerate(labels)
        for s, b in enumerate(labels)
        if expansion.delta[r, s]
    }
    return beta, delta


def by_observation(counters: naive.Counters, X) -> tuple[dict, dict]:
    """β and δ of counters α."""
    beta, delta = {}, {}
    for (i, y), count in counters.items():
        for observation, label in zip(X[i], y):
            key = frozenset(observation.items()), label
            beta[key] = beta.get(key, 0.0) + count
        for pair in itertools.pairwise(y):
            delta[pair] = delta.get(pair, 0.0) + count
    return beta, delta


def assert_same(found: dict, expected: dict) -> None:
    for key in found.keys() | expected.keys():
        np.testing.assert_allclose(found.get(key, 0.0), expected.get(key, 0.0), **COEFFICIENT, err_msg=str(key))


@few
@given(
    st.integers(0, 10_000), st.sampled_from(EXACT), st.sampled_from(["gram", "explicit"]), st.booleans(), st.booleans(),
    st.integers(1, 2), st.sampled_from([1.0, 0.5]),
)  # fmt: skip
def test_coefficients_equal_algorithm_6(seed, kernel, route, binary, averaged, epochs, eta):
    words, labels = toy.corpus(seed, n_sequences=6, max_length=3)
    if binary or route == "explicit":
        tokens = [[{f"word={word}": 1.0, f"last={word[-1]}": 1.0} for word in x] for x in words]
    else:
        tokens = as_dicts(words)
    model = DualPerceptron(kernel, eta, epochs, averaged, seed=seed, route=route).fit(tokens, labels)
    visits = orders(len(tokens), epochs, True, seed)
    last, average = naive.train(tokens, [tuple(y) for y in labels], model.classes_, visits, kernel, eta)
    beta, delta = by_observation(average if averaged else last, tokens)
    found_beta, found_delta = coefficients(model)
    assert_same(found_beta, beta)
    assert_same(found_delta, delta)
    # F of any labelling of new data is Σ α k.
    (potentials,) = model.potentials(tokens[:1])
    for y, score in model.k_best(tokens[:1], 3)[0]:
        counters = average if averaged else last
        expected = naive.score(counters, tokens, kernel, eta, tokens[0], tuple(y))
        np.testing.assert_allclose(score, expected, **SCORES)
    assert potentials.node.shape == (len(tokens[0]), len(model.classes_))


@pytest.mark.parametrize("averaged", [False, True])
@pytest.mark.parametrize("route", ["explicit", "gram"])
@pytest.mark.parametrize("features", ["S3", "real"])
def test_linear_is_the_primal_perceptron_update_for_update(averaged, route, features):
    encoded = FeatureTemplate("S3").encode(X) if features == "S3" else encode_attributes(as_dicts(X))
    for epochs in range(1, 6):
        primal = StructuredPerceptron(epochs=epochs, averaged=averaged, seed=3).fit(encoded, Y)
        dual = DualPerceptron(epochs=epochs, averaged=averaged, seed=3, route=route).fit(encoded, Y)
        assert dual.history_["objective"].tolist() == primal.history_["objective"].tolist()
        assert dual.history_["wrong_sequences"].tolist() == primal.history_["wrong_sequences"].tolist()
        assert dual.n_updates_ == dual.history_["wrong_sequences"].sum()
        assert dual.predict(encoded) == primal.predict(encoded)
        for one, other in zip(dual.potentials(encoded), primal.potentials(encoded)):
            if averaged:
                np.testing.assert_allclose(one.node, other.node, **SCORES)
                np.testing.assert_allclose(one.edge, other.edge, **SCORES)
            else:
                np.testing.assert_array_equal(one.node, other.node)
                np.testing.assert_array_equal(one.edge, other.edge)


@pytest.mark.parametrize("constraints", [None, "bio"])
@pytest.mark.parametrize("kernel", [Polynomial(2), Polynomial(3), TokenMatch(), Normalized(Polynomial(2))], ids=str)
def test_both_routes_learn_the_same(kernel, constraints):
    words = [["Ana", "Paz", "vive", "en", "San", "Juan"], ["en", "Lima"], ["Ana", "y", "Paz"], ["San", "Juan"]] * 3
    labels = [["B-P", "I-P", "O", "O", "B-L", "I-L"], ["O", "B-L"], ["B-P", "O", "B-P"], ["B-L", "I-L"]] * 3
    encoded = FeatureTemplate("S3").encode(words)
    models = {
        route: DualPerceptron(kernel, 0.5, epochs=4, constraints=constraints, route=route).fit(encoded, labels)
        for route in ("gram", "explicit")
    }
    one, other = models["gram"], models["explicit"]
    assert (one.route_, other.route_) == ("gram", "explicit")
    np.testing.assert_array_equal(one.expansion_.beta, other.expansion_.beta)
    np.testing.assert_array_equal(one.expansion_.delta, other.expansion_.delta)
    queries = [*words, ["Juan", "vive", "en", "Paz"]]
    assert one.predict(queries) == other.predict(queries)
    for a, b in zip(one.potentials(queries), other.potentials(queries)):
        np.testing.assert_allclose(a.node, b.node, **SCORES)
        np.testing.assert_array_equal(a.edge, b.edge)
    if constraints:
        found = [label for y in one.predict(queries) for label in zip(["O", *y], y)]
        assert not [pair for pair in found if pair[1][0] == "I" and pair[0][1:] != pair[1][1:]]


def test_a_kernel_learns_what_no_weights_can():
    """The label is the exclusive or of two attributes."""
    tokens = [[{"a": a, "b": b} for a, b in pairs] for pairs in ([(1, 1), (0, 0), (1, 0)], [(0, 1), (0, 0)], [(1, 1)])]
    labels = [["yes" if token["a"] != token["b"] else "no" for token in x] for x in tokens]
    assert DualPerceptron(epochs=100).fit(tokens, labels).score(tokens, labels) < 1.0
    for kernel in (Polynomial(2), RBF(0.5), Normalized(Polynomial(3))):
        model = DualPerceptron(kernel, epochs=100, averaged=False).fit(tokens, labels)
        assert model.score(tokens, labels) == 1.0, kernel
        assert 0 < model.n_support_ <= model.n_observations_ == 4
        assert model.n_updates_ > 0


@pytest.mark.parametrize("kernel", [Linear(), RBF(2.0), Polynomial(2) + 0.5 * TokenMatch()], ids=str)
@pytest.mark.parametrize("route", ["auto", "gram"])
def test_models_with_kernels_come_back(kernel, route, tmp_path):
    model = DualPerceptron(kernel, epochs=3, route=route).fit(FeatureTemplate("S3").encode(X), Y)
    model.save(tmp_path / "m.npz")
    loaded = load_model(tmp_path / "m.npz")
    assert loaded.get_params() == model.get_params()
    assert loaded.kernel == kernel
    for name in DualPerceptron.facts:
        assert getattr(loaded, name) == getattr(model, name)
    for one, other in zip(model.potentials(X), loaded.potentials(X)):
        np.testing.assert_array_equal(one.node, other.node)
    assert clone(model).get_params() == model.get_params()
    assert repr(kernel) in repr(model)


def test_a_tiny_budget_changes_nothing():
    words, labels = toy.corpus(seed=51, n_sequences=150, max_length=8)
    data = encode_attributes([[{word: 1.0, "n": float(n), "m": n / 7} for n, word in enumerate(x)] for x in words])
    free = DualPerceptron(RBF(2.0), epochs=4).fit(data, labels)
    tight = DualPerceptron(RBF(2.0), epochs=4, memory=0.0011).fit(data, labels)
    np.testing.assert_array_equal(free.expansion_.beta, tight.expansion_.beta)
    assert free.predict(data) == tight.predict(data)


def test_memory_is_asked_for_before_it_is_taken():
    rng = np.random.default_rng(0)
    data = [[{f"a{a}": 1.0 for a in rng.choice(4000, size=30, replace=False)} for _ in range(500)] for _ in range(4)]
    labels = [["A", "B"] * 250] * 4
    with pytest.raises(LabSeqError, match=r"memory is 0.001 GiB, but \d+ explicit features need about .* route='gram'"):
        DualPerceptron(Polynomial(2), route="explicit", memory=0.001).fit(data, labels)
    with pytest.raises(LabSeqError, match=r"distinct observations need at least .* raise memory"):
        DualPerceptron(Polynomial(2), memory=0.001).fit(data, labels)
    with pytest.raises(LabSeqError, match=r"RBF\(width=1.0\) has no explicit features for these data"):
        DualPerceptron(RBF(1.0), route="explicit").fit(data, labels)


def test_the_route_is_chosen_by_cost():
    rng = np.random.default_rng(0)
    few = FeatureTemplate("S1", window=3).encode(rng.integers(500, size=(100, 20)).astype(str).tolist())
    assert DualPerceptron(Polynomial(2), epochs=1).fit(few, [["A", "B"] * 10] * 100).route_ == "explicit"
    many = [[[f"a{a}" for a in np.flatnonzero(rng.random(150) < 0.5)] for _ in range(10)] for _ in range(10)]
    labels = [["A", "B"] * 5] * 10
    assert DualPerceptron(Polynomial(2), epochs=1).fit(many, labels).route_ == "gram"
    assert DualPerceptron(RBF(1.0), epochs=1).fit(X, Y).route_ == "gram"
    assert DualPerceptron(epochs=1).fit(many, labels).route_ == "explicit"


@pytest.mark.parametrize("route", ["explicit", "gram"])
def test_blocks_between_looks_at_the_callback_change_nothing(monkeypatch, route):
    whole = DualPerceptron(Polynomial(2), epochs=4, route=route).fit(X, Y)
    monkeypatch.setattr(module, "BLOCK_TOKENS", {route: 7})
    calls = []
    cut = DualPerceptron(Polynomial(2), epochs=4, route=route).fit(X, Y, callback=calls.append)
    np.testing.assert_array_equal(cut.expansion_.beta, whole.expansion_.beta)
    assert len(calls) > 2 * 4
    # Stopped in the middle of a pass, it is a model of what it has seen.
    stopped = DualPerceptron(Polynomial(2), epochs=4, route=route).fit(X, Y, callback=lambda progress: False)
    assert 0 < stopped.n_support_ < whole.n_observations_
    assert len(stopped.predict(X)) == len(X)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), RBF(1.0)], ids=str)
def test_nothing_in_nothing_out(kernel):
    model = DualPerceptron(kernel, epochs=2).fit(X, Y)
    assert model.predict([]) == []
    assert len(model.predict([["never", "seen"]])[0]) == 2
    # One label: there are no mistakes, so there is no support.
    easy = DualPerceptron(kernel).fit(X, [["O"] * len(x) for x in X])
    assert easy.n_support_ == easy.n_updates_ == 0
    assert easy.score(X, [["O"] * len(x) for x in X]) == 1.0
    assert not easy.potentials(X)[0].node.any()


def test_history_counts_mistakes_support_and_follows_dev():
    model = DualPerceptron(Polynomial(2), epochs=5).fit(X[:30], Y[:30], dev=(X[30:], Y[30:]))
    history = model.history_
    assert (history["objective"] >= history["wrong_sequences"]).all()
    assert history["support"].iloc[-1] <= model.n_observations_
    assert history["dev_accuracy"].iloc[-1] == model.score(X[30:], Y[30:])
    assert model.n_parameters_ == model.expansion_.beta.size + len(model.classes_) ** 2


def test_it_stops_after_a_pass_without_mistakes():
    model = DualPerceptron(epochs=50).fit([["a", "b"], ["b", "a"]], [["A", "B"], ["B", "A"]])
    assert len(model.history_) < 50
    assert model.history_["wrong_sequences"].iloc[-1] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "poly:2"}, r"kernel is 'poly:2'; allowed: a kernel such as Polynomial\(2\)"),
        ({"kernel": None}, "kernel is None"),
        ({"eta": 0.0}, "eta is 0.0"),
        ({"route": "low-rank"}, "route is 'low-rank'; allowed: auto, explicit, gram"),
        ({"memory": 0}, "memory is 0; allowed: a number from 0.001"),
        ({"constraints": "bio"}, "is not a BIO label"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(LabSeqError, match=message):
        DualPerceptron(**options).fit(X, Y)
