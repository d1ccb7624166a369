"""A search tries what it is told, keeps what scores best, and says how far it is."""

import numpy as np
import pytest

from labseq_core import CRF, GPSC, LabSeqError, Polynomial, SequenceBoost, load_dataset
from labseq_core.evaluation import evaluate
from labseq_core.features import FeatureTemplate
from labseq_core.learners.search import search


@pytest.fixture(scope="module")
def corpus():
    whole = load_dataset("parity")
    template = FeatureTemplate("prosody", window=1)
    train, dev = whole.train.select(range(60)), whole.dev.select(range(40))
    return template.encode(train), train.labels, dev


def test_every_combination_is_scored_on_the_development_data(corpus):
    X, y, dev = corpus
    grid = {"kernel": [Polynomial(1), Polynomial(2)], "l2": [0.1, 10.0]}
    found = search(GPSC(tol=1e-2), grid, X, y, dev=dev)
    assert [(row["kernel"], row["l2"]) for row in found.table] == [(k, l2) for k in grid["kernel"] for l2 in grid["l2"]]
    for row in found.table:
        alone = GPSC(tol=1e-2, kernel=row["kernel"], l2=row["l2"]).fit(X, y)
        assert row["score"] == evaluate(dev.labels, alone.predict(dev)).accuracy
        assert row["seconds"] > 0.0
    best = max(found.table, key=lambda row: row["score"])
    assert found.best == {name: best[name] for name in grid}
    assert found.best["kernel"] == Polynomial(2)  # labels hang on pairs of attributes
    assert found.learner.get_params() | found.best == found.learner.get_params()
    assert evaluate(dev.labels, found.learner.predict(dev)).accuracy == best["score"]


def test_without_development_data_a_tenth_is_held_out_and_the_best_is_fitted_to_all(corpus):
    X, y, _ = corpus
    found = search(CRF(), {"l2": [100.0, 0.1]}, X, y)
    held = [place for place in range(len(y)) if place % 10 == 9]
    kept = [place for place in range(len(y)) if place % 10 != 9]
    for row in found.table:
        alone = CRF(l2=row["l2"]).fit(X.select(kept), [y[place] for place in kept])
        assert row["score"] == evaluate([y[place] for place in held], alone.predict(X.select(held))).accuracy
    whole = CRF(**found.best).fit(X, y)
    np.testing.assert_array_equal(found.learner.weights_.flat, whole.weights_.flat)


def test_spans_are_scored_as_spans_and_equals_go_to_the_first():
    corpus = load_dataset("spanish-ner")
    train, dev = corpus.train.select(range(30)), corpus.dev.select(range(20))
    found = search(
        CRF(max_iter=20), {"l2": [1.0, 1.0 + 1e-12]}, FeatureTemplate("S1").encode(train), train.labels, dev=dev
    )
    assert found.best == {"l2": 1.0}
    assert found.table[0]["score"] == evaluate(dev.labels, found.learner.predict(dev)).span_f1


def test_progress_never_falls_and_stopping_keeps_the_best_so_far(corpus):
    X, y, dev = corpus
    told = []
    search(CRF(), {"l2": [10.0, 1.0, 0.1]}, X, y, dev=dev, callback=lambda progress: told.append(progress.fraction))
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1.0)
    found = search(CRF(), {"l2": [10.0, 1.0, 0.1]}, X, y, dev=dev, callback=lambda progress: progress.fraction < 0.4)
    assert len(found.table) == 2
    assert found.learner.predict(dev)


def test_methods_that_watch_development_data_see_it(corpus):
    X, y, dev = corpus
    found = search(SequenceBoost(rounds=30, patience=3), {"length_decay": [0.5]}, X, y, dev=dev)
    assert "dev_accuracy" in found.learner.history_


@pytest.mark.parametrize(
    ("grid", "said"),
    [
        ({}, "no options"),
        ({"l2": []}, "no values of l2"),
        ({"l2": [1.0, 1.0]}, "value of l2 twice"),
        (
            {"l2": list(map(float, range(1, 12))), "max_iter": list(range(1, 12))},
            "121 combinations; choose at most 100",
        ),
    ],
)
def test_searches_that_make_no_sense_are_refused(grid, said, corpus):
    X, y, dev = corpus
    with pytest.raises(LabSeqError, match=said):
        search(CRF(), grid, X, y, dev=dev)


def test_one_sequence_is_not_enough(corpus):
    X, y, _ = corpus
    with pytest.raises(LabSeqError, match="one sequence and no development data"):
        search(CRF(), {"l2": [1.0, 0.1]}, X.select([0]), y[:1])
