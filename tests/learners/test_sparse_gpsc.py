"""Sparse GPSC against the dense one, against derivatives by differences, and against labellings listed one by one."""

import itertools

import numpy as np
import pytest

from labseq_core import GPSC, RBF, FeatureTemplate, LabSeqError, Linear, Polynomial, SparseGPSC, load_model
from labseq_core.chain.constraints import bio_constraints
from labseq_core.features import encode_attributes
from labseq_core.kernels import Gram, Observations
from labseq_core.learners import sparse_gpsc as learner
from labseq_core.progress import Recorder
from labseq_core.scoring import kernel_features
from labseq_core.scoring.kernel_training import KernelScoring
from labseq_core.solvers.gaussian import greedy_basis
from labseq_core.solvers.gaussian.basis_selection import NO_PAIR, ObservationBasis, SequenceBasis
from labseq_core.solvers.gaussian.greedy_basis import Expansion, Stopping
from tests.reference import toy

X, Y = toy.corpus(seed=80, n_sequences=30)
ENCODED = FeatureTemplate("S3", window=3).encode(X)
ALL = 10**6  # more coordinates than there are
SAME = {"rtol": 1e-5}  # of objectives: all coefficients are fitted to a gradient of 1e-4
every_basis = pytest.mark.parametrize("basis", ["observation", "sequence"])
every_select = pytest.mark.parametrize("select", ["random", "sample", "best"])
every_refit = pytest.mark.parametrize("refit", ["last", "all", "growth"])


def expansion(constraints=None, seed: int = 0, steps: int = 3) -> tuple[Expansion, np.ndarray]:
    """A few fitted coordinates over a handful of sequences with a repeated observation."""
    data = [[["a"], ["b"], ["a", "b"]], [["a"]], [["c", "a"], ["b"]], [["b"], ["c"], ["c"], []]]
    encoded = encode_attributes(data)
    rng = np.random.default_rng(seed)
    labels = rng.integers(2, size=encoded.n_positions)
    observations = Observations.of(encoded)
    scoring = KernelScoring(Gram(Polynomial(2), observations), encoded.offsets, 3, 0.7, constraints)
    made = Expansion(scoring, labels, 0.4)
    basis = ObservationBasis(made)
    for sequence in range(steps):
        chosen, _ = basis.choose([sequence], 2, only_new=False)
        made.fit(chosen.values(), Stopping(1e-6, 50), Recorder())
    return made, labels


def slope_by_differences(made: Expansion, path) -> float:
    """(R(f + h u) - R(f - h u)) / 2h along one coordinate u, straight from the coefficients."""
    rows, labels, pairs = path
    step, values = 1e-5, []
    for sign in (1, -1):
        other = Expansion(made.scoring, made.labels, made.l2)
        other.beta, other.delta = made.beta.copy(), made.delta.copy()
        np.add.at(other.beta, (rows, labels), sign * step)
        for r, s in pairs:
            other.delta[r, s] += sign * step
        other.scores = made.scoring.gram.product(other.beta)
        other.squared_norm = float(np.sum(other.beta * other.scores) + made.scoring.eta * np.sum(other.delta**2))
        other.differentiate()
        values.append(other.objective)
    return (values[0] - values[1]) / (2 * step)


def test_what_is_kept_while_it_grows_is_what_the_coefficients_give():
    made, _ = expansion()
    assert made.beta.any()
    assert made.delta.any()
    scores = made.scoring.gram.product(made.beta)
    np.testing.assert_allclose(made.scores, scores, atol=1e-12)
    norm = np.sum(made.beta * scores) + made.scoring.eta * np.sum(made.delta**2)
    np.testing.assert_allclose(made.squared_norm, norm, rtol=1e-10)


def test_the_steepest_labels_of_observations():
    """Against the slope of every coordinate of a sequence by differences."""
    made, _ = expansion()
    basis = ObservationBasis(made)
    offsets, rows = made.scoring.offsets, made.scoring.rows
    for sequence in range(len(offsets) - 1):
        begin, end = offsets[sequence], offsets[sequence + 1]
        slopes = {}
        for t in range(begin, end):
            for s in range(3):
                for u in range(3) if t + 1 < end else [NO_PAIR]:
                    pairs = [] if u == NO_PAIR else [(s, u)]
                    slopes[int(rows[t]), s, u] = slope_by_differences(made, ([rows[t]], [s], pairs))
        best = {}  # of each observation and label
        for (row, s, u), slope in slopes.items():
            kind = u == NO_PAIR
            best[row, s, kind] = max(best.get((row, s, kind), 0.0), abs(slope))
        keys, steepest = basis.choose([sequence], 4, only_new=False)
        found = [abs(slopes[key]) for key in keys]
        np.testing.assert_allclose(found, sorted(best.values(), reverse=True)[: len(keys)], rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(steepest, found[0], rtol=1e-5, atol=1e-7)
        assert len(keys) == min(4, len(best))


def test_what_is_there_is_not_chosen_again_where_all_are_refitted():
    made, _ = expansion()
    basis = ObservationBasis(made)
    everything = set()
    for _ in range(60):
        for sequence in range(4):
            keys, _ = basis.choose([sequence], 5, only_new=True)
            assert not basis.seen & set(keys)
            basis.seen.update(keys)
            everything.update(keys)
    assert len(everything) == basis.n_coordinates() == basis.pairs_seen


def test_the_steepest_labellings_of_sequences():
    made, _ = expansion()
    basis = SequenceBasis(made)
    offsets, rows = made.scoring.offsets, made.scoring.rows
    largest = []
    for sequence in range(len(offsets) - 1):
        own = rows[offsets[sequence] : offsets[sequence + 1]]
        slopes = {
            (sequence, *y): slope_by_differences(made, (own, list(y), list(itertools.pairwise(y))))
            for y in itertools.product(range(3), repeat=len(own))
        }
        keys, steepest = basis.choose([sequence], 3, only_new=False)
        expected = sorted(map(abs, slopes.values()), reverse=True)
        np.testing.assert_allclose([abs(slopes[key]) for key in keys], expected[: len(keys)], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(steepest, expected[0], rtol=1e-5, atol=1e-6)
        largest.append(expected[0])
    assert basis.steepest_sequence() == int(np.argmax(largest))


def test_the_steepest_sequence_of_observations():
    made, _ = expansion()
    basis = ObservationBasis(made)
    slopes = [basis.choose([sequence], 1, only_new=False)[1] for sequence in range(4)]
    assert basis.steepest_sequence() == int(np.argmax(slopes))


@pytest.mark.parametrize(("count", "largest"), [(3, 6000), (70, 6000), (70, 0)])
def test_the_fit_of_chosen_coordinates_is_a_minimum(monkeypatch, count, largest):
    """In each of the three kinds of variables."""
    monkeypatch.setattr(greedy_basis, "LARGEST_BLOCK", largest)
    made, _ = expansion(steps=0)
    basis = ObservationBasis(made)
    chosen = {}
    while len(chosen) < min(count, basis.n_coordinates()):
        for sequence in range(4):
            more, _ = basis.choose([sequence], min(3, count), only_new=True)
            basis.seen.update(more)
            chosen |= more
    made.fit(chosen.values(), Stopping(1e-9, 500), Recorder())
    for path in list(chosen.values())[::5]:
        assert abs(slope_by_differences(made, path)) < 1e-5


def test_second_derivatives_of_chosen_coordinates():
    """Where no pairs of labels matter they are exact: against differences of slopes."""
    made, _ = expansion(steps=0)
    made.beta = 0.1 * np.random.default_rng(4).normal(size=made.beta.shape)
    made.scores = made.scoring.gram.product(made.beta)
    made.squared_norm = float(np.sum(made.beta * made.scores))
    made.differentiate()
    none = np.empty((0, 2), dtype=int)
    paths = [
        (np.array(rows), np.array(labels), none) for rows, labels in (([0], [1]), ([0], [2]), ([1, 2, 1], [1, 0, 1]))
    ]
    found = greedy_basis._Subspace(made, greedy_basis.Coordinates.of_paths(paths))._second_derivatives()
    step, expected = 1e-4, np.zeros((3, 3))
    for a, (rows, labels, _) in enumerate(paths):
        for sign in (1, -1):
            other = Expansion(made.scoring, made.labels, made.l2)
            other.beta = made.beta.copy()
            np.add.at(other.beta, (rows, labels), sign * step)
            other.scores = made.scoring.gram.product(other.beta)
            other.differentiate()
            slopes = other.node_slopes(np.arange(len(other.beta)))
            expected[a] += [sign * slopes[own, of].sum() / (2 * step) for own, of, _ in paths]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize(("largest", "are_made"), [(30, False), (1000, True)])
def test_long_labellings_do_not_ask_for_more_kernel_values_than_a_block_has(monkeypatch, largest, are_made):
    """The matrix between a dozen coordinates is small, that between all their observations is not."""
    asked, between = [], Gram.between
    monkeypatch.setattr(Gram, "between", lambda gram, ids, others: asked.append(len(ids)) or between(gram, ids, others))
    monkeypatch.setattr(greedy_basis, "LARGEST_METRIC", 11)
    monkeypatch.setattr(greedy_basis, "LARGEST_BLOCK", largest)
    data, labels = [[f"{word}" for word in range(i, i + 20)] for i in range(6)], [["A", "B"] * 10] * 6
    SparseGPSC(Polynomial(2), coordinates=12, per_step=3, basis="sequence", route="gram").fit(data, labels)
    assert max(asked, default=0) <= largest
    assert (max(asked, default=0) > 30) == are_made


@every_select
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), RBF(2.0)], ids=str)
def test_all_coordinates_fitted_together_are_the_dense_ones(kernel, select):
    options = {"l2": 0.5, "eta": 1.5}
    dense = GPSC(kernel, tol=1e-10, **options).fit(ENCODED, Y)
    sparse = SparseGPSC(kernel, coordinates=ALL, per_step=50, select=select, refit="all", tol=1e-4, **options).fit(
        ENCODED, Y
    )
    np.testing.assert_allclose(sparse.objective_, dense.objective_, **SAME)
    for a, b in zip(sparse.marginals(X), dense.marginals(X)):
        np.testing.assert_allclose(a, b, atol=0.01)


@every_basis
@every_select
@every_refit
def test_the_path_leads_down_and_says_what_there_is(basis, select, refit):
    model = SparseGPSC(
        Polynomial(2), fraction=0.6, per_step=3, basis=basis, select=select, refit=refit, seed=3
    ).fit(ENCODED, Y, dev=(X[:10], Y[:10]))  # fmt: skip
    path = model.path_
    assert list(path.columns) == [
        "coordinates", "fraction", "objective", "train_accuracy", "dev_accuracy", "observations", "pairs_per_observation",
        "seconds",
    ]  # fmt: skip
    assert (np.diff(path["objective"]) <= 1e-9).all()
    assert (np.diff(path["coordinates"]) >= 0).all()
    np.testing.assert_allclose(path["fraction"], path["coordinates"] / ENCODED.n_positions)
    last = path.iloc[-1]
    assert last["coordinates"] == model.n_coordinates_ == round(0.6 * ENCODED.n_positions)
    assert last["objective"] == model.objective_
    assert last["train_accuracy"] == model.score(X, Y)
    assert last["dev_accuracy"] == model.score(X[:10], Y[:10])
    assert 0.0 < last["observations"] <= 1.0
    best = GPSC(Polynomial(2), tol=1e-8).fit(ENCODED, Y).objective_
    assert best - 1e-6 <= model.objective_ <= best + model.gap_ + 1e-6


def test_the_route_depends_on_how_many_coordinates_there_will_be():
    """Few rows of kernel values are sooner gone through than many features, which the dense model would take."""
    rng = np.random.default_rng(1)
    data = [[[f"a{a}" for a in rng.choice(60, size=12)] for _ in range(10)] for _ in range(100)]
    labels = [["A", "B"] * 5] * 100
    assert GPSC(Polynomial(2), max_iter=1).fit(data, labels).route_ == "explicit"
    few, many = (SparseGPSC(Polynomial(2), coordinates=n, max_iter=1).fit(data, labels).route_ for n in (5, 1000))
    assert (few, many) == ("gram", "explicit")


@every_basis
def test_routes_take_the_same_way(basis, monkeypatch):
    monkeypatch.setattr(kernel_features, "FEW_ROWS", 2)
    options = {"fraction": 0.5, "per_step": 3, "basis": basis, "l2": 0.5}
    gram, explicit = (
        SparseGPSC(Polynomial(2), route=route, **options).fit(ENCODED, Y) for route in ("gram", "explicit")
    )
    assert (gram.route_, explicit.route_) == ("gram", "explicit")
    np.testing.assert_allclose(gram.path_["objective"], explicit.path_["objective"], rtol=1e-6)
    for a, b in zip(gram.marginals(X), explicit.marginals(X)):
        np.testing.assert_allclose(a, b, atol=1e-4)


def test_fitting_all_again_as_it_grows_is_better_than_never():
    last, growth, every = (
        SparseGPSC(Polynomial(2), fraction=0.4, per_step=2, select="random", refit=refit).fit(ENCODED, Y).objective_
        for refit in ("last", "growth", "all")
    )
    assert growth < last
    assert every < last


def test_all_are_fitted_again_whenever_there_are_many_more(monkeypatch):
    fits, fit = [], Expansion.fit
    monkeypatch.setattr(
        Expansion, "fit", lambda made, paths, how, told: fits.append((how, len(paths))) or fit(made, paths, how, told)
    )
    model = SparseGPSC(Polynomial(2), coordinates=40, per_step=2, refit="growth").fit(ENCODED, Y)
    again = [count for how, count in fits if how == greedy_basis.ROUGH]
    assert again[0] == 2
    for before, after in itertools.pairwise(again):
        assert learner.GROWTH * before <= after < learner.GROWTH * before + 2
    assert learner.GROWTH * again[-1] > model.n_coordinates_ - 2
    assert fits[-1] == (greedy_basis.WELL, 40)
    assert sum(how == greedy_basis.WELL for how, _ in fits) == 1


def test_it_is_sparse_and_predicts_from_what_was_taken_alone():
    model = SparseGPSC(RBF(2.0), coordinates=6, per_step=2).fit(ENCODED, Y)
    assert model.n_coordinates_ == 6
    assert len(model.expansion_.support) == model.n_support_ <= 6 < model.n_observations_
    assert model.n_parameters_ <= 12
    more = SparseGPSC(RBF(2.0), coordinates=40, per_step=2).fit(ENCODED, Y)
    assert more.objective_ < model.objective_


def test_the_certificate_is_left_out_where_it_would_take_long(monkeypatch):
    options = {"coordinates": 40, "per_step": 2, "l2": 30.0}
    known = SparseGPSC(RBF(2.0), **options).fit(ENCODED, Y)
    assert known.gap_ < known.objective_
    monkeypatch.setattr(learner, "EXACT_UP_TO", 10)
    unknown = SparseGPSC(RBF(2.0), **options).fit(ENCODED, Y)
    assert unknown.gap_ == unknown.objective_ == known.objective_


def test_seeds():
    one, same, other = (SparseGPSC(fraction=0.1, seed=seed).fit(ENCODED, Y) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.expansion_.beta, same.expansion_.beta)
    assert one.objective_ != other.objective_


@every_basis
def test_constraints(basis):
    data = [["a", "b", "c"], ["b", "c"], ["c"], ["a", "b"]]
    labels = [["B-X", "I-X", "O"], ["B-X", "I-X"], ["O"], ["O", "B-X"]]
    options = {"constraints": "bio", "basis": basis, "refit": "all"}
    model = SparseGPSC(Polynomial(2), coordinates=ALL, **options).fit(data, labels)
    forbidden = bio_constraints(model.classes_)
    assert not model.expansion_.delta[forbidden.edge].any()
    assert (model.potentials(data)[0].edge[forbidden.edge] == -np.inf).all()
    dense = GPSC(Polynomial(2), constraints="bio").fit(data, labels)
    assert model.score(data, labels) == dense.score(data, labels)
    with pytest.raises(LabSeqError, match="sequence 0 use a forbidden transition"):
        SparseGPSC(constraints="bio", basis=basis).fit([["a"], ["b", "c"]], [["I-X"], ["B-X", "O"]])


def test_it_stops_where_slopes_are_small():
    model = SparseGPSC(Polynomial(2), fraction=50.0, tol=0.9).fit(X, Y)
    assert model.stop_reason_ == "no slope is large enough"
    short = SparseGPSC(Polynomial(2), fraction=50.0, max_iter=2).fit(X, Y)
    assert short.stop_reason_ == "the step limit was reached"
    assert short.n_iter_ == 2


@every_basis
def test_saving(basis, tmp_path):
    model = SparseGPSC(Polynomial(2), basis=basis, eta=2.0).fit(ENCODED, Y)
    model.save(tmp_path / "m.npz")
    loaded = load_model(tmp_path / "m.npz")
    assert loaded.path_.equals(model.path_)
    for name in model.facts:
        assert getattr(loaded, name) == getattr(model, name)


def test_the_callback_can_stop_it_on_the_way():
    calls = []
    model = SparseGPSC(fraction=2.0, per_step=2).fit(
        X, Y, callback=lambda progress: len(calls.append(progress) or calls) < 9
    )
    assert len(calls) == 9
    assert model.stop_reason_ == "stopped by the callback"
    assert 0 < model.n_coordinates_ < 2 * sum(map(len, X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fraction": 0.0}, "fraction is 0.0"),
        ({"coordinates": 0}, "coordinates is 0; allowed: a whole number from 1 to 1e[+]09, or none"),
        ({"select": "all"}, "select is 'all'; allowed: random, sample, best"),
        ({"basis": "token"}, "basis is 'token'; allowed: observation, sequence"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(LabSeqError, match=message):
        SparseGPSC(**options).fit(X, Y)
