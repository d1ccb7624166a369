"""Influential observations by the double sum of their definition; Gram matrices by the kernel; spectra with known answers."""

import math

import numpy as np
import pytest

from labseq_core import CRF, GPSC, RBF, FeatureTemplate, LabSeqError, Polynomial, SparseGPSC
from labseq_core.explain.gram_view import (
    AVERAGED,
    INFLUENCE_COLUMNS,
    GramSample,
    TrainingView,
    coefficients,
    gram_sample,
    influences,
    spectrum,
)
from tests.reference import kernels, toy

WORDS, LABELS = toy.corpus(seed=3, n_sequences=15)
X = FeatureTemplate("S1", window=3).encode(WORDS)
NEW = FeatureTemplate("S1", window=3).encode([["uno", "never-seen", "Tres"]], X.vocabulary)
CLOSE = {"rel": 1e-9, "abs": 1e-9}


@pytest.fixture(scope="module")
def view() -> TrainingView:
    return TrainingView(X, LABELS, WORDS)


def test_observations_are_found_where_they_were_seen(view):
    flat_words = [word for sequence in WORDS for word in sequence]
    flat_labels = [label for sequence in LABELS for label in sequence]
    assert sum(view.times) == len(flat_words)
    seen = kernels.observations(X)
    for number in range(len(view)):
        about = view.about(number)
        assert WORDS[about["sequence"] - 1][about["position"] - 1] == about["word"]
        own = seen[view.firsts[number]]
        alike = [flat_labels[t] for t, other in enumerate(seen) if other == own]
        assert about["times"] == len(alike)
        assert alike.count(about["label"]) == max(map(alike.count, alike))
        assert not any(other == own for other in seen[: view.firsts[number]])


@pytest.mark.parametrize("learner", [GPSC(kernel=RBF(1.0), route="gram"), SparseGPSC(fraction=0.5)])
@pytest.mark.parametrize("label", [None, "A", "B"])
def test_contributions_are_the_double_sum_and_add_up_to_the_score(view, learner, label):
    learner.fit(X, LABELS)
    found = influences(learner, view, coefficients(learner, view), NEW, 2, label)
    assert found.label == (label or learner.predict(NEW)[0][2])
    column = learner.classes_.index(found.label)
    here = kernels.observations(NEW)[2]
    support = kernels.observations(learner.expansion_.support.as_sequences())
    expected = [
        kernels.value(learner.kernel, here, z) * float(beta)
        for z, beta in zip(support, learner.expansion_.beta[:, column], strict=True)
    ]
    assert sorted(row["contribution"] for row in found.rows) == pytest.approx(sorted(expected), **CLOSE)
    assert found.explained == pytest.approx(found.score, **CLOSE)
    assert found.score == pytest.approx(learner.potentials(NEW)[0].node[2, column], **CLOSE)
    for by in ("contribution", "difference"):
        sizes = [abs(row[by]) for row in found.largest(by)]
        assert sizes == sorted(map(abs, (row[by] for row in found.rows)), reverse=True)
    for row in found.rows:
        assert tuple(row) == INFLUENCE_COLUMNS
        assert row["contribution"] == row["kernel"] * row["beta"]


def test_differences_start_from_the_mean_score_of_training_words(view):
    learner = GPSC(kernel=RBF(1.0), route="gram").fit(X, LABELS)
    assert X.n_positions <= AVERAGED, "all of them are averaged"
    found = influences(learner, view, coefficients(learner, view), NEW, 2, "A")
    scores = np.concatenate([chain.node[:, learner.classes_.index("A")] for chain in learner.potentials(X)])
    assert found.average == pytest.approx(scores.mean(), **CLOSE)
    differences = math.fsum(row["difference"] for row in found.rows)
    assert found.average + differences == pytest.approx(found.score, **CLOSE)


def test_the_nearest_observation_is_the_one_with_the_same_attributes(view):
    learner = GPSC(kernel=RBF(1.0), route="gram").fit(X, LABELS)
    rows = influences(learner, view, coefficients(learner, view), X.select([0]), 0).rows
    nearest = max(rows, key=lambda row: row["kernel"])
    assert (nearest["word"], nearest["sequence"], nearest["position"]) == (WORDS[0][0], 1, 1)
    assert nearest["kernel"] == pytest.approx(1.0)


def test_a_fit_by_features_has_the_coefficients_of_the_one_by_kernel_values(view):
    # The kernel cannot tell some coefficients apart: what they say of the observations is the same.
    seen, said = kernels.observations(view.observations.as_sequences()), []
    for route in ("gram", "explicit"):
        found = coefficients(GPSC(kernel=Polynomial(2), l2=0.5, route=route, tol=1e-10).fit(X, LABELS), view)
        support = [seen[number] for number in found.numbers]
        said.append(kernels.gram(Polynomial(2), seen, support) @ found.beta)
    assert said[1] == pytest.approx(said[0], abs=1e-3)


def test_its_contributions_add_up_nearly(view):
    learner = GPSC(kernel=Polynomial(2), l2=0.5, route="explicit", tol=1e-10).fit(X, LABELS)
    found = influences(learner, view, coefficients(learner, view), NEW, 0)
    assert found.explained == pytest.approx(found.score, abs=1e-3)


def test_a_sample_is_even_over_labels_and_has_the_kernel_values(view):
    sample = gram_sample(RBF(0.7), view, 9)
    labels = [row["label"] for row in sample.rows]
    assert labels == sorted(labels)
    counts = [labels.count(label) for label in sorted(set(view.usual))]
    assert sum(counts) == min(9, len(view))
    there = [view.usual.count(label) for label in sorted(set(view.usual))]
    assert all(count == most or count >= max(counts) - 1 for count, most in zip(counts, there, strict=True))
    seen = kernels.observations(X)
    chosen = [seen[X.offsets[row["sequence"] - 1] + row["position"] - 1] for row in sample.rows]
    assert sample.values == pytest.approx(kernels.gram(RBF(0.7), chosen, chosen), **CLOSE)
    assert len({(row["sequence"], row["position"]) for row in sample.rows}) == len(sample.rows), "none twice"


def test_all_observations_where_there_are_few(view):
    assert len(gram_sample(RBF(1.0), view, 10_000).rows) == len(view)


def test_likeness_and_cosines():
    values = np.array([[4.0, 2.0, 1.0], [2.0, 9.0, 0.0], [1.0, 0.0, 1.0]])
    sample = GramSample(values, [{"label": "A"}, {"label": "A"}, {"label": "B"}])
    assert sample.likeness() == (2.0, 0.5)
    cosines = sample.cosines()
    assert np.diag(cosines.values) == pytest.approx(np.ones(3))
    assert cosines.values[0, 1] == pytest.approx(2.0 / 6.0)
    assert GramSample(np.eye(1), [{"label": "A"}]).likeness() == (None, None)


@pytest.mark.parametrize(
    ("eigenvalues", "rank", "nearly_all"),
    [([1.0] * 5, 5.0, 5), ([3.0, 0.0, 0.0], 1.0, 1), ([0.0, 0.0], 0.0, 0), ([98.0, 1.5, 0.5], None, 2)],
)
def test_effective_rank(eigenvalues, rank, nearly_all):
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(len(eigenvalues),) * 2))[0]
    found = spectrum(rotation @ np.diag(eigenvalues) @ rotation.T)
    assert found.eigenvalues == pytest.approx(eigenvalues, abs=1e-12)
    shares = [value / sum(eigenvalues) for value in eigenvalues if value > 0]
    expected = math.exp(-sum(share * math.log(share) for share in shares)) if rank is None else rank
    assert found.effective_rank == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert found.nearly_all == nearly_all


def test_wrong_use_is_told(view):
    learner = GPSC(kernel=RBF(1.0), route="gram").fit(X, LABELS)
    own = coefficients(learner, view)
    with pytest.raises(LabSeqError, match="no Gaussian process"):
        coefficients(CRF().fit(X, LABELS), view)
    with pytest.raises(LabSeqError, match="not fitted"):
        coefficients(GPSC(), view)
    with pytest.raises(LabSeqError, match="no label 'Z'"):
        influences(learner, view, own, NEW, 0, "Z")
    with pytest.raises(LabSeqError, match="position is 3"):
        influences(learner, view, own, NEW, 3)
    with pytest.raises(LabSeqError, match="one sentence"):
        influences(learner, view, own, X, 0)
    with pytest.raises(LabSeqError, match="at least 2"):
        gram_sample(RBF(1.0), view, 1)
    with pytest.raises(LabSeqError, match="not of the same sequences"):
        TrainingView(X, LABELS[1:], WORDS)
    few = X.select(range(2))
    with pytest.raises(LabSeqError, match="other observations"):
        coefficients(learner, TrainingView(few, LABELS[:2], WORDS[:2]))
