"""What every method of the registry must do, whatever it is."""

import inspect
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from labseq_core import GPSC, FeatureTemplate, LabSeqError, SparseGPSC
from labseq_core.data.sequences import Sequences
from labseq_core.kernels import Linear, Polynomial
from labseq_core.learners import CRF, METHODS, find_method, make_learner, method_options
from tests.reference import toy

X, Y = toy.corpus(seed=30, n_sequences=24)
every_method = pytest.mark.parametrize("method", METHODS)
every_probabilistic_method = pytest.mark.parametrize("method", [id for id, one in METHODS.items() if one.probabilistic])
every_learner = pytest.mark.parametrize("learner", sorted({one.learner for one in METHODS.values()}, key=repr))
# One id of each learner: what the other ids fix is the value of an option.
one_of_each_learner = pytest.mark.parametrize(
    "method", {one.learner: method for method, one in reversed(list(METHODS.items()))}.values()
)
# A grid of two values for one option of each method.
GRIDS = {
    "maxent": {"l2": [0.1, 10.0]},
    "naive-bayes": {"smoothing": [0.1, 1.0]}, "hmm": {"smoothing": [0.1, 1.0]}, "crf": {"l2": [0.1, 10.0]},
    "crf-marginal": {"l2": [0.01, 0.1]}, "crf-marginal-exp": {"l2": [0.1, 10.0]}, "exp": {"length_decay": [0.3, 0.6]},
    "perceptron": {"epochs": np.array([1, 3])}, "dual-perceptron": {"kernel": [Linear(), Polynomial(2)]},
    "gps": {"l2": [0.1, 10.0]}, "gps-newton": {"eta": [0.5, 2.0]},
    "sgps": {"fraction": [0.1, 1.0]}, "sgps-sequence": {"fraction": [1.0, 5.0]},
    "boost": {"bound": ["loose", "tight"]}, "logitboost": {"rounds": [5, 50]},
    "adaboost-mr": {"smoothing": [1e-3, 1e-2]}, "viterbi-boost": {"rounds": [5, 50]},
    "hmsvm": {"C": [0.1, 10.0]},
}  # fmt: skip


def fitted(method: str):
    return make_learner(method).fit(X, Y)


@cache
def known(method: str):
    """A model that is only asked, never fitted again."""
    return fitted(method)


def assert_same_potentials(one, other, data=X) -> None:
    for a, b in zip(one.potentials(data), other.potentials(data), strict=True):
        for name in ("start", "node", "edge", "stop"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


@every_learner
def test_constructor_and_option_specs_agree(learner):
    parameters = dict(inspect.signature(learner.__init__).parameters)
    parameters.pop("self")
    assert list(parameters) == [spec.name for spec in learner.options]
    for spec in learner.options:
        assert parameters[spec.name].default == spec.default
        assert type(parameters[spec.name].default) is type(spec.default)
        spec.check(spec.default)
        assert spec.help


@every_method
def test_an_id_says_what_it_is(method):
    entry = METHODS[method]
    assert entry.id == method
    assert entry.title
    assert entry.summary
    assert entry.where
    assert len({one.title for one in METHODS.values()}) == len(METHODS)
    assert len({one.summary for one in METHODS.values()}) == len(METHODS)
    # What the id fixes cannot be chosen too, and both together are options of the learner.
    known = {spec.name for spec in entry.learner.options}
    assert not entry.preset.keys() & method_options(method).keys()
    assert entry.preset.keys() | method_options(method).keys() <= known


def test_each_loss_of_the_crf_has_an_id_with_the_options_that_it_uses():
    shared = {"l2", "l1", "constraints", "max_iter", "tol", "start_stop"}
    for method, loss, own in [
        ("crf", "log", set()),
        ("exp", "exp", {"length_decay"}),
        ("crf-marginal", "marginal", {"restarts", "seed"}),
        ("crf-marginal-exp", "marginal-exp", {"restarts", "seed"}),
    ]:
        made = make_learner(method, l2=0.5)
        assert type(made) is CRF
        assert made.get_params() == CRF(loss=loss, l2=0.5).get_params()
        assert method_options(method).keys() == shared | own
        with pytest.raises(LabSeqError, match=f"method {method} has no option 'loss'; it has l2"):
            make_learner(method, loss=loss)


@pytest.mark.parametrize(
    ("method", "learner", "fixed", "value"),
    [
        ("gps", GPSC, "solver", "lbfgs"),
        ("gps-newton", GPSC, "solver", "newton"),
        ("sgps", SparseGPSC, "basis", "observation"),
        ("sgps-sequence", SparseGPSC, "basis", "sequence"),
    ],
)
def test_each_kind_of_gp_has_an_id(method, learner, fixed, value):
    made = make_learner(method, l2=0.5)
    assert type(made) is learner
    assert made.get_params() == learner(l2=0.5, **{fixed: value}).get_params()
    with pytest.raises(LabSeqError, match=f"method {method} has no option '{fixed}'; it has kernel"):
        make_learner(method, **{fixed: value})


@every_method
def test_parameters_follow_scikit_learn(method):
    learner = make_learner(method)
    params = learner.get_params()
    entry = METHODS[method]
    assert params == {spec.name: spec.default for spec in entry.learner.options} | dict(entry.preset)
    name, value = next((name, grid[-1]) for name, grid in GRIDS[method].items())
    assert learner.set_params(**{name: value}) is learner
    assert learner.get_params()[name] == value
    copy = clone(learner.fit(X, Y))
    assert type(copy) is type(learner)
    assert copy.get_params() == learner.get_params()
    assert not hasattr(copy, "classes_")
    assert f"{name}={value!r}" in repr(copy)
    with pytest.raises(LabSeqError, match="has no option 'nonsense'; it has"):
        learner.set_params(nonsense=1)
    with pytest.raises(LabSeqError, match=f"method {method} has no option 'nonsense'"):
        make_learner(method, nonsense=1)


@one_of_each_learner
def test_grid_search_works_on_lists(method):
    search = GridSearchCV(make_learner(method), GRIDS[method], cv=KFold(3), error_score="raise").fit(X, Y)
    assert set(search.best_params_) == set(GRIDS[method])
    assert search.best_estimator_.predict(X) == search.predict(X)
    assert search.best_score_ > 0.4
    scores = cross_val_score(make_learner(method), X, Y, cv=KFold(3), error_score="raise")
    by_hand = []
    for train, test in KFold(3).split(X):
        model = make_learner(method).fit([X[i] for i in train], [Y[i] for i in train])
        by_hand.append(model.score([X[i] for i in test], [Y[i] for i in test]))
    np.testing.assert_array_equal(scores, by_hand)


@every_method
def test_fit_gives_itself_and_changes_no_hyper_parameter(method):
    learner = make_learner(method)
    before, stored = learner.get_params(), set(vars(learner))
    assert learner.fit(X, Y) is learner
    assert learner.get_params() == before
    new = set(vars(learner)) - stored
    assert all(name.endswith("_") or name.startswith("_") for name in new), new


@every_method
def test_same_call_same_bits(method):
    assert_same_potentials(fitted(method), known(method))
    learner = make_learner(method)
    learner.fit([["other", "data"]], [["Q", "R"]])
    assert_same_potentials(learner.fit(X, Y), known(method))  # nothing is left of an earlier fit


@every_method
def test_predictions_have_the_shape_of_the_data(method):
    model = known(method)
    assert model.classes_ == sorted({label for y in Y for label in y})
    predicted = model.predict(X)
    assert [len(labels) for labels in predicted] == [len(x) for x in X]
    assert {label for labels in predicted for label in labels} <= set(model.classes_)
    right = sum(a == b for one, other in zip(predicted, Y) for a, b in zip(one, other))
    assert model.score(X, Y) == right / sum(map(len, Y))
    assert model.score(X, Y) > 0.5
    for x, potentials in zip(X, model.potentials(X)):
        assert potentials.node.shape == (len(x), len(model.classes_))


@every_method
def test_k_best_starts_with_the_prediction(method):
    model = known(method)
    for labels, found in zip(model.predict(X, "viterbi"), model.k_best(X, 4), strict=True):
        assert found[0][0] == labels
        scores = [score for _, score in found]
        assert scores == sorted(scores, reverse=True)
        assert len(found) == min(4, len(model.classes_) ** len(labels))
    with pytest.raises(LabSeqError, match="k is 0"):
        model.k_best(X, 0)


@every_method
def test_score_gaps_are_differences_of_whole_labellings(method):
    """Between the best labelling and the best with another label at the token, which stands among the k best."""
    model = known(method)
    short = [x[:3] for x in X[:6]]
    assert model.score_gaps([]) == []
    for labels, gaps, found in zip(
        model.predict(short, "viterbi"), model.score_gaps(short), model.k_best(short, 10_000), strict=True
    ):
        for t, gap in enumerate(gaps):
            other = max(score for given, score in found if given[t] != labels[t])
            np.testing.assert_allclose(gap, found[0][1] - other, rtol=1e-9, atol=1e-9)


@every_probabilistic_method
def test_probabilities(method):
    model = known(method)
    for x, rows in zip(X, model.marginals(X), strict=True):
        assert rows.shape == (len(x), len(model.classes_))
        np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=1e-12)
        assert (rows >= 0).all()
    posterior = [[model.classes_[s] for s in rows.argmax(axis=1)] for rows in model.marginals(X)]
    assert model.predict(X, decode="posterior") == posterior
    # Score differences between labellings are log odds, and no labelling beats the best one.
    for x, found, log_prob in zip(X, model.k_best(X, 2), model.log_prob(X, model.predict(X, "viterbi")), strict=True):
        best, *others = [float(model.log_prob([x], [labels])[0]) for labels, _ in found]
        np.testing.assert_allclose(best, log_prob, rtol=1e-12, atol=1e-12)  # alone and in a batch
        for other, (_, score) in zip(others, found[1:]):
            np.testing.assert_allclose(best - other, found[0][1] - score, rtol=1e-9, atol=1e-9)
            assert other <= best
    assert (model.log_prob(X, Y) < 0).all()


@pytest.mark.parametrize("method", [id for id, one in METHODS.items() if not one.probabilistic])
def test_methods_without_probabilities_say_so(method):
    model = known(method)
    for ask in (
        lambda: model.marginals(X), lambda: model.predict_marginals(X), lambda: model.log_prob(X, Y),
        lambda: model.predict(X, decode="posterior"),
    ):  # fmt: skip
        with pytest.raises(LabSeqError, match="gives scores, not probabilities"):
            ask()


@every_method
def test_the_callback_is_told_and_can_stop(method):
    heard = []
    model = make_learner(method).fit(X, Y, callback=heard.append)
    assert heard
    assert all(0.0 <= progress.fraction <= 1.0 for progress in heard)
    fractions = [progress.fraction for progress in heard]
    assert fractions == sorted(fractions)
    assert all(np.isfinite(progress.objective) for progress in heard)
    assert_same_potentials(model, known(method))  # being watched changes nothing

    calls = []
    stopped = make_learner(method).fit(X, Y, callback=lambda progress: calls.append(progress) or False)
    assert len(calls) == 1  # whoever said stop is not asked again
    assert [len(labels) for labels in stopped.predict(X)] == [len(x) for x in X]
    assert 0.0 <= stopped.score(X, Y) <= 1.0
    assert len(stopped.history_) >= 1


@every_method
def test_history(method):
    history = known(method).history_
    assert {"iteration", "objective", "seconds"} <= set(history.columns)
    assert history["iteration"].is_monotonic_increasing
    assert (history["seconds"] >= 0).all()


@every_method
def test_the_template_travels_with_the_model(method):
    data = Sequences.from_lists(X, Y)
    template = FeatureTemplate("S3", window=5)
    encoded = template.encode(data)
    model = make_learner(method).fit(encoded, Y)
    expected = model.predict(encoded)
    assert model.predict(data) == model.predict(X) == expected
    assert model.predict([tuple(x) for x in X]) == expected
    assert model.predict(FeatureTemplate("S3", window=5).encode(X)) == expected
    assert model.predict(encoded.attributes()) == expected
    assert model.score(data) == model.score(X, Y) == model.score(encoded, Y)
    unseen = model.predict([["palabra", "Nueva."], ["uno"]])
    assert [len(labels) for labels in unseen] == [2, 1]


@every_method
def test_sequences_carry_their_labels(method):
    data = Sequences.from_lists(X, Y)
    model = make_learner(method).fit(data)
    assert_same_potentials(model, known(method))  # without a template the word is the attribute, as for word lists
    assert model.score(data) == model.score(X, Y)
    other = [list(reversed(y)) for y in Y]
    assert_same_potentials(make_learner(method).fit(data, other), make_learner(method).fit(X, other))
    with pytest.raises(LabSeqError, match="these sequences have no labels"):
        make_learner(method).fit(Sequences.from_lists(X))


@every_method
def test_columns_travel_too(method):
    lengths = [[float(len(word)) for word in x] for x in X]
    data = Sequences.from_lists(X, Y, {"length": lengths, "kind": [[word[:1] for word in x] for x in X]})
    template = FeatureTemplate("S1", columns=["length", "kind"], bins=3)
    model = make_learner(method).fit(template.encode(data), Y)
    part = data.select([3, 1])
    assert model.predict(part) == [model.predict(data)[3], model.predict(data)[1]]
    with pytest.raises(LabSeqError, match="the data have no column 'length'"):
        model.predict(X)


@every_method
def test_empty_and_strange_input(method):
    model = known(method)
    assert model.predict([]) == []
    assert model.potentials([]) == []
    assert model.k_best([], 2) == []
    for call, message in [
        (lambda: make_learner(method).fit([], []), "X is empty"),
        (lambda: model.score([], []), "X is empty; there is nothing to score"),
        (lambda: model.predict([["uno"], []]), "sequence 1 is empty"),
        (lambda: model.predict("uno dos"), "X is of type str; give a list of sequences"),
        (lambda: model.predict(None), "X is of type NoneType"),
        (lambda: model.predict(["uno dos"]), "X: sequence 0 is of type str"),
        (lambda: model.predict([3]), "X: sequence 0 is of type int"),
        (lambda: model.predict([{"word": "uno"}]), "X: sequence 0 is of type dict"),
        (lambda: model.predict(X, decode="best"), "decode is 'best'; choose 'viterbi' or 'posterior'"),
        (lambda: make_learner(method).fit(X), "y is missing"),
        (lambda: make_learner(method).fit(X, 3), "y is of type int"),
        (lambda: make_learner(method).fit(X, Y[:-1]), "y has 23 sequences, X has 24"),
        (lambda: make_learner(method).fit(X, [y[1:] for y in Y]), "y: sequence 0 has . labels for . tokens"),
        (
            lambda: make_learner(method).fit(X, [None, *Y[1:]]),
            "y: sequence 0 is of type NoneType; give a list of labels",
        ),
        (lambda: make_learner(method).fit(X, ["".join(y) for y in Y]), "y: sequence 0 is of type str"),
        (
            lambda: make_learner(method).fit([["a"]], [[1]]),
            "y: sequence 0, token 0: the label is 1 of type int; give a string",
        ),
        (
            lambda: model.score(X, [["NEW"] * len(y) for y in Y]),
            "y has the label 'NEW', which the model was not trained",
        ),
        (lambda: make_learner(method).predict(X), "is not fitted yet; call fit first"),
        (lambda: make_learner(method).history_, "is not fitted yet; call fit first"),
    ]:
        with pytest.raises(LabSeqError, match=message):
            call()


@every_method
def test_a_fit_that_fails_leaves_no_model(method):
    def interrupted(progress):
        raise KeyboardInterrupt

    model = fitted(method)
    with pytest.raises(KeyboardInterrupt):
        model.fit([["nuevo"], ["otro"]], [["P"], ["Q"]], callback=interrupted)
    with pytest.raises(LabSeqError, match="is not fitted yet; call fit first"):
        model.predict(X)
    assert_same_potentials(model.fit(X, Y), known(method))


@every_probabilistic_method
def test_log_prob_of_an_unknown_label_is_a_clear_error(method):
    with pytest.raises(
        LabSeqError, match="y has the label 'NEW', which the model was not trained on; it knows A, B, C"
    ):
        known(method).log_prob([["uno"]], [["NEW"]])
    assert known(method).log_prob([], []).shape == (0,)


@every_method
def test_numpy_arrays_as_sequences(method):
    as_arrays = [np.array(x) for x in X], [np.array(y) for y in Y]
    model = make_learner(method).fit(*as_arrays)
    assert_same_potentials(model, known(method))
    assert model.predict(as_arrays[0]) == known(method).predict(X)


def test_unknown_methods_are_named():
    with pytest.raises(
        LabSeqError, match="there is no method 'svm'; choose from naive-bayes, maxent, hmm, crf, crf-marginal,"
    ):
        find_method("svm")
