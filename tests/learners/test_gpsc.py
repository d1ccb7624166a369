"""GPSC against the CRF, against enumeration, and each of its routes and solvers against the others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labseq_core import (
    CRF,
    GPSC,
    RBF,
    FeatureTemplate,
    LabSeqError,
    Linear,
    Normalized,
    Polynomial,
    SparseGPSC,
    load_model,
)
from labseq_core.chain.constraints import bio_constraints
from labseq_core.features import encode_attributes
from labseq_core.kernels import Gram, Observations
from labseq_core.learners import gpsc as module
from labseq_core.losses import log_loss
from labseq_core.progress import Recorder
from labseq_core.scoring.kernel_features import DenseFeatures, ExplicitFeatures, FeatureScoring
from labseq_core.scoring.kernel_training import KernelScoring
from labseq_core.scoring.linear import LinearScoring, LinearWeights
from labseq_core.solvers.gaussian import map_problem
from labseq_core.solvers.gaussian.map_problem import FeatureProblem, GramProblem
from labseq_core.solvers.smooth.lbfgs import minimise
from tests.examples import few
from tests.reference import enumeration, gp, toy
from tests.reference import kernels as naive

X, Y = toy.corpus(seed=70, n_sequences=30)
TIGHT = (
    1e-11  # the certificate relative to the objective: the function is then right to about √(2 · 1e-11 · 30) in norm
)
SAME = {"rtol": 0.0, "atol": 1e-6}  # of objectives and, with TIGHT, of probabilities
CLOSE = {"rtol": 0.0, "atol": 5e-5}  # of probabilities
ROUTES = ("gram", "explicit", "low-rank")
every_route = pytest.mark.parametrize("route", ROUTES)
every_solver = pytest.mark.parametrize("solver", ["lbfgs", "newton"])


def real_valued(seed: int) -> list[list[dict[str, float]]]:
    rng = np.random.default_rng(seed)
    return [
        [{"a": float(rng.normal()), "b": float(rng.normal()), f"w={word}": 1.0, "zero": 0.0} for word in x] for x in X
    ]


def assert_same_marginals(one, other, data=X, tolerance=SAME) -> None:
    for a, b in zip(one.marginals(data), other.marginals(data), strict=True):
        np.testing.assert_allclose(a, b, **tolerance)


@every_route
@every_solver
def test_with_the_linear_kernel_it_is_the_crf(route, solver):
    encoded = FeatureTemplate("S3", window=3).encode(X)
    crf = CRF(l2=0.7, tol=1e-9).fit(encoded, Y)
    gps = GPSC(Linear(), l2=0.7, route=route, solver=solver, tol=1e-14).fit(encoded, Y)
    assert gps.route_ == route
    np.testing.assert_allclose(gps.objective_, crf.objective_, **SAME)
    assert_same_marginals(gps, crf)


@every_route
def test_eta_is_a_penalty_of_l2_over_eta_on_pairs_of_labels(route):
    """Against the CRF's own objective with that penalty: at the minimum its derivative is 0."""
    l2, eta = 0.5, 3.0
    encoded = FeatureTemplate("S1", window=3).encode(X)
    model = GPSC(Linear(), l2=l2, eta=eta, route=route, tol=1e-14).fit(encoded, Y)
    labels = np.array([model.classes_.index(label) for y in Y for label in y])
    scoring = LinearScoring(encoded, len(model.classes_))
    # The weights of a linear function are its scores at single attributes.
    single = encode_attributes([[[name]] for name in encoded.vocabulary.names], encoded.vocabulary)
    node = model.expansion_.potentials(single).node
    edge = eta * model.expansion_.delta
    flat = np.concatenate([node.ravel(), edge.ravel()])
    weights = LinearWeights.of(flat, encoded.n_attributes, len(model.classes_), False)
    value, statistics = log_loss(scoring.potentials(weights), labels)
    strength = np.concatenate([np.full(node.size, l2), np.full(edge.size, l2 / eta)])
    gradient = scoring.gradient(statistics) + strength * flat
    np.testing.assert_allclose(gradient, 0.0, atol=1e-5)
    np.testing.assert_allclose(model.objective_, value + 0.5 * strength @ flat**2, rtol=1e-12)


@pytest.mark.parametrize(
    "kernel", [Polynomial(2), Polynomial(3, 0.5), Normalized(Polynomial(2)) + 0.3 * Linear()], ids=str
)
def test_routes_and_solvers_meet(kernel):
    encoded = FeatureTemplate("S3", window=3).encode(X)
    models = [
        GPSC(kernel, l2=0.3, eta=2.0, route=route, solver=solver, tol=TIGHT).fit(encoded, Y)
        for route in ROUTES
        for solver in ("lbfgs", "newton")
    ]
    for model in models[1:]:
        np.testing.assert_allclose(model.objective_, models[0].objective_, **SAME)
        assert_same_marginals(model, models[0], [*X, ["nunca", "visto"]], CLOSE)


@every_route
@every_solver
def test_nothing_depends_on_what_was_in_memory(route, solver, monkeypatch):
    """New arrays are full of what is no number, and a warning to calculate with, until something is written there."""
    options = {"route": route, "solver": solver, "tol": 1e-9}
    usual = GPSC(Polynomial(2), **options).fit(X, Y)

    def spoiled(make):
        def made(*arguments, **more):
            array = make(*arguments, **more)
            if array.dtype == np.float64 and array.flags.c_contiguous:
                array.view(np.int64).fill(0x7FF0000000000001)
            return array

        return made

    for name in ("empty", "empty_like"):
        monkeypatch.setattr(np, name, spoiled(getattr(np, name)))
    np.testing.assert_array_equal(GPSC(Polynomial(2), **options).fit(X, Y).objective_, usual.objective_)


@pytest.mark.parametrize("kernel", [Polynomial(2), RBF(1.5)], ids=str)
def test_real_values(kernel):
    data = real_valued(0)
    gram, rank = (GPSC(kernel, route=route, tol=TIGHT).fit(data, Y) for route in ("gram", "low-rank"))
    np.testing.assert_allclose(rank.objective_, gram.objective_, **SAME)
    assert_same_marginals(rank, gram, data, CLOSE)
    if kernel != RBF(1.5):
        explicit = GPSC(kernel, route="explicit", tol=TIGHT).fit(data, Y)
        np.testing.assert_allclose(explicit.objective_, gram.objective_, **SAME)


@every_route
@every_solver
@pytest.mark.parametrize("steps", [0, 1, 3, 8])
def test_the_certificate_bounds_what_is_left(route, solver, steps):
    best = GPSC(Polynomial(2), l2=0.2, eta=0.5, tol=1e-13).fit(X, Y).objective_
    model = GPSC(Polynomial(2), l2=0.2, eta=0.5, route=route, solver=solver, tol=0.0, max_iter=max(steps, 1))
    model.fit(X, Y, callback=(lambda progress: False) if steps == 0 else None)
    left = model.objective_ - best
    assert -1e-9 <= left <= model.gap_ + model.error_bound_ + 1e-9
    history = model.history_
    assert ((history["objective"] - best <= history["gap"] + 1e-9) | (route == "low-rank")).all()


def test_the_certificate_is_not_vacuous():
    model = GPSC(Polynomial(2), tol=1e-8).fit(X, Y)
    assert model.converged_
    assert model.stop_reason_ == module.GOAL
    assert 0.0 <= model.gap_ <= 1e-8 * model.objective_
    assert not GPSC(Polynomial(2), tol=1e-8, max_iter=2).fit(X, Y).converged_


@pytest.mark.parametrize("rank", [1, 2, 4, 6])
def test_low_rank_is_the_best_in_a_span_and_says_what_it_may_lose(rank):
    encoded = FeatureTemplate("S3", window=3).encode(X)
    best = GPSC(RBF(2.0), route="gram", tol=1e-12).fit(encoded, Y)
    model = GPSC(RBF(2.0), rank=rank, tol=1e-12).fit(encoded, Y)
    assert model.route_ == "low-rank"
    assert model.rank_ == len(model.expansion_.support) == rank
    assert best.objective_ - 1e-8 <= model.objective_ <= best.objective_ + model.gap_ + model.error_bound_
    # The objective is that of the function itself, with the whole kernel.
    observations = Observations.of(encoded)
    everything = naive.observations(encoded)
    pivots = naive.observations(model.expansion_.support.as_sequences())
    distinct = [everything[int(np.flatnonzero(observations.rows == row)[0])] for row in range(len(observations))]
    cross, between = naive.gram(RBF(2.0), distinct, pivots), naive.gram(RBF(2.0), pivots, pivots)
    np.testing.assert_allclose(
        model.potentials(X)[0].node, (cross @ model.expansion_.beta)[observations.rows[: len(X[0])]]
    )
    norm = np.sum(model.expansion_.beta * (between @ model.expansion_.beta)) + np.sum(model.expansion_.delta**2)
    np.testing.assert_allclose(model.objective_, 0.5 * norm - model.log_prob(X, Y).sum(), rtol=1e-9)


@pytest.mark.parametrize("rank", [2, 6])
def test_what_low_rank_may_lose_of_very_many_observations_is_bounded_by_diagonals(rank, monkeypatch):
    encoded = FeatureTemplate("S3", window=3).encode(X)
    best = GPSC(RBF(2.0), route="gram", l2=30.0, tol=1e-12).fit(encoded, Y)
    exact = GPSC(RBF(2.0), rank=rank, l2=30.0, tol=1e-12).fit(encoded, Y)
    monkeypatch.setattr(module, "EXACT_UP_TO", 10)
    bounded = GPSC(RBF(2.0), rank=rank, l2=30.0, tol=1e-12).fit(encoded, Y)
    assert bounded.objective_ == exact.objective_
    assert bounded.error_bound_ > exact.error_bound_ >= bounded.objective_ - bounded.gap_ - best.objective_ > 0.0
    assert bounded.error_bound_ <= bounded.objective_


def problems(l2: float = 0.6, eta: float = 1.7):
    """One problem a route, over the same data, without constraints and with."""
    encoded, n_labels = encode_attributes(real_valued(1)[:6]), 3
    rng = np.random.default_rng(5)
    labels = rng.integers(n_labels, size=encoded.n_positions)
    observations = Observations.of(encoded)
    gram = Gram(Polynomial(2), observations)
    dense = np.linalg.cholesky(gram.product(np.eye(len(gram))) + 1e-9 * np.eye(len(gram)))
    shared = encoded.offsets, n_labels, eta
    by_features = {"explicit": ExplicitFeatures(Polynomial(2), observations), "low-rank": DenseFeatures(dense)}
    return {
        "gram": GramProblem(KernelScoring(gram, *shared), labels, l2),
        **{
            route: FeatureProblem(FeatureScoring(features, observations.rows, *shared), labels, l2)
            for route, features in by_features.items()
        },
    }


def random_vector(problem, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    vector = problem.scoring.zeros()
    size = getattr(problem.space, "size", vector.size)
    vector[:size] = 0.03 * rng.normal(size=size)
    problem.space.complete(vector)
    return vector


@every_route
def test_gradients_by_finite_differences(route):
    problem = problems()[route]
    point = random_vector(problem, 0)
    _, gradient = problem.evaluate(point)
    for seed in range(1, 6):
        direction = random_vector(problem, seed)
        step = 1e-4
        up, down = (problem.evaluate(point + sign * step * direction)[0] for sign in (1, -1))
        np.testing.assert_allclose(
            problem.space.dot(gradient, direction), (up - down) / (2 * step), rtol=1e-6, atol=1e-7
        )


@every_route
def test_second_derivatives_by_finite_differences(route):
    problem = problems()[route]
    point = random_vector(problem, 0)
    curvature = problem.curvature(point)
    for seed in range(1, 4):
        direction, other = random_vector(problem, seed), random_vector(problem, seed + 10)
        step = 1e-5
        up, down = (problem.evaluate(point + sign * step * direction)[1] for sign in (1, -1))
        product = curvature.product(direction)
        size = getattr(problem.space, "size", len(point))
        np.testing.assert_allclose(product[:size], ((up - down) / (2 * step))[:size], rtol=1e-5, atol=1e-6)
        forth, back = problem.space.dot(product, other), problem.space.dot(curvature.product(other), direction)
        np.testing.assert_allclose(forth, back, rtol=1e-9)  # self-adjoint in the inner product of the space


@pytest.mark.parametrize("largest", [32, 0])
def test_the_preconditioner_inverts_the_blocks_of_cliques(largest, monkeypatch):
    """Pairs of words that have nothing in common: what A does within an observation, and to pairs of labels, is one block."""
    monkeypatch.setattr(map_problem, "LARGEST_BLOCK", largest)
    data = [[["a"], ["b", "c"]], [["b", "c"], ["d"]], [["d"], ["a"]], [["e", "a"], ["b"]]]
    encoded, n_labels = encode_attributes(data), 3
    labels = np.random.default_rng(6).integers(n_labels, size=encoded.n_positions)
    scoring = KernelScoring(Gram(Linear(), Observations.of(encoded)), encoded.offsets, n_labels, 1.7)
    problem = GramProblem(scoring, labels, 0.6)
    curvature, space = problem.curvature(random_vector(problem, 0)), problem.space
    for part, observation in [*((0, row) for row in range(len(scoring.gram))), (1, slice(None))]:
        blocks = []
        for place in np.ndindex(scoring.coefficients(scoring.zeros())[part][observation].shape):
            vector = scoring.zeros()
            scoring.coefficients(vector)[part][observation][place] = 1.0
            space.complete(vector)
            of_both = curvature.product(vector), curvature.precondition(vector)
            blocks.append([scoring.coefficients(one)[part][observation].ravel() for one in of_both])
        second, inverse = np.array(blocks).transpose(1, 0, 2)
        if largest:
            np.testing.assert_allclose(inverse @ second, np.eye(len(second)), atol=1e-9)
        else:  # diagonals; of pairs of labels as if each were by itself
            assert (inverse == np.diag(np.diag(inverse))).all()
            close = {"rtol": 1e-9} if part == 0 else {"rtol": 0.5}
            np.testing.assert_allclose(1.0 / np.diag(inverse), np.diag(second), **close)


def test_the_objective_by_enumeration():
    data, labels = real_valued(2)[:5], Y[:5]
    encoded = encode_attributes(data)
    model = GPSC(Polynomial(2), l2=0.8, eta=1.4, route="gram", max_iter=4, tol=0.0).fit(data, labels)
    flat = np.array([model.classes_.index(label) for y in labels for label in y])
    everything = naive.observations(encoded)
    gram = naive.gram(Polynomial(2), everything, everything)
    observations = Observations.of(encoded)
    assert len(observations) == len(everything)  # no duplicates among real values
    beta, delta = model.expansion_.beta, model.expansion_.delta
    found = gp.objective(gram, np.arange(len(gram)), encoded.offsets, flat, beta, delta, 0.8, 1.4)
    np.testing.assert_allclose(model.objective_, found, rtol=1e-10)


def test_proposition_9_corrected():
    """K = Θᵀ K′ Θ, if pairs of labels couple across sequences and the last position has none; not as printed."""
    labels, kernel, eta = ["A", "B"], Polynomial(2), 0.7
    rng = np.random.default_rng(3)
    data = [[{"a": float(rng.normal()), "b": float(rng.normal())} for _ in range(length)] for length in (3, 1, 2)]
    gram, theta = gp.sequence_gram(data, labels, kernel, eta), gp.theta(data, labels)
    np.testing.assert_allclose(theta.T @ gp.reduced_gram(data, labels, kernel, eta) @ theta, gram, rtol=1e-12)
    printed = gp.reduced_gram(data, labels, kernel, eta, across_sequences=False)
    assert np.abs(theta.T @ printed @ theta - gram).max() > 0.5
    # So β and δ, the sums of α over what they share, give the scores of α itself.
    pairs = gp.pairs_of_data(data, labels)
    alpha = rng.normal(size=len(pairs))
    encoded = encode_attributes(data)
    beta, delta = np.zeros((encoded.n_positions, 2)), np.zeros((2, 2))
    for weight, (i, y) in zip(alpha, pairs):
        codes = [labels.index(label) for label in y]
        for t, code in enumerate(codes):
            beta[encoded.offsets[i] + t, code] += weight
            if t:
                delta[codes[t - 1], code] += weight
    scoring = KernelScoring(Gram(kernel, Observations.of(encoded)), encoded.offsets, 2, eta)
    potentials = scoring.potentials_at(scoring.gram.product(beta), delta)
    for place, (i, y) in enumerate(pairs):
        own = enumeration.score(potentials[i], tuple(labels.index(label) for label in y))
        np.testing.assert_allclose(own, gram[place] @ alpha, rtol=1e-10)


def test_one_product_with_the_gram_matrix_per_iteration():
    model = GPSC(Polynomial(2), route="gram", tol=1e-9).fit(X, Y)
    assert model.n_products_ == model.n_iter_ + 1
    assert model.history_["evaluations"].iloc[-1] >= model.n_products_


def test_the_inner_product_of_functions_takes_fewer_iterations():
    """METHODS 5: 15 iterations against 52 with plain inner products, on a small problem."""
    encoded = FeatureTemplate("S3", window=3).encode(X)
    model = GPSC(Polynomial(2), route="gram", tol=1e-6).fit(encoded, Y)
    observations = Observations.of(encoded)
    labels = np.array([model.classes_.index(label) for y in Y for label in y])
    problem = GramProblem(KernelScoring(Gram(Polynomial(2), observations), encoded.offsets, 3), labels, 1.0)

    def plain(theta: np.ndarray):
        point = np.concatenate([theta, theta])
        problem.space.complete(point)
        value, gradient = problem.evaluate(point)
        problem.space.complete(gradient)
        return value, gradient[problem.space.size :]

    recorder = Recorder(None)
    minimise(
        plain, np.zeros(problem.space.size), max_iter=500, tol=0.0, recorder=recorder,
        measure=lambda value, norm, theta: float(value > model.objective_ * (1 + 1e-9)),
    )  # fmt: skip
    assert model.n_iter_ < len(recorder.rows) / 2


@every_route
def test_constraints(route):
    data = [["a", "b", "c"], ["b", "c"], ["c"], ["a", "b"]]
    labels = [["B-X", "I-X", "O"], ["B-X", "I-X"], ["O"], ["O", "B-X"]]
    model = GPSC(Polynomial(2), l2=0.5, constraints="bio", route=route, tol=TIGHT).fit(data, labels)
    crf = CRF(l2=0.5, constraints="bio", tol=1e-9).fit(data, labels)
    linear = GPSC(Linear(), l2=0.5, constraints="bio", route=route, tol=TIGHT).fit(data, labels)
    np.testing.assert_allclose(linear.objective_, crf.objective_, **SAME)
    forbidden = bio_constraints(model.classes_)
    for potentials in model.potentials([["c", "b", "a"]]):
        assert (potentials.edge[forbidden.edge] == -np.inf).all()
        assert (potentials.start[forbidden.start] == -np.inf).all()
    with pytest.raises(LabSeqError, match="sequence 0 use a forbidden transition"):
        GPSC(constraints="bio", route=route).fit([["a"], ["b", "c"]], [["I-X"], ["B-X", "O"]])


@every_route
@every_solver
def test_saving(tmp_path, route, solver):
    model = GPSC(Polynomial(2), route=route, solver=solver, eta=2.0).fit(FeatureTemplate("S3").encode(X), Y)
    model.save(tmp_path / "m.npz")
    loaded = load_model(tmp_path / "m.npz")
    for name in model.facts:
        assert getattr(loaded, name) == getattr(model, name)
    for a, b in zip(model.potentials([*X, ["new"]]), loaded.potentials([*X, ["new"]])):
        np.testing.assert_array_equal(a.node, b.node)
        np.testing.assert_array_equal(a.edge, b.edge)
    assert loaded.n_parameters_ == model.n_parameters_


def test_development_data_are_followed():
    model = GPSC(Polynomial(2), tol=1e-8, route="gram").fit(X[:20], Y[:20], dev=(X[20:], Y[20:]))
    seen = model.history_["dev_accuracy"].dropna()
    assert len(seen) >= 2
    assert seen.iloc[-1] == model.score(X[20:], Y[20:])


def test_float32_values_are_near(monkeypatch):
    encoded = FeatureTemplate("S3", window=3).encode(X)
    whole = GPSC(Polynomial(2), route="gram", tol=TIGHT).fit(encoded, Y)
    monkeypatch.setattr(module, "Gram", lambda kernel, observations, memory: single_precision(kernel, observations))
    single = GPSC(Polynomial(2), route="gram", tol=TIGHT).fit(encoded, Y)
    assert single.converged_
    assert single.n_products_ <= whole.n_products_ + 3
    np.testing.assert_allclose(
        single.objective_, whole.objective_, rtol=1e-6
    )  # of float32, and kernel values are whole
    # The function and its scores have not drifted apart: the objective is that of the coefficients.
    beta, delta = single.expansion_.beta, single.expansion_.delta
    norm = np.sum(beta * Gram(Polynomial(2), single.expansion_.support).product(beta)) + np.sum(delta**2)
    np.testing.assert_allclose(single.objective_, 0.5 * norm - single.log_prob(X, Y).sum(), rtol=1e-7)


def single_precision(kernel, observations) -> Gram:
    gram = Gram(kernel, observations)
    gram.dtype = np.dtype(np.float32)
    gram._stored = gram._stored.astype(np.float32)
    return gram


def test_the_route_is_chosen_by_cost_and_memory():
    rng = np.random.default_rng(0)
    words = rng.integers(500, size=(100, 20)).astype(str).tolist()
    few, labels = FeatureTemplate("S1", window=3).encode(words), [["A", "B"] * 10] * 100
    quick = {"max_iter": 1}
    assert GPSC(Polynomial(2), **quick).fit(few, labels).route_ == "explicit"
    assert GPSC(RBF(1.0), **quick).fit(few, labels).route_ == "gram"
    assert GPSC(RBF(1.0), memory=0.01, **quick).fit(few, labels).route_ == "low-rank"
    many = [[[f"a{a}" for a in np.flatnonzero(rng.random(150) < 0.5)] for _ in range(10)] for _ in range(10)]
    assert GPSC(Polynomial(2), **quick).fit(many, [["A", "B"] * 5] * 10).route_ == "gram"


@pytest.mark.parametrize("learner", [GPSC, SparseGPSC])
def test_features_that_do_not_fit_are_refused(learner):
    encoded = FeatureTemplate("S3", window=5).encode(X)
    with pytest.raises(LabSeqError, match=r"memory is 0.001 GiB, but \d+ explicit features need about .* route='gram'"):
        learner(Polynomial(2), route="explicit", memory=0.001).fit(encoded, Y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rank": 3, "route": "gram"}, "rank is 3, but route is 'gram'; use route='low-rank'"),
        ({"rank": 0}, "rank is 0; allowed: a whole number from 1 to 1e[+]06, or none"),
        ({"l2": 0.0}, "l2 is 0.0; allowed: a number from 1e-06"),
        ({"solver": "sgd"}, "solver is 'sgd'; allowed: lbfgs, newton"),
        ({"route": "fast"}, "route is 'fast'; allowed: auto, gram, explicit, low-rank"),
        ({"kernel": RBF(1.0), "route": "explicit"}, r"RBF\(width=1.0\) has no explicit features for these data"),
        ({"kernel": RBF(1.0), "rank": 100_000, "memory": 0.001}, None),
    ],
)
def test_bad_options(options, message):
    if message is None:  # more columns than there are observations are not asked for
        assert GPSC(**options).fit(X, Y).rank_ <= sum(map(len, X))
        return
    with pytest.raises(LabSeqError, match=message):
        GPSC(**options).fit(X, Y)


@few
@given(
    st.lists(st.lists(st.sampled_from(["a", "b", "a b", ""]), min_size=1, max_size=4), min_size=1, max_size=5),
    st.randoms(use_true_random=False), st.sampled_from(ROUTES), st.sampled_from(["lbfgs", "newton"]),
)  # fmt: skip
def test_odd_corpora_have_a_certified_minimum(words, random, route, solver):
    """One label, length 1, observations without attributes, the same observation with several labels."""
    data = [[word.split() for word in x] for x in words]
    labels = [[random.choice("AB") for _ in x] for x in words]
    model = GPSC(Polynomial(2), route=route, solver=solver, tol=1e-6).fit(data, labels)
    assert model.converged_
    assert np.isfinite(model.objective_)
    assert (model.log_prob(data, labels) <= 1e-12).all()
