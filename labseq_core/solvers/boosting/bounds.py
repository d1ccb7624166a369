"""The bounds on the loss after a step Δ on one feature, and the steps that minimise them. T 3.26-3.37, METHODS 3.

The tight bound minus the present loss is  B(Δ) = Σ_e C_e (e^{eΔ} - 1)  with C_e >= 0 and exponents e ≠ 0 (T 3.35, terms
with the same exponent collected). Steps minimise B(Δ) + ε [ψ_U(Δ) + ψ_{-L}(-Δ)], ψ_a(x) = (e^{ax} - 1)/a, which keeps
them finite; features are ranked by -B at that step.
"""

from __future__ import annotations

import math

from labseq_core.compiling.routines import compiled

FARTHEST = 30.0  # a step is never longer than this over the smallest exponent: nothing is gained beyond
LARGEST = 700.0  # e^x is finite up to here
ITERATIONS = 100
PRECISION = 1e-14


@compiled
def reduction_at(step, exponents, coefficients):
    """-B(Δ): by how much the bound falls below the present loss."""
    total = 0.0
    for k in range(exponents.size):
        if coefficients[k] > 0.0:
            total -= coefficients[k] * math.expm1(min(LARGEST, exponents[k] * step))
    return total


@compiled
def slopes_at(step, exponents, coefficients, upper, lower, smoothing):
    """Σ e C_e e^{eΔ} + ε e^{UΔ} over e > 0, the same over e < 0 with all signs turned, and the derivatives of both."""
    up, down = 0.0, 0.0
    up_slope, down_slope = 0.0, 0.0
    if smoothing > 0.0:
        up = smoothing * math.exp(min(LARGEST, upper * step))
        down = smoothing * math.exp(min(LARGEST, lower * step))
        up_slope, down_slope = upper * up, lower * down
    for k in range(exponents.size):
        if coefficients[k] > 0.0:
            e = exponents[k]
            slope = abs(e) * coefficients[k] * math.exp(min(LARGEST, e * step))
            if e > 0.0:
                up += slope
                up_slope += e * slope
            else:
                down += slope
                down_slope += e * slope
    return up, down, up_slope, down_slope


@compiled
def farthest_step(positive, exponents, coefficients):
    """Where a step in the given direction has gained all there is to gain."""
    nearest = 0.0
    for k in range(exponents.size):
        if coefficients[k] > 0.0 and (exponents[k] < 0.0) == positive:
            nearest = abs(exponents[k]) if nearest == 0.0 else min(nearest, abs(exponents[k]))
    if nearest == 0.0:
        return 0.0
    return FARTHEST / nearest if positive else -FARTHEST / nearest


@compiled
def tight_step(exponents, coefficients, upper, lower, smoothing):
    """The minimiser of B + smoothing: the root of log(up) - log(down), which is nearly a straight line, by Newton's method."""
    up, down, up_slope, down_slope = slopes_at(0.0, exponents, coefficients, upper, lower, smoothing)
    if up == down:
        return 0.0
    near, far = 0.0, farthest_step(up < down, exponents, coefficients)
    step = 0.0
    for _ in range(ITERATIONS):
        if up == 0.0 or down == 0.0:
            guess = far
        else:
            guess = step - (math.log(up) - math.log(down)) / (up_slope / up - down_slope / down)
        if not (min(near, far) < guess < max(near, far)):
            guess = far if near == 0.0 and step == 0.0 and abs(guess) >= abs(far) else 0.5 * (near + far)
        moved = abs(guess - step)
        step = guess
        if moved <= PRECISION * abs(step):
            break
        up, down, up_slope, down_slope = slopes_at(step, exponents, coefficients, upper, lower, smoothing)
        if up == down:
            break
        if (up < down) == (far > 0.0):  # not there yet
            near = step
            if step == far:
                break
        else:
            far = step
    return step


@compiled
def loose_step(pseudo_accuracy, upper, lower, smoothing):
    """T 3.37, and the bound 3.27 at that step; U = 0 or L = 0 are no special cases."""
    right = -lower * pseudo_accuracy + smoothing
    wrong = upper * (1.0 - pseudo_accuracy) + smoothing
    width = upper - lower
    if width <= 0.0 or right == wrong:
        return 0.0, 1.0
    if right <= 0.0:
        step = -FARTHEST / width
    elif wrong <= 0.0:
        step = FARTHEST / width
    else:
        step = max(-FARTHEST, min(FARTHEST, math.log(right / wrong))) / width
    gained = pseudo_accuracy * math.expm1(step * lower) + (1.0 - pseudo_accuracy) * math.expm1(step * upper)
    return step, 1.0 + gained


@compiled
def optimistic_reduction(up_mass, up_slope, down_mass, down_slope, smallest, upper, lower, smoothing):
    """No step gains more than this: a closed form from four sums, exact where all exponents are ±smallest.

    mass = Σ C_e, slope = Σ |e| C_e over e > 0 and over e < 0. Jensen: Σ C_e e^{eΔ} >= mass e^{Δ slope/mass}. And the
    smoothed step is not beyond  log((down_slope + ε) / (up_slope + ε)) / (2 smallest),  since |e| >= smallest.
    """
    if up_slope >= down_slope:
        # Turn the axis: a step down is a step up with the roles exchanged.
        up_mass, down_mass = down_mass, up_mass
        up_slope, down_slope = down_slope, up_slope
        upper, lower = -lower, -upper
    if down_slope <= 0.0 or down_slope <= up_slope:
        return 0.0
    down_rate = down_slope / down_mass
    up_rate = up_slope / up_mass if up_slope > 0.0 else 0.0
    step = math.log(down_slope / up_slope) / (up_rate + down_rate) if up_slope > 0.0 else FARTHEST / smallest
    if smoothing > 0.0:
        if upper > 0.0:
            limit = math.log((down_slope + smoothing) / (up_slope + smoothing)) / (2.0 * smallest)
        else:
            limit = math.log((down_slope + smoothing) / smoothing) / smallest
        step = min(step, limit)
    gained = -down_mass * math.expm1(-down_rate * step)
    if up_slope > 0.0:
        gained -= up_mass * math.expm1(min(LARGEST, up_rate * step))
    return gained


@compiled
def optimistic_of_feature(exponents, coefficients, smallest, upper, lower, smoothing):
    """`optimistic_reduction` of one feature."""
    up_mass, up_slope, down_mass, down_slope = 0.0, 0.0, 0.0, 0.0
    for k in range(exponents.size):
        mass = max(0.0, coefficients[k])
        if exponents[k] > 0.0:
            up_mass += mass
            up_slope += exponents[k] * mass
        else:
            down_mass += mass
            down_slope -= exponents[k] * mass
    return optimistic_reduction(up_mass, up_slope, down_mass, down_slope, smallest, upper, lower, smoothing)
