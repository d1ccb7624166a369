"""Scores and gradients by word type against dense products with the attributes themselves."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from labseq_core import FeatureTemplate
from labseq_core.compiling.routines import parallel_from
from labseq_core.features import EncodedSequences
from labseq_core.scoring.linear_by_type import TypeScoring

# Sums of a few dozen terms of size about one.
SUM = {"rtol": 1e-12, "atol": 1e-12}

words = st.sampled_from(["casa", "Casa", "LA", "de", "1999", "3.5", "x-y", "."])
corpora = st.lists(st.lists(words, min_size=1, max_size=7), min_size=1, max_size=6)


def dense(encoded: EncodedSequences) -> np.ndarray:
    matrix = np.zeros((encoded.n_positions, encoded.n_attributes))
    for t in range(encoded.n_positions):
        matrix[t, encoded.indices[encoded.indptr[t] : encoded.indptr[t + 1]]] += 1.0
    return matrix


def check(encoded: EncodedSequences, rng: np.random.Generator, n_labels: int = 3) -> None:
    matrix = dense(encoded)
    weights = rng.normal(size=(encoded.n_attributes, n_labels))
    statistics = rng.normal(size=(encoded.n_positions, n_labels))
    node, gradient = np.empty_like(statistics), np.empty_like(weights)
    scoring = TypeScoring(encoded, n_labels)
    scoring.score(weights, encoded.offsets, node)
    np.testing.assert_allclose(node, matrix @ weights, **SUM)
    scoring.collect(statistics, gradient)
    np.testing.assert_allclose(gradient, matrix.T @ statistics, **SUM)


@given(corpora, st.sampled_from(["S1", "S2", "S3", "POS"]), st.sampled_from([1, 3, 5]), st.integers(0, 2**32 - 1))
def test_types_give_the_same_products_as_attributes(corpus, name, window, seed):
    rng = np.random.default_rng(seed)
    encoded = FeatureTemplate(name, window=window).encode(corpus)
    check(encoded, rng)
    check(encoded.select(rng.permutation(len(encoded))), rng)
    with parallel_from(0):
        check(encoded, rng)


@given(corpora, corpora, st.integers(0, 2**32 - 1))
def test_a_foreign_vocabulary_drops_attributes_in_both_forms(corpus, other, seed):
    template = FeatureTemplate("S3")
    known = template.encode(corpus).vocabulary
    check(template.encode(other, known), np.random.default_rng(seed))


def test_tokens_as_sequences_of_their_own_keep_their_window():
    from dataclasses import replace

    encoded = FeatureTemplate("S3").encode([["casa", "de", "LA"], ["de"]])
    check(replace(encoded, offsets=np.arange(encoded.n_positions + 1)), np.random.default_rng(0))


def test_it_is_used_where_words_come_again_and_not_where_each_is_new():
    again = FeatureTemplate("S3").encode([["la", "casa", "de", "la", "casa"]] * 20)
    new = FeatureTemplate("S1").encode([[f"w{number}" for number in range(50)]])
    assert TypeScoring.pays(again)
    assert not TypeScoring.pays(new)
