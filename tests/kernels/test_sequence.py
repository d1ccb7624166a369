"""The kernel between labelled sequences: by its definition, and positive semi-definite (T Theorem 1)."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from labseq_core.kernels import Observations, sequence_kernel
from tests.kernels.strategies import batches, kernels
from tests.kernels.test_kernels import EIGENVALUE, VALUES, with_named_words
from tests.reference import dual_perceptron
from tests.reference import kernels as naive


@given(batches(), kernels, st.sampled_from([0.1, 1.0, 3.0]), st.integers(0, 1000))
def test_the_sequence_kernel_is_its_definition_and_positive_semi_definite(encoded, kernel, eta, seed):
    if not with_named_words(encoded, kernel):
        return
    rng = np.random.default_rng(seed)
    sequences = [encoded.select([i]) for i in range(len(encoded))] * 2
    labels = [rng.integers(0, 2, size=sequence.n_positions) for sequence in sequences]
    observations, tokens = [*map(Observations.of, sequences)], [*map(naive.observations, sequences)]
    every = range(len(sequences))
    found = np.array(
        [
            [sequence_kernel(kernel, observations[i], labels[i], observations[j], labels[j], eta) for j in every]
            for i in every
        ]
    )
    expected = [
        [
            dual_perceptron.sequence_kernel(kernel, eta, tokens[i], tuple(labels[i]), tokens[j], tuple(labels[j]))
            for j in every
        ]
        for i in every
    ]
    np.testing.assert_allclose(found, expected, **VALUES)
    eigenvalues = np.linalg.eigvalsh(found)
    assert eigenvalues[0] >= -EIGENVALUE * max(eigenvalues[-1], 1.0)
