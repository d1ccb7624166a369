"""The small quadratic programs of a working set, compiled: one per training sequence, over the labellings that it holds.

    max_α  Σ_k α_k r_k - ½ Σ_kl α_k α_l (G_kl + ridge),      0 <= α_k <= upper,   Σ_k α_k <= cap

r is what the targets exceed the margins by at α, so it falls as α rises. One program serves all ways to soften a margin:
cap = C for one slack a sequence (T 4.17, METHODS 4), ridge = 1/2C for squared slacks, upper = C for a slack of each labelling,
none of the three for a hard margin.
"""

from __future__ import annotations

import numpy as np

from labseq_core.compiling.routines import compiled

PRECISION = 0.3  # of the first violation in a visit: what is left is left to the next, when other sets have moved
STEPS_A_VISIT = 100  # per labelling
VANISHING = 1e-14  # a weight below this part of its scale is nothing but rounding


@compiled
def ascend(alpha, residual, gram, cap, upper, ridge):
    """Moves α of one working set to its optimum by steps along one or two coordinates; residual follows.

    Each step is the one that gains most among: more of the labelling that is violated most, less of the one that is most
    satisfied, or from the latter to the former. Gives False where a step has no end: then no weights satisfy the margin.
    """
    size = alpha.size
    total = 0.0
    for k in range(size):
        total += alpha[k]
    first = -1.0
    for _ in range(STEPS_A_VISIT * (size + 1)):
        up, down = -1, -1
        for k in range(size):
            if alpha[k] < upper and (up < 0 or residual[k] > residual[up]):
                up = k
            if alpha[k] > 0.0 and (down < 0 or residual[k] < residual[down]):
                down = k
        violation, gain, step, more, less = 0.0, 0.0, 0.0, -1, -1
        if up >= 0 and residual[up] > 0.0 and total < cap:
            violation = residual[up]
            length, here = best_step(residual[up], gram[up, up] + ridge, min(upper - alpha[up], cap - total))
            if length == np.inf:
                return False
            gain, step, more = here, length, up
        if down >= 0 and residual[down] < 0.0:
            violation = max(violation, -residual[down])
            length, here = best_step(-residual[down], gram[down, down] + ridge, alpha[down])
            if here > gain:
                gain, step, more, less = here, length, -1, down
        if up >= 0 and down >= 0 and residual[up] > residual[down]:
            slope = residual[up] - residual[down]
            violation = max(violation, slope)
            curvature = gram[up, up] + gram[down, down] - 2.0 * gram[up, down]
            length, here = best_step(slope, curvature, min(upper - alpha[up], alpha[down]))
            if here > gain:
                gain, step, more, less = here, length, up, down
        if first < 0.0:
            first = violation
        if gain <= 0.0 or violation <= PRECISION * first:
            return True
        if more >= 0:
            alpha[more] = upper if step == upper - alpha[more] else alpha[more] + step
            total += step
            for k in range(size):
                residual[k] -= step * (gram[k, more] + ridge)
        if less >= 0:
            alpha[less] = 0.0 if step == alpha[less] else alpha[less] - step
            total -= step
            for k in range(size):
                residual[k] += step * (gram[k, less] + ridge)
    return True


@compiled
def best_step(slope, curvature, limit):
    """The best length of a step and its gain: slope · d - ½ curvature · d², d <= limit."""
    length = limit if curvature * limit <= slope else slope / curvature
    if length == np.inf:
        return length, np.inf
    return length, length * (slope - 0.5 * curvature * length)


@compiled
def project(point, cap, upper):
    """The nearest point with 0 <= α <= upper and Σ α <= cap, in place. cap and upper are not both finite.

    The shift for which Σ max(α - shift, 0) = cap: the mean excess of those above it, which are fewer in each round.
    """
    shift, above, total = 0.0, -1, 0.0
    while True:
        before = above
        above, total = 0, 0.0
        for k in range(point.size):
            if point[k] > shift:
                above += 1
                total += point[k]
        if above in (0, before) or (before < 0 and total <= cap):
            break
        shift = (total - cap) / above
    for k in range(point.size):
        point[k] = min(max(point[k] - shift, 0.0), upper)
