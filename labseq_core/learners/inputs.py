"""What `fit`, `predict` and `score` take as X and y: checked, and as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from labseq_core.checks import LabSeqError, require, require_texts
from labseq_core.data.alphabet import Alphabet
from labseq_core.data.sequences import Sequences
from labseq_core.features import EncodedSequences, FeatureTemplate, encode_attributes
from labseq_core.features.encoded import Attributes, Encoder

Labels = Sequence[Sequence[str]]
# What `fit` and `predict` take as X: encoded, a corpus, or attributes of each token as dicts, lists of names or words.
Input = EncodedSequences | Sequences | Sequence[Sequence[Attributes]] | np.ndarray
Labelled = Sequences | tuple[Input, Labels]  # a corpus, or a pair (X, y)


def encode_input(X: Input, vocabulary: Alphabet | None, template: Encoder | None) -> EncodedSequences:
    """Whatever a caller may give as X, in the numbers of the vocabulary (None: of its own)."""
    encoded = _encoded(X, vocabulary, template)
    encoded.require_bounded()
    return encoded


def _encoded(X: Input, vocabulary: Alphabet | None, template: Encoder | None) -> EncodedSequences:
    if isinstance(X, EncodedSequences):
        return X if vocabulary is None else X.with_vocabulary(vocabulary)
    if isinstance(X, Sequences):
        # Without a template the word itself is the only attribute, as for plain word lists.
        return (template or FeatureTemplate("S1")).encode(X, vocabulary)
    if isinstance(X, str) or not isinstance(X, Sequence | np.ndarray):
        raise LabSeqError(f"X is of type {type(X).__name__}; give a list of sequences of per-token attributes")
    if template is not None and any(_is_plain_words(sequence) for sequence in X):
        return template.encode(cast("Sequence[Sequence[str]]", X), vocabulary)
    return encode_attributes(X, vocabulary)


def _is_plain_words(sequence: object) -> bool:
    return isinstance(sequence, Sequence | np.ndarray) and len(sequence) > 0 and isinstance(sequence[0], str)


def labels_of(X: Input, y: Labels | None) -> Labels:
    if y is None:
        if not isinstance(X, Sequences):
            raise LabSeqError("y is missing; give one list of labels per sequence")
        return X.labels
    fits = isinstance(y, Sequence | np.ndarray) and not isinstance(y, str)
    require(fits, f"y is of type {type(y).__name__}; give a list with one list of labels per sequence")
    return y


def flat_labels(labels: Labels, offsets: np.ndarray) -> list[str]:
    n_sequences = len(offsets) - 1
    require(len(labels) == n_sequences, f"y has {len(labels)} sequences, X has {n_sequences}; give one per sequence")
    for number, (sequence, length) in enumerate(zip(labels, np.diff(offsets).tolist())):
        where = f"y: sequence {number}"
        if isinstance(sequence, str) or not isinstance(sequence, Sequence | np.ndarray):
            raise LabSeqError(f"{where} is of type {type(sequence).__name__}; give a list of labels")
        if len(sequence) != length:
            raise LabSeqError(f"{where} has {len(sequence)} labels for {length} tokens; give one per token")
    flat = [label for sequence in labels for label in sequence]
    try:
        require_texts("label", flat, offsets)
    except LabSeqError as problem:
        raise LabSeqError(f"y: {problem}") from None
    return flat
