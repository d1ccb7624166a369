"""The CRF against enumeration: what it minimises, what it answers, what it refuses."""

import threading

import numpy as np
import pytest

from labseq_core import CRF, FeatureTemplate, LabSeqError
from labseq_core.compiling.routines import parallel_from
from labseq_core.data.sequences import Sequences
from tests.reference import enumeration, toy

VALUE = {"rtol": 1e-10}
PROBABILITY = {"rtol": 1e-9, "atol": 1e-12}
# At a gradient of relative size 1e-6 with l2 = 1 the weights err by at most 1e-6 times their norm.
TIGHT = {"tol": 1e-6, "max_iter": 2000}


def penalised_loss(model: CRF, X, Y, l2: float) -> float:
    """Σ_i -log p(y^i | x^i) + (l2/2) ‖w‖² by enumeration of all labellings."""
    loss = 0.0
    for potentials, y in zip(model.potentials(X), Y):
        numbers = tuple(model.classes_.index(label) for label in y)
        loss += enumeration.log_partition(potentials) - enumeration.score(potentials, numbers)
    return loss + 0.5 * l2 * float(np.sum(model.weights_.flat**2))


@pytest.mark.parametrize("start_stop", [False, True])
@pytest.mark.parametrize("l2", [0.1, 2.0])
def test_objective_is_what_it_says_and_cannot_be_improved(l2, start_stop):
    X, Y = toy.corpus(seed=1, n_sequences=15, max_length=4)
    model = CRF(l2=l2, start_stop=start_stop, **TIGHT).fit(X, Y)
    assert model.converged_
    np.testing.assert_allclose(model.objective_, penalised_loss(model, X, Y, l2), **VALUE)
    flat, rng = model.weights_.flat, np.random.default_rng(0)
    best = model.objective_
    for size in (1e-3, 1e-2, 1.0):
        step = size * rng.normal(size=flat.size)
        for sign in (1.0, -1.0):
            flat += sign * step
            assert penalised_loss(model, X, Y, l2) > best
            flat -= sign * step
    has_ends = any(np.any(part) for part in (model.weights_.start, model.weights_.stop))
    assert has_ends is start_stop


def test_marginals_log_prob_and_decoding_equal_enumeration():
    X, Y = toy.corpus(seed=2, n_sequences=12, max_length=4)
    model = CRF(l2=0.5, start_stop=True).fit(X, Y)
    queries = [*X, ["uno", "nunca-visto"]]
    marginals, dicts = model.marginals(queries), model.predict_marginals(queries)
    by_token, best = model.predict(queries, decode="posterior"), model.predict(queries)
    for number, potentials in enumerate(model.potentials(queries)):
        node, _ = enumeration.marginals(potentials)
        np.testing.assert_allclose(marginals[number], node, **PROBABILITY)
        probabilities = enumeration.probabilities(potentials)
        for numbers, probability in probabilities.items():
            labels = [model.classes_[label] for label in numbers]
            np.testing.assert_allclose(
                model.log_prob([queries[number]], [labels]), np.log(probability), rtol=1e-9, atol=1e-9
            )
        numbers = tuple(model.classes_.index(label) for label in best[number])
        np.testing.assert_allclose(probabilities[numbers], max(probabilities.values()), **PROBABILITY)
        assert by_token[number] == [model.classes_[label] for label in marginals[number].argmax(axis=1)]
        assert [list(row) for row in dicts[number]] == [model.classes_] * len(queries[number])
        np.testing.assert_array_equal([list(row.values()) for row in dicts[number]], marginals[number])


def test_posterior_and_viterbi_decoding_differ_where_they_should():
    """A A is the most frequent labelling, but five of nine start with B."""
    X = [["x", "x"]] * 9
    Y = [["A", "A"]] * 4 + [["B", "B"]] * 3 + [["B", "C"]] * 2
    model = CRF(l2=1e-3, **TIGHT).fit(X, Y)
    assert model.predict([["x", "x"]]) == [["A", "A"]]
    assert model.predict([["x", "x"]], decode="posterior") == [["B", "A"]]


def test_classes_are_sorted_and_name_the_columns():
    X, Y = [["b", "a", "c"]], [["Z", "A", "É"]]
    model = CRF(l2=0.01).fit(X, Y)
    assert model.classes_ == ["A", "Z", "É"]
    np.testing.assert_array_equal(model.marginals(X)[0].argmax(axis=1), [1, 0, 2])


def test_history_descends_and_follows_dev():
    X, Y = toy.corpus(seed=3, n_sequences=40)
    train, dev = (X[:30], Y[:30]), (X[30:], Y[30:])
    model = CRF(tol=1e-5).fit(*train, dev=dev)
    history = model.history_
    objective = history["objective"].tolist()
    assert objective == sorted(objective, reverse=True)
    assert objective[-1] == model.objective_
    assert len(history) == model.n_iter_ + 1
    assert history["dev_accuracy"].iloc[-1] == model.score(*dev)
    as_sequences = CRF(tol=1e-5).fit(*train, dev=Sequences.from_lists(*dev))
    assert as_sequences.history_["dev_accuracy"].iloc[-1] == model.score(*dev)
    assert "dev_accuracy" not in CRF(max_iter=2).fit(*train).history_


def test_dev_labels_that_training_never_saw_are_never_right():
    X, Y = toy.corpus(seed=4)
    model = CRF().fit(X, Y, dev=([["uno", "dos"]], [["NEW", "NEW"]]))
    assert model.history_["dev_accuracy"].iloc[-1] == 0.0


@pytest.mark.parametrize(
    ("dev", "message"),
    [
        (([], []), "dev is empty"),
        ("X", r"dev must be a pair \(X, y\)"),
        (([["uno"]], None), "y is missing"),
        (([["uno"]], [["A", "B"]]), "y: sequence 0 has 2 labels for 1 tokens"),
    ],
)
def test_bad_dev_is_named(dev, message):
    X, Y = toy.corpus(seed=4)
    with pytest.raises(LabSeqError, match=message):
        CRF().fit(X, Y, dev=dev)


def test_unseen_attributes_do_not_count():
    X, Y = toy.corpus(seed=5)
    model = CRF().fit([[[word, "bias"] for word in x] for x in X], Y)
    known = model.potentials([[["bias"], ["uno", "bias"]]])[0]
    more = model.potentials([[["bias", "new"], ["newer", "uno", "bias"]]])[0]
    np.testing.assert_array_equal(known.node, more.node)
    nothing = model.potentials([[["new"], []]])[0]
    np.testing.assert_array_equal(nothing.node, 0.0)


def test_real_values_scale_their_weight():
    rng = np.random.default_rng(0)
    X = [[{"x": value, "bias": 1.0} for value in rng.normal(size=6)] for _ in range(30)]
    Y = [["P" if token["x"] > 0.2 else "N" for token in x] for x in X]
    model = CRF(l2=0.1).fit(X, Y)
    assert model.score(X, Y) > 0.95
    node = {value: model.potentials([[{"x": value}]])[0].node[0] for value in (1.0, -2.5)}
    np.testing.assert_allclose(node[-2.5], -2.5 * node[1.0], rtol=1e-12)
    # A value of one is the same as the bare attribute, and zero the same as none.
    np.testing.assert_array_equal(model.potentials([[["x"]]])[0].node[0], node[1.0])
    np.testing.assert_array_equal(model.potentials([[{"x": 0.0}]])[0].node[0], 0.0)


def test_one_label_only():
    X = [["a", "b"], ["c"]]
    model = CRF().fit(X, [["O", "O"], ["O"]])
    assert model.predict(X) == [["O", "O"], ["O"]]
    assert model.objective_ == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(model.log_prob(X, [["O", "O"], ["O"]]), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.concatenate(model.marginals(X)), 1.0, atol=1e-12)


def test_transitions_alone():
    """Tokens without attributes: only label pairs can be learned."""
    X = [[[], [], []]] * 5
    model = CRF(l2=0.1).fit(X, [["A", "B", "A"]] * 4 + [["B", "A", "B"]])
    assert model.weights_.node.shape == (0, 2)
    assert (np.diag(model.weights_.edge) < 0).all()


def test_a_tighter_penalty_means_smaller_weights():
    X, Y = toy.corpus(seed=6)
    norms = [float(np.linalg.norm(CRF(l2=l2, **TIGHT).fit(X, Y).weights_.flat)) for l2 in (0.01, 1.0, 100.0)]
    assert norms[0] > norms[1] > norms[2] > 0.0


def test_tolerance_and_iteration_limit():
    X, Y = toy.corpus(seed=7, n_sequences=40)
    short = CRF(max_iter=3, tol=1e-9).fit(X, Y)
    assert (short.n_iter_, short.converged_) == (3, False)
    loose = CRF(tol=0.1).fit(X, Y)
    tight = CRF(**TIGHT).fit(X, Y)
    assert loose.converged_
    assert loose.n_iter_ < tight.n_iter_
    assert tight.objective_ < loose.objective_ < short.history_["objective"].iloc[0]
    to_the_end = CRF(tol=0.0, max_iter=10_000).fit(X, Y)
    np.testing.assert_allclose(to_the_end.objective_, tight.objective_, rtol=1e-10)


def test_a_fit_in_another_thread_gives_the_same_bits():
    X, Y = toy.corpus(seed=8, n_sequences=60)
    encoded, models = FeatureTemplate("S3").encode(X), []
    with parallel_from(0):
        here = CRF().fit(encoded, Y)
        worker = threading.Thread(target=lambda: models.append(CRF().fit(encoded, Y)))
        worker.start()
        worker.join()
    np.testing.assert_array_equal(here.weights_.flat, models[0].weights_.flat)
