"""Kernels as their definitions say, on dicts of attributes, one pair at a time."""

from __future__ import annotations

import math

import numpy as np

from labseq_core.features import EncodedSequences
from labseq_core.kernels import RBF, Kernel, Linear, Normalized, Polynomial, TokenMatch
from labseq_core.kernels.base import Scaled, Sum

Observation = dict[str, float]


def observations(encoded: EncodedSequences) -> list[Observation]:
    """Each position as name -> value; what stands twice counts twice."""
    found = []
    for t in range(encoded.n_positions):
        one: Observation = {}
        for k in range(encoded.indptr[t], encoded.indptr[t + 1]):
            name = encoded.vocabulary.names[encoded.indices[k]]
            one[name] = one.get(name, 0.0) + (float(encoded.values[k]) if encoded.values.size else 1.0)
        found.append({name: value for name, value in one.items() if value != 0.0})
    return found


def inner(x: Observation, z: Observation) -> float:
    return math.fsum(x[name] * z[name] for name in x if name in z)


def value(kernel: Kernel, x: Observation, z: Observation) -> float:
    """k(x, z)."""
    if isinstance(kernel, Linear):
        return inner(x, z)
    if isinstance(kernel, Polynomial):
        return (inner(x, z) + kernel.constant) ** kernel.degree
    if isinstance(kernel, RBF):
        names = x.keys() | z.keys()
        distance = math.fsum((x.get(name, 0.0) - z.get(name, 0.0)) ** 2 for name in names)
        return math.exp(-distance / (2 * kernel.width**2))
    if isinstance(kernel, TokenMatch):
        return float(sum(name in z for name in x if name.startswith(kernel.attribute + "=")))
    if isinstance(kernel, Sum):
        return sum(value(part, x, z) for part in kernel.parts)
    if isinstance(kernel, Scaled):
        return kernel.factor * value(kernel.part, x, z)
    assert isinstance(kernel, Normalized)
    length = math.sqrt(value(kernel.kernel, x, x) * value(kernel.kernel, z, z))
    return value(kernel.kernel, x, z) / length if length else 0.0


def gram(kernel: Kernel, left: list[Observation], right: list[Observation]) -> np.ndarray:
    """Every pair."""
    return np.array([[value(kernel, x, z) for z in right] for x in left]).reshape(len(left), len(right))
