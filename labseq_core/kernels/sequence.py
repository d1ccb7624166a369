"""The kernel between labelled sequences: T 2.9."""

from __future__ import annotations

import numpy as np

from labseq_core.kernels.base import Kernel
from labseq_core.kernels.blocks import KernelSide, small_block
from labseq_core.kernels.observations import Observations


def sequence_kernel(
    kernel: Kernel,
    left: Observations,
    left_labels: np.ndarray,
    right: Observations,
    right_labels: np.ndarray,
    eta: float = 1.0,
) -> float:
    """k((x, y), (x̄, ȳ)) = Σ_{s,t} [y_s = ȳ_t] g(x_s, x̄_t) + η Σ_{s,t} [y_s = ȳ_t][y_{s+1} = ȳ_{t+1}]      (T 2.9)

    left, right: the observations of one sequence each, in the same vocabulary.   labels: a number for each position.
    """
    same = left_labels[:, np.newaxis] == right_labels
    alike = small_block(KernelSide(kernel, left), left.rows, KernelSide(kernel, right), right.rows)
    return float(np.sum(alike, where=same) + eta * np.count_nonzero(same[:-1, :-1] & same[1:, 1:]))
