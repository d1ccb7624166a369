"""Things from outside the tree, for the time of a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from labseq_core.kernels import BasicKernel, parameter
from labseq_core.registry import Registry, Source, loading

OWN = Source("own.py", "123abc")


@contextmanager
def added(registry: Registry, thing: object, source: Source = OWN) -> Iterator[str]:
    """A thing that a file adds, and takes away again; gives its name."""
    with loading(source):
        registry.add(thing)
    name = list(registry)[-1]
    try:
        yield name
    finally:
        del registry._things[name], registry._sources[name]


@dataclass(frozen=True)
class Laplace(BasicKernel):
    """k(x, z) = exp(-|x - z| / width)"""

    name, summary = "laplace", "by distance, with heavy tails"
    width: float = parameter(1.0, "The distance at which likeness has fallen to 0.37.", above=0.0)

    def formula(self, inner, left, right):
        np.exp(-np.sqrt(np.maximum(left + right - 2.0 * inner, 0.0)) / self.width, out=inner)
