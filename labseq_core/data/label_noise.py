"""Wrong labels on purpose: how a method stands them is a question of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from labseq_core.checks import LabSeqError, require
from labseq_core.data.sequences import Sequences


def with_label_noise(sequences: Sequences, share: float, seed: int) -> Sequences:
    """The same sequences with a share of the labels, rounded to a whole number of tokens, replaced by another label drawn
    uniformly from those that occur. The same seed gives the same noise, and a larger share replaces the same tokens and more.
    """
    require(0.0 <= share <= 1.0, f"the share of labels to replace is {share!r}; choose one from 0 to 1")
    if sequences.flat_labels is None:
        raise LabSeqError("these sequences have no labels to replace; read the file with a label column")
    names, codes = np.unique(np.array(sequences.flat_labels, dtype=object), return_inverse=True)
    require(share == 0.0 or len(names) > 1, "there is one label only; noise needs another one to put in its place")
    random = np.random.default_rng(seed)
    order = random.permutation(codes.size)
    shifts = random.integers(1, max(2, len(names)), size=codes.size)
    places = order[: round(share * codes.size)]
    noisy = codes.copy()
    noisy[places] = (codes[places] + shifts[places]) % len(names)
    return replace(sequences, flat_labels=names[noisy].tolist())
