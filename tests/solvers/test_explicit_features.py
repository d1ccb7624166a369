"""Working sets on explicit weights: vectors, inner products and weights against dense ones, whatever comes and goes."""

import numpy as np
import pytest

from labseq_core.chain import path_scores
from labseq_core.features.encoded import encode_attributes
from labseq_core.scoring.linear import LinearScoring
from labseq_core.solvers.margin.explicit_weights import ExplicitMargins
from labseq_core.solvers.margin.working_sets import Candidates
from tests.reference.perceptron import features as counted

CLOSE = {"rtol": 1e-10, "atol": 1e-12}
LABELS = ["A", "B", "C"]
ETA = 0.3


def corpus(seed: int, values: bool) -> tuple[list, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = [
        [{f"a{k}": float(rng.normal()) if values else 1.0 for k in rng.choice(6, size=rng.integers(0, 4), replace=False)}
         for _ in range(rng.integers(1, 6))]
        for _ in range(7)
    ]  # fmt: skip
    return X, rng.integers(3, size=sum(map(len, X)))


def made(seed: int = 0, values: bool = True) -> tuple[ExplicitMargins, list, np.ndarray]:
    X, truth = corpus(seed, values)
    return ExplicitMargins(LinearScoring(encode_attributes(X), 3), truth, ETA), X, truth


def random_candidates(features: ExplicitMargins, rng: np.random.Generator, truth: np.ndarray) -> Candidates:
    """A labelling of about half of the sequences, a few positions wrong; sometimes the truth itself."""
    offsets = features.differences.data.offsets
    labels = np.where(rng.random(truth.size) < 0.3, rng.integers(3, size=truth.size), truth)
    return Candidates.whole(np.flatnonzero(rng.random(len(offsets) - 1) < 0.5), labels, offsets)


def labellings(features: ExplicitMargins, truth: np.ndarray) -> list[tuple[int, tuple[int, ...]]]:
    sets, offsets = features.sets, features.differences.data.offsets
    found = []
    for member, i in enumerate(sets.sequence_of_members()):
        labels = truth.copy()
        own = slice(sets.difference_bounds[member], sets.difference_bounds[member + 1])
        labels[sets.position[own]] = sets.label[own]
        found.append((int(i), tuple(labels[offsets[i] : offsets[i + 1]].tolist())))
    return found


def dense_vector(x: list, right: tuple, wrong: tuple) -> dict:
    """Ψ(x, y*) - Ψ(x, y), pairs √η times."""
    vector = {}
    for sign, y in ((1.0, right), (-1.0, wrong)):
        for name, count in counted(x, tuple(LABELS[s] for s in y), start_stop=False).items():
            vector[name] = vector.get(name, 0.0) + sign * count * (np.sqrt(ETA) if name[0] == "edge" else 1.0)
    return vector


def inner(one: dict, other: dict) -> float:
    return sum(value * other.get(name, 0.0) for name, value in one.items())


def assert_consistent(features: ExplicitMargins, X: list, truth: np.ndarray, rescale: str | None) -> None:
    sets, offsets = features.sets, features.differences.data.offsets
    found = labellings(features, truth)
    assert len(set(found)) == len(found)
    vectors, total = [], {}
    for member, (i, labels) in enumerate(found):
        right = tuple(truth[offsets[i] : offsets[i + 1]].tolist())
        distance = sum(a != b for a, b in zip(labels, right))
        assert distance == sets.distance[member] > 0
        scale = distance if rescale == "slack" else 1.0
        assert sets.scale[member] == scale
        assert sets.target[member] == (1.0 if rescale is None else distance)
        vectors.append({name: scale * value for name, value in dense_vector(X[i], right, labels).items()})
        for name, value in vectors[-1].items():
            total[name] = total.get(name, 0.0) + sets.alpha[member] * value
    for i in range(len(X)):
        own = range(sets.bounds[i], sets.bounds[i + 1])
        gram = sets.gram[sets.gram_bounds[i] : sets.gram_bounds[i + 1]].reshape(len(own), len(own))
        expected = [[inner(vectors[k], vectors[l]) for l in own] for k in own]
        np.testing.assert_allclose(gram, np.array(expected).reshape(gram.shape), **CLOSE)
    weights, names = features.weights(), features.scoring.encoded.vocabulary.names
    node = [[total.get(("node", name, label), 0.0) for label in LABELS] for name in names]
    edge = [[total.get(("edge", a, b), 0.0) * np.sqrt(ETA) for b in LABELS] for a in LABELS]
    np.testing.assert_allclose(weights.node, node, **CLOSE)
    np.testing.assert_allclose(weights.edge, edge, **CLOSE)
    np.testing.assert_allclose(features.squared_norm(), inner(total, total), **CLOSE)


@pytest.mark.parametrize("rescale", [None, "margin", "slack"])
@pytest.mark.parametrize("values", [True, False])
def test_sets_that_grow_and_shrink_stay_what_they_say(rescale, values):
    features, X, truth = made(3, values)
    rng = np.random.default_rng(1)
    dropped = 0
    for _ in range(40):
        before = dict(zip(labellings(features, truth), features.sets.alpha.tolist()))
        candidates = random_candidates(features, rng, truth)
        new = features.extend(candidates, rescale)
        after = dict(zip(labellings(features, truth), features.sets.alpha.tolist()))
        assert all(after[one] == alpha for one, alpha in before.items() if alpha > 0.0)  # weight never goes
        assert sum(one not in before or before[one] == 0.0 for one in after) >= new
        dropped += sum(one not in after for one in before)
        for i, begin in zip(candidates.sequences, candidates.begins):
            length = features.differences.data.offsets[i + 1] - features.differences.data.offsets[i]
            labels = tuple(candidates.labels[begin : begin + length].tolist())
            own = tuple(truth[features.differences.data.offsets[i] : features.differences.data.offsets[i + 1]].tolist())
            assert labels == own or (int(i), labels) in after
        assert_consistent(features, X, truth, rescale)
        features.extrapolate(0.5 * rng.random(), 0.4, np.inf)
        assert features.sweep(rng.permutation(len(X)), 0.4, np.inf, 0.0)
        assert_consistent(features, X, truth, rescale)
    assert dropped > 0


def test_a_candidate_that_comes_twice_joins_once():
    features, X, truth = made(6)
    rng = np.random.default_rng(4)
    one, other = (random_candidates(features, rng, truth) for _ in range(2))
    both = one.and_those_of(other).and_those_of(one)
    assert (np.diff(both.sequences) >= 0).all()
    new = features.extend(both, None)
    found, offsets = labellings(features, truth), features.differences.data.offsets
    given = {
        (int(i), tuple(part.labels[offsets[i] : offsets[i + 1]].tolist()))
        for part in (one, other)
        for i in part.sequences
    }
    right = {(i, tuple(truth[offsets[i] : offsets[i + 1]].tolist())) for i in range(len(X))}
    assert new == len(found)
    assert set(found) == given - right
    assert features.extend(both, None) == new  # without weight they are dropped, and join again
    features.sweep(np.arange(len(X)), 1.0, np.inf, 0.0)
    kept = int((features.sets.alpha > 0.0).sum())
    assert features.extend(both, None) == new - kept
    assert_consistent(features, X, truth, None)


def test_going_on_and_back():
    features, X, truth = made(4)
    rng = np.random.default_rng(2)
    for _ in range(5):
        features.extend(random_candidates(features, rng, truth), None)
        features.extrapolate(0.0, 0.3, np.inf)
        features.sweep(np.arange(len(X)), 0.3, np.inf, 0.0)
    alpha, weights = features.sets.alpha.copy(), features.weights().flat.copy()
    features.extrapolate(0.9, 0.3, np.inf)
    assert (features.sets.alpha != alpha).any()
    totals = np.bincount(features.sets.sequence_of_members(), features.sets.alpha)
    assert (totals <= 0.3 * (1 + 1e-12)).all()
    assert (features.sets.alpha >= 0.0).all()
    assert_consistent(features, X, truth, None)
    features.sweep(np.arange(len(X)), 0.3, np.inf, 0.0)
    features.take_back()
    np.testing.assert_array_equal(features.sets.alpha, alpha)
    np.testing.assert_array_equal(features.weights().flat, weights)
    features.scale(2.5)
    np.testing.assert_allclose(features.weights().flat, 2.5 * weights, **CLOSE)
    np.testing.assert_allclose(features.sets.alpha, 2.5 * alpha, **CLOSE)
    gram = [features.sets.gram[a:b] for a, b in zip(features.sets.gram_bounds, features.sets.gram_bounds[1:])]
    assert features.sets.largest_square() == max(
        max(square[:: round(square.size**0.5) + 1]) for square in gram if square.size
    )


def test_potentials_of_some_sequences_are_those_of_all():
    features, X, truth = made(5)
    rng = np.random.default_rng(3)
    features.extend(random_candidates(features, rng, truth), None)
    features.sweep(np.arange(len(X)), 1.0, np.inf, 0.0)
    some = np.array([0, 2, 5])
    part = features.potentials(some)
    scores = path_scores(part, truth)
    whole = features.potentials()
    np.testing.assert_allclose(scores[some], path_scores(whole, truth)[some], **CLOSE)
    np.testing.assert_array_equal(part.edge, whole.edge)
