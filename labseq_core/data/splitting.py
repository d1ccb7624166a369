"""Parts of a corpus: folds and fractions, as numbers of sequences, the same for the same seed everywhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from labseq_core.checks import require

SHARES = (80, 10, 10)  # per cent of the sequences of an upload for train, dev and test, unless others are chosen
SEED = 0


def k_folds(n_sequences: int, folds: int, seed: int = 0) -> list[tuple[np.ndarray, np.ndarray]]:
    """`folds` pairs (train, test) of sorted sequence numbers.

    Each sequence is in exactly one test part; sizes of test parts differ by at most one.
    """
    require(folds >= 2, f"folds is {folds}; choose at least 2")
    require(folds <= n_sequences, f"folds is {folds} for {n_sequences} sequences; choose at most {n_sequences}")
    shuffled = _permutation(n_sequences, seed)
    pairs = []
    for test in np.array_split(shuffled, folds):
        in_train = np.ones(n_sequences, dtype=bool)
        in_train[test] = False
        pairs.append((np.flatnonzero(in_train), np.sort(test)))
    return pairs


def split_fractions(n_sequences: int, fractions: Sequence[float], seed: int | None = 0) -> list[np.ndarray]:
    """Sorted sequence numbers of each part; no part is empty. `seed=None` cuts in file order, without shuffling."""
    fractions = np.asarray(fractions, dtype=np.float64)
    fits = fractions.ndim == 1 and fractions.size >= 1 and bool((fractions > 0).all())
    require(fits and abs(fractions.sum() - 1.0) < 1e-9, "fractions must be positive and sum to 1")
    n_parts = fractions.size
    require(n_sequences >= n_parts, f"{n_sequences} sequences cannot fill {n_parts} parts; give at least {n_parts}")
    cuts = np.rint(np.cumsum(fractions) * n_sequences).astype(np.int64)
    # Leave at least one sequence to each part: cut i lies in i + 1 .. n - (parts still to come).
    for part in range(n_parts):
        before = cuts[part - 1] if part else 0
        cuts[part] = min(max(cuts[part], before + 1), n_sequences - (n_parts - 1 - part))
    order = np.arange(n_sequences) if seed is None else _permutation(n_sequences, seed)
    return [np.sort(part) for part in np.split(order, cuts[:-1])]


def _permutation(size: int, seed: int) -> np.ndarray:
    require(isinstance(seed, (int, np.integer)) and seed >= 0, f"seed is {seed!r}; give a whole number from 0 on")
    return np.random.Generator(np.random.PCG64(int(seed))).permutation(size)
